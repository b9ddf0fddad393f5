/* The tables of kernels, one per instruction set. */
#pragma once

#include "stumps/kernels.h"

#define CWB_BODY "stumps/kernels_body.h"
#include "common/for_each_target.h"

static const cwb_stump_kernels *const cwb_stump_tables[] = CWB_TABLES(cwb_stump_kernels);
