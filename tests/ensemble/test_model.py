"""The coefficient path and the ensemble, with a family small enough to read."""

import numpy as np
import pytest
from reference_family import ReferenceLearners

from cwboost.ensemble.model import Ensemble
from cwboost.ensemble.path import PathBuilder
from cwboost.families.contract import WeakLearners


class Signs(ReferenceLearners):
    """h(x) = sign of one feature, scored by the default of all learners."""

    scorer, flat_form = WeakLearners.scorer, WeakLearners.flat_form

    def __init__(self, feature, threshold=None, polarity=None, missing=None):
        n = len(feature)
        super().__init__(feature, np.zeros(n), np.ones(n), np.ones(n))


def random_path(rng, n_rounds=12, n_scores=4, changes=20, added=3):
    """Build a path and, independently, the dense coefficients after every round."""
    builder, coef, stages = PathBuilder(), {}, []
    for r in range(1, n_rounds + 1):
        known = added * r
        keys = rng.choice(known * n_scores, size=min(changes, known), replace=False)
        columns, targets = np.divmod(keys, n_scores)
        values = rng.normal(size=len(keys)) * (rng.random(len(keys)) > 0.2)
        builder.append(columns, targets, values, known)
        coef.update(zip(zip(columns.tolist(), targets.tolist()), values))
        dense = np.zeros((known, n_scores))
        for (column, target), value in coef.items():
            dense[column, target] = value
        stages.append(dense)
    return builder.path(), stages


@pytest.fixture(params=["plain", "offsets"])
def model(rng, request):
    """An ensemble, and its coefficients and offsets after every round."""
    path, stages = random_path(rng)
    learners = Signs(rng.integers(0, 6, size=path.n_learners))
    offsets = None
    if request.param == "offsets":  # what rounds add to the scores of every example
        offsets = np.vstack([np.zeros(4), rng.normal(size=(12, 4)).cumsum(axis=0)])
    ensemble = Ensemble(learners, path, 4, rng.random(len(learners)), offsets)
    return ensemble, list(zip(stages, np.zeros((12, 4)) if offsets is None else offsets[1:]))


def test_scores_and_staged_scores(model, rng):
    ensemble, stages = model
    X = rng.normal(size=(133, 6))
    outputs = ensemble.learners.outputs(X)
    staged = list(ensemble.staged_scores(X))
    assert len(staged) == 12
    for r, (dense, offset) in enumerate(stages, start=1):
        expected = outputs[:, : len(dense)] @ dense + offset
        np.testing.assert_allclose(ensemble.scores(X, r), expected, atol=1e-12)
        np.testing.assert_allclose(staged[r - 1], expected, atol=1e-12)
    np.testing.assert_array_equal(ensemble.scores(X), ensemble.scores(X, 12))
    assert not ensemble.scores(X, 0).any()


def test_staged_arrays_are_independent(model, rng):
    stages = []
    for scores in model[0].staged_scores(rng.normal(size=(9, 6))):
        stages.append(scores.copy())
        scores[:] = np.nan
    assert np.isfinite(stages).all()


@pytest.mark.parametrize("n_rows", [0, 100])
def test_chunks_of_staged_scores(model, rng, monkeypatch, n_rows):
    ensemble, _ = model
    X = rng.normal(size=(n_rows, 6))
    expected = list(ensemble.staged_scores(X))
    assert [s.shape for s in expected] == [(n_rows, 4)] * 12
    monkeypatch.setattr("cwboost.ensemble.moving_scores.CELLS_A_CHUNK", 50)
    for ours, theirs in zip(ensemble.staged_scores(X), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_truncate(model, rng):
    ensemble, _ = model
    X = rng.normal(size=(20, 6))
    short = ensemble.truncate(5)
    assert short.n_rounds == 5 and len(short.learners) == 15 and len(short.edges) == 15
    assert ensemble.offsets is None or short.offsets.shape == (6, 4)
    np.testing.assert_array_equal(short.scores(X), ensemble.scores(X, 5))


def test_a_path_that_was_handed_out_does_not_change():
    builder = PathBuilder()
    builder.append([0], [0], [1.0], 1)
    path = builder.path()
    value = path.value.copy()
    builder.append(np.array([0, 1])[::-1], [0, 1], np.array([2.0, 9.0, 3.0])[::2], 2)
    np.testing.assert_array_equal(path.value, value)
    np.testing.assert_array_equal(builder.path().value, [1.0, 3.0, 2.0])


@pytest.mark.parametrize("n_rounds, error", [(13, ValueError), (-1, ValueError), (1.0, TypeError)])
def test_bad_n_rounds(model, n_rounds, error):
    with pytest.raises(error, match="n_rounds"):
        model[0].scores(np.zeros((1, 6)), n_rounds)


def put(index, value):
    def change(array):
        array[index] = value
        return array

    return change


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("round_offsets", put(0, 1), "round_offsets must start"),
        ("round_offsets", put(-1, 2**62), "round_offsets must start at 0 and end"),
        ("round_offsets", put(3, 2**62), "round_offsets must not decrease"),
        ("round_offsets", put(3, -(2**63)), "round_offsets must not decrease"),
        ("round_offsets", lambda a: a[:0], "'learners_offsets' must have shape"),
        ("learners_offsets", lambda a: np.delete(a, 3), "'learners_offsets' must have shape"),
        ("learners_offsets", put(-1, 35), "learners_offsets must start at 0 and end at 36"),
        ("column", put(0, 35), "column names a learner"),
        ("column", put(0, -1), "column names a learner"),
        ("column", lambda a: a.astype(np.int64), "'column' must have dtype int32"),
        ("score_index", put(5, 4), "score_index must lie"),
        ("score_index", put(5, -1), "score_index must lie"),
        ("score_index", lambda a: a[:-1], "'score_index' must have shape"),
        ("value", put(2, np.nan), "value must be finite"),
        ("value", lambda a: a.reshape(1, -1), "'value' must have 1 dimensions"),
        ("edges", put(2, np.inf), "edges must be finite"),
        ("edges", lambda a: a[:-1], "edges must have shape"),
        ("offsets", lambda a: a[:-1], "offsets must"),
        ("offsets", lambda a: a[:, :3], "offsets must"),
        ("offsets", put(0, np.inf), "offsets must"),
        ("offsets", lambda a: a.astype(np.float32), "offsets must"),
    ],
)
@pytest.mark.parametrize("model", ["offsets"], indirect=True)
def test_damaged_arrays_are_refused(model, name, change, message):
    arrays = dict(model[0].arrays())
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(ValueError, match=message):
        Ensemble.from_arrays(arrays, Signs, 6, 4)


def test_entries_out_of_order_and_missing_arrays_are_refused(model):
    arrays = dict(model[0].arrays())
    arrays["column"] = arrays["column"].copy()
    last = slice(arrays["round_offsets"][-2], None)
    arrays["column"][last] = arrays["column"][last][::-1]
    with pytest.raises(ValueError, match="sorted and distinct"):
        Ensemble.from_arrays(arrays, Signs, 6, 4)
    del arrays["value"]
    with pytest.raises(ValueError, match="arrays must be"):
        Ensemble.from_arrays(arrays, Signs, 6, 4)


def test_learners_and_path_must_agree(model):
    with pytest.raises(ValueError, match="learners must be the 36 of the path, got 1"):
        Ensemble(Signs([0]), model[0].path, 4)
