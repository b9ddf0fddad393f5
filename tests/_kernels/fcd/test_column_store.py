"""Columns that pay are stored and laid out as by the steps in NumPy, one after the other."""

import numpy as np
import pytest
from cwboost._kernels.fcd.column_store import ColumnStore


def add_paying(store, edges, bound, classes, outputs):
    paying = np.flatnonzero(edges > bound)
    rows, is_new = store.add(classes[paying], outputs[paying])
    new = paying[is_new]
    layer = np.full(store.n_classes, -1)
    layer[classes[paying]] = rows
    return layer, new, classes[new], rows[is_new]


@pytest.mark.parametrize("shared", [False, True])
def test_add_paying(shared):
    rng = np.random.default_rng(0)
    store, reference = ColumnStore(6, 9, shared), ColumnStore(6, 9, shared)
    for bound in (0.1, 0.5, 0.9, 2.0):
        for _ in range(20):
            classes = np.flatnonzero(rng.random(6) < 0.8)
            outputs = rng.integers(0, 2, (len(classes), 9)).astype(np.uint8) * 7
            outputs[:, 2:8] = 0
            edges = rng.random(len(classes))
            expected = add_paying(reference, edges, bound, classes, outputs)
            found = store.add_paying(edges, bound, classes, outputs)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    for c in range(6):
        np.testing.assert_array_equal(store.bits(c), reference.bits(c))


def test_any_layout_of_classes_and_none_but_whole_rows_of_outputs():
    store, outputs = ColumnStore(3, 2), np.arange(4, dtype=np.uint8).reshape(2, 2)
    layer, new, classes, rows = store.add_paying(
        np.ones(4)[::2], 0.5, np.array([0, 9, 2, 9])[::2], outputs
    )
    np.testing.assert_array_equal(layer, [0, -1, 0])
    assert new.tolist() == [0, 1] and classes.tolist() == [0, 2] and rows.tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"uint8 of shape \(2, 2\)"):
        store.add_paying(np.ones(2), 0.5, np.array([0, 1]), outputs.T)
    with pytest.raises(IndexError, match="no class 3"):
        store.add_paying(np.ones(2), 0.5, np.array([0, 3]), outputs)
