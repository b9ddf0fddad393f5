"""Families that fail on some training matrices, or lack a declared capability."""

from __future__ import annotations

import numpy as np
from broken import (
    SPARSE,
    breaks,
    changed_outputs,
    changed_weights,
    changed_X,
    make_family,
)
from reference_family import ReferencePricer


@breaks(check_read_only_input="read-only")
def writes_into_X():
    def touch(X):
        X[0, 0] = X[0, 0]
        return X

    return changed_X(touch)


@breaks(check_fortran_ordered_input="disagree on")
def reads_memory_in_its_own_order():
    return changed_X(lambda X: X.ravel(order="K").reshape(X.shape))


@breaks(check_strided_input=r"X with strides: price.. and outputs.X. disagree on")
def assumes_c_order():
    def contiguous_view(X):
        strides = (X.shape[1] * X.itemsize, X.itemsize)
        return X if X.flags.f_contiguous else np.lib.stride_tricks.as_strided(X, strides=strides)

    return changed_X(contiguous_view)


@breaks(check_float32_input="float32 X of real numbers: edges")
def rounds_float32_away():
    def coarse(X):
        return np.round(X, 1) if X.dtype == np.float32 else X

    return changed_X(coarse)


@breaks(check_uint8_input=r"uint8 X: price.. and outputs.X. disagree on")
def overflows_uint8():
    class Doubling(ReferencePricer):
        def __init__(self, X):
            super().__init__(X + X if X.dtype == np.uint8 else X)

    return make_family(Doubling)


@breaks(check_weights_layout="padded weights: the learners differ")
def ignores_padding_of_weights():
    def packed(weights, pricer):
        strides = (weights.shape[1] * weights.itemsize, weights.itemsize)
        return np.lib.stride_tricks.as_strided(weights, strides=strides)

    return changed_weights(packed)


@breaks(check_one_feature="out of bounds for axis 1 with size 1")
def needs_two_features():
    def second(X):
        X[:, 1]
        return X

    return changed_X(second)


@breaks(check_constant_features="no cut")
def needs_a_cut():
    class Needing(ReferencePricer):
        def __init__(self, X):
            super().__init__(X)
            self.smallest = min(
                len(cuts) for _, cuts, _, _ in self.columns[:-1] or [(0, [0], 0, 0)]
            )
            if len(X) > 2 and self.smallest == 0:
                raise ZeroDivisionError("no cut")

    return make_family(Needing)


@breaks(check_one_example="X must have two examples")
def needs_two_examples():
    class Needing(ReferencePricer):
        def __init__(self, X):
            super().__init__(X)
            if len(X) < 2:
                raise ValueError("X must have two examples")

    return make_family(Needing)


@breaks(check_equal_examples="equal examples got different outputs")
def outputs_depend_on_the_place():
    def change(X, outputs):
        outputs[len(outputs) // 2 + 1 :: 2] = 1
        return outputs

    return changed_outputs(change)


@breaks(check_new_examples=r"features of -1e.30: outputs")
def outside_the_training_data_is_zero():
    def change(X, outputs):
        outputs[np.abs(X).max(axis=1) > 1e9] = 0
        return outputs

    return changed_outputs(change)


@breaks(check_missing_values=r"X with NaN: price.. and outputs.X. disagree on")
def missing_values_are_zero_in_training_only():
    return changed_X(np.nan_to_num)


@breaks(check_missing_values="X contains NaN")
def missing_values_are_refused():
    def refuse(X):
        if np.isnan(X).any():
            raise ValueError("X contains NaN")
        return X

    return changed_X(refuse)


@breaks(check_sparse_input="csc")
def column_order_is_refused():
    class RowsOnly(ReferencePricer):
        def __init__(self, X):
            if getattr(X, "format", "csr") != "csr":
                raise TypeError(X.format)
            super().__init__(X)

    return make_family(RowsOnly, capabilities=SPARSE)


class Densifying(ReferencePricer):
    """Makes X dense, then looks at a few features only."""

    def __init__(self, X):
        X = X.toarray() if hasattr(X, "toarray") else X
        super().__init__(np.ascontiguousarray(X[:, :8]))


@breaks(check_sparse_memory="720 MB were allocated")
def sparse_input_is_made_dense():
    return make_family(Densifying, capabilities=SPARSE)


class Brief(ReferencePricer):
    """Pricer in pure Python, since NumPy releases the interpreter's lock for large copies."""

    releases_gil = True

    def price(self, weights, request=None):
        return sum(weights[0, :10].tolist())


@breaks(check_releases_gil="no other thread ran")
def the_lock_is_held():
    return make_family(Brief)
