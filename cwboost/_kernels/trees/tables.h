/* The tables of kernels, one per instruction set. */
#pragma once

#include "trees/kernels.h"
#include "trees/split.h"

#define CWB_BODY "trees/kernels_body.h"
#include "common/for_each_target.h"

static const cwb_tree_kernels *const cwb_tree_tables[] = CWB_TABLES(cwb_tree_kernels);
