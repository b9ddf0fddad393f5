/* All kernels of tree growth for one instruction set. */
#include "common/lanes.h"
#include "trees/outputs_body.h"
#include "trees/split_body.h"

static const cwb_tree_kernels CWB_NAME(cwb_tree_kernels) = {
    .node_sums = CWB_NAME(node_sums),
    .mass = CWB_NAME(mass),
    .outputs_by_codes = CWB_NAME(outputs_by_codes),
    .best_split = CWB_NAME(best_split),
};
