/* The bodies of fcd.h. */
#include "fcd/choices_body.h"
#include "fcd/columns_body.h"
#include "fcd/coordinate_body.h"
#include "fcd/edges_body.h"
#include "fcd/layer_body.h"
#include "fcd/pair_weights_body.h"
#include "fcd/tile_body.h"

#include "fcd/cells_body.h"

static const cwb_fcd_kernels CWB_NAME(cwb_fcd_kernels) = {
    CWB_NAME(layer_table), CWB_NAME(tile),         CWB_NAME(move_cells),
    CWB_NAME(run_enter),   CWB_NAME(run_leave),    CWB_NAME(run_move),
    CWB_NAME(add_columns), CWB_NAME(pair_weights), CWB_NAME(edges)};
