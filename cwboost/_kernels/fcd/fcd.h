/* Fast coordinate descent on the restricted master: the passes over the examples.
 *
 * Notation. R is the signed weight matrix, one row per class, with examples sorted by class: for
 * y_i != c the entry is -mu_(i,c); for y_i == c (the "own" entries) it is the sum over y != c of
 * mu_(i,y). A column is one bit per example, set if the output is +1. Rows are padded to
 * whole bytes of bits (eight examples); the padding of R is zero, so it never enters a sum.
 *
 * All sums run over eight lanes in a fixed order, so they do not depend on the instruction set.
 * Each function names its cost in touched doubles, n the number of examples. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "common/elementary.h"

/* The restricted master. */
typedef struct {
    double *R, *scores; /* n_classes rows of `stride` doubles each */
    int64_t stride, n_classes;
    const int64_t *starts; /* examples of class c: [starts[c], starts[c + 1]) */
    const double *example_weight;
    const int32_t *label; /* class of each example, -1 after the last */
} cwb_master;

/* One column per class and the move of its coefficient: d, exp(d) and exp(-d). */
typedef struct {
    const uint8_t *const *columns;
    const double *d, *up, *down;
} cwb_layer;

/* A division of the examples into cells, and the move of the score of each class from `first` on in
 * each cell: moves[(c - first) * n_cells + cell]. */
typedef struct {
    const int32_t *cell; /* of each example */
    const double *moves;
    int64_t n_cells, first;
} cwb_cells;

#define CWB_TILE 64 /* bytes of bits per tile: 512 examples */

/* From this number of entries on, what a pass reads lies beyond the second-level cache: it is
 * fetched CWB_AHEAD entries ahead. */
#define CWB_LARGE (1 << 18)
#define CWB_AHEAD 256

/* Results of a pass over one tile of examples; the caller sums them over tiles in order. */
typedef struct {
    double loss;    /* sum of mu */
    double margins; /* sum of r F: the sum of mu gamma */
    double errors;  /* weight of examples with a pair of margin < 0, or = 0 against a lower class */
} cwb_tile_sums;

/* A run of coordinates of one class. */
typedef struct {
    double *r;                   /* row of R */
    double *factor;              /* product of the run's factors of the pairs of its examples */
    int64_t n_bytes, start, end; /* examples [start, end) are of the class */
} cwb_run;

#define CWB_BODY "fcd/fcd_body.h"
#include "common/for_each_target.h"
