"""A column changes once when it is new, and then whenever its coefficient differs."""

import numpy as np

from cwboost.ensemble.recorded_columns import RecordedColumns


def test_changes():
    columns, coef = RecordedColumns(3), np.zeros((3, 20))
    columns.assign(np.array([0, 2]), np.array([17, 1]), np.array([5, 6]), 20)
    found = columns.changes(coef)
    assert [part.tolist() for part in found[:4]] == [[17, 41], [5, 6], [0, 2], [0.0, 0.0]]
    assert np.isnan(found.before).all()
    columns.record(found)
    assert len(columns.changes(coef).ids) == 0
    coef[2, 1] = 0.5
    found = columns.changes(coef)
    assert [part.tolist() for part in found] == [[41], [6], [2], [0.5], [0.0]]
    columns.record_all(coef)
    assert len(columns.changes(coef).ids) == 0
