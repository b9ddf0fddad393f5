"""Scores that follow changed coefficients, from packed outputs."""

import numpy as np
import pytest

from cwboost._kernels.prediction import votes
from cwboost.ensemble.moving_scores import MovingScores
from cwboost.ensemble.recorded_columns import RecordedColumns
from cwboost.families.outputs import pack_outputs


def random_outputs(rng, n_samples, n_columns):
    return rng.choice([-1, 1], size=(n_samples, n_columns)).astype(np.int8)


@pytest.mark.parametrize("n_samples", [0, 1, 8, 9, 2048, 2049, 5000])
def test_votes_are_those_of_a_loop(n_samples):
    rng = np.random.default_rng(n_samples)
    outputs = random_outputs(rng, n_samples, 7)
    rows, targets = rng.integers(0, 7, 40), rng.integers(0, 3, 40)
    steps = rng.normal(size=40)
    scores = np.zeros((3, 8 * -(-n_samples // 8)))
    expected = np.zeros((3, n_samples))
    for row, target, step in zip(rows, targets, steps):
        expected[target] += step * outputs[:, row]
    votes.add_votes(pack_outputs(outputs), rows, targets, steps, scores)
    # The same sums in the same order: the same bits.
    np.testing.assert_array_equal(scores[:, :n_samples], expected)


@pytest.mark.parametrize("change", [{"rows": [0, 2]}, {"rows": [-1, 0]}, {"targets": [0, 3]}])
def test_indices_out_of_range_are_refused(change):
    good = {"rows": [0, 1], "targets": [0, 2], "steps": [1.0, 2.0]}
    good["scores"] = np.zeros((3, 8))
    packed = np.zeros((2, 1), np.uint8)
    votes.add_votes(packed, **good)
    with pytest.raises(ValueError, match="inside packed and scores"):
        votes.add_votes(packed, **(good | change))


class Given:
    """Learners of known outputs, the rows of X."""

    def __init__(self, outputs):
        self.is_graded = outputs.ndim == 3
        self.n_learners = outputs.shape[1]

    def __len__(self):
        return self.n_learners

    def outputs(self, X):
        return X


@pytest.mark.parametrize("some_are_graded", [False, True])
def test_learners_enter_and_leave(some_are_graded):
    """Compare with the plain product, while outputs are kept, dropped, and kept again."""
    rng = np.random.default_rng(0)
    outputs = random_outputs(rng, 77, 300)
    # Graded learners have outputs of their own for the last three scores.
    graded = rng.integers(-127, 128, size=(77, 300, 3), dtype=np.int8)
    is_graded = (np.arange(300) % 2 == 0) & some_are_graded
    full = np.repeat(outputs[:, :, None], 4, axis=2)
    full[:, is_graded, 1:] = graded[:, is_graded]
    moving, coef = MovingScores(77, 4), np.zeros((300, 4))
    offset = np.zeros(4)
    for _ in range(30):
        ids = rng.choice(300, size=rng.integers(0, 90), replace=False)
        new = ids[~moving.is_kept(ids)]
        for own, given in ((new[is_graded[new]], graded), (new[~is_graded[new]], outputs)):
            moving.keep(own, Given(given[:, own]), given[:, own])
        assert moving.is_kept(ids).all()
        targets, steps = rng.integers(1, 4, len(ids)), rng.normal(size=len(ids))
        moving.move(ids, targets, steps)
        coef[ids, targets] += steps
        shift = rng.normal(size=4)
        moving.shift(shift)
        offset += shift
        expected = np.einsum("ijk,jk->ik", full.astype(float), coef) + offset
        np.testing.assert_allclose(moving.scores, expected, atol=1e-11)
        gone = ids[rng.random(len(ids)) < 0.7]
        moving.drop(gone)
        assert not moving.is_kept(gone).any()


def test_a_column_changes_once_when_it_is_new_and_whenever_its_coefficient_differs():
    columns, coef = RecordedColumns(3), np.zeros((3, 20))
    columns.assign(np.array([0, 2]), np.array([17, 1]), np.array([5, 6]), 20)
    found = columns.changes(coef)
    assert [part.tolist() for part in found[:4]] == [[17, 41], [5, 6], [0, 2], [0.0, 0.0]]
    assert np.isnan(found.before).all()
    columns.record(found)
    assert len(columns.changes(coef).ids) == 0
    coef[2, 1] = 0.5
    found = columns.changes(coef)
    assert [part.tolist() for part in found[:5]] == [[41], [6], [2], [0.5], [0.0]]
    assert found.offset is None
    columns.record_all(coef)
    assert len(columns.changes(coef).ids) == 0
