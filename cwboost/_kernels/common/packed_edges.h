/* The edge of a learner from its packed outputs, with what a check of it needs. */
#pragma once

#include <stdint.h>

typedef struct {
    double edge;      /* sum of r_i h(i) */
    double total;     /* sum of r_i */
    double magnitude; /* sum of |r_i|, which bounds the rounding of the others */
} cwb_packed_edge;

#define CWB_BODY "common/packed_edges_body.h"
#include "common/for_each_target.h"
