/* Fast coordinate descent on the restricted master: the passes over the examples.
 *
 * Notation. R is the signed weight matrix, a row a class, with examples sorted by class: for
 * y_i != c the entry is -mu_(i,c); for y_i == c (the "own" entries) it is the sum over y != c of
 * mu_(i,y). A column is one bit an example, set where the learner says +1. Rows are padded to
 * whole bytes of bits (eight examples); the padding of R is zero, so it never enters a sum.
 *
 * All sums run over eight lanes in a fixed order, so they do not depend on the vector width that
 * the processor has. Each function names its cost in touched doubles, n the number of examples.
 */
#ifndef CWBOOST_FCD_H
#define CWBOOST_FCD_H

#include "fcd/coordinate.h"
#include "fcd/edges.h"
#include "fcd/exp.h"
#include "fcd/layer.h"
#include "fcd/tile.h"

#endif
