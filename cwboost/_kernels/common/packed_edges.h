/* The edge of a learner from its packed outputs, with what a check of it needs. */
#pragma once

#include <stdint.h>

typedef struct {
    double edge;      /* sum of r_i h(i) */
    double total;     /* sum of r_i */
    double magnitude; /* sum of |r_i|, which bounds the rounding of the others */
} cwb_packed_edge;

typedef struct {
    void (*edge)(const double *r, const uint8_t *bits, int64_t n, cwb_packed_edge *found);
} cwb_packed_edge_kernels;

#define CWB_BODY "common/packed_edges_body.h"
#include "common/for_each_target.h"

static const cwb_packed_edge_kernels *const cwb_packed_edge_tables[] =
    CWB_TABLES(cwb_packed_edge_kernels);
