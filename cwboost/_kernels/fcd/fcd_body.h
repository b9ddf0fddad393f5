/* The bodies of fcd.h. */
#include "fcd/choices_body.h"
#include "fcd/columns_body.h"
#include "fcd/coordinate_body.h"
#include "fcd/edges_body.h"
#include "fcd/layer_body.h"
#include "fcd/pair_weights_body.h"
#include "fcd/tile_body.h"

#include "fcd/cells_body.h"
