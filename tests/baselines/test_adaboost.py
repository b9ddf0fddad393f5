"""AdaBoost.MH, .MO and .ECC, compared with slow implementations round by round."""

import itertools

import numpy as np
import pytest
import slow_boosting

from cwboost import AdaBoostECCClassifier, AdaBoostMHClassifier, AdaBoostMOClassifier, to_onnx
from cwboost.baselines import codes

ROUNDS = 15


@pytest.fixture(scope="module")
def table(vowel):
    return slow_boosting.stump_table(vowel[0])


@pytest.fixture(scope="module")
def weight(vowel):
    weight = np.random.default_rng(5).uniform(0.2, 3.0, size=len(vowel[1]))
    return weight


def assert_rounds(model, slow, names, staged=None):
    """Compare a history, its edges with the best ones, and staged scores; return the last scores.

    A slow round is its edge, the best edge, the values of `names` and the scores.
    """
    for r, (edge, best, *values, scores) in enumerate(slow):
        assert edge == pytest.approx(best, rel=1e-10)
        for name, value in zip(("edge", *names), (edge, *values)):
            assert model.history_[name][r] == pytest.approx(value, rel=1e-10), name
        if staged is not None:
            np.testing.assert_allclose(staged[r], scores, atol=1e-10)
    assert r == ROUNDS - 1
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_mh_round_by_round(vowel, table, weight, weighted):
    X, y = vowel
    weight = weight if weighted else None
    model = AdaBoostMHClassifier("stump", ROUNDS).fit(X, y, weight)
    slow = slow_boosting.label_rounds(X, y, 2 * np.eye(11) - 1, model, table, True, weight)
    staged = list(model.staged_decision_function(X))
    F = assert_rounds(model, slow, ["coefficient"], staged)
    for r, error in enumerate(model.history_["train_error"]):
        wrong = staged[r].argmax(axis=1) != y
        assert error == pytest.approx(np.average(wrong, weights=weight))
    bound = np.cumprod(np.sqrt(1 - model.history_["edge"] ** 2))
    np.testing.assert_allclose(model.history_["objective"], bound, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-10)


def test_real_mh_round_by_round(vowel, table, weight):
    X, y = vowel
    model = AdaBoostMHClassifier("stump", ROUNDS, variant="real").fit(X, y, weight)
    signs = 2 * np.eye(11) - 1
    slow = slow_boosting.label_rounds(X, y, signs, model, table, True, weight, real=True)
    F = assert_rounds(model, slow, [], list(model.staged_decision_function(X)))
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-10)
    loss = weight @ np.exp(-signs[y] * F) / weight.sum()
    assert model.history_["objective"][-1] == pytest.approx(loss.mean(), 1e-9)
    discrete = AdaBoostMHClassifier("stump", ROUNDS).fit(X, y, weight)
    assert model.history_["objective"][-1] < discrete.history_["objective"][-1]
    with pytest.raises(ValueError, match=r"variant must be one of .*, got 'gentle'"):
        model.set_params(variant="gentle").fit(X, y)


def test_classes_of_equal_code_distance_tie_in_every_order_of_sums():
    onnxruntime = pytest.importorskip("onnxruntime")
    n_tied = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(25, 3)).round(1), rng.integers(0, 3, 25)
        model = AdaBoostMOClassifier(n_estimators=1 + seed % 6, random_state=seed).fit(X, y)
        rows = np.vstack([X, rng.normal(size=(300, 3)).round(1)])
        best = np.sort(model.decision_function(rows), axis=1)
        n_tied += int((best[:, -1] == best[:, -2]).sum())
        (*_, last) = model.staged_predict(rows)
        np.testing.assert_array_equal(last, model.predict(rows))
        session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
        labels = session.run(["label"], {"X": rows})[0]
        np.testing.assert_array_equal(labels, model.predict(rows))
    assert n_tied > 500


def test_mo_round_by_round(vowel, table):
    X, y = vowel
    model = AdaBoostMOClassifier("stump", ROUNDS, code_size=9, random_state=1).fit(X, y)
    assert model.code_.shape == (11, 9) and len(np.unique(model.code_, axis=0)) == 11
    slow = list(slow_boosting.label_rounds(X, y, model.code_, model, table, False))
    F = assert_rounds(model, slow, [])
    for r, by_loss in enumerate(model.staged_predict(X)):
        loss = np.array([np.exp(-slow[r][-1] * word).sum(axis=1) for word in model.code_]).T
        # The two decodings may differ if two classes are equal up to rounding.
        ranked = np.sort(loss, axis=1)
        clear = ranked[:, 1] - ranked[:, 0] > 1e-6 * ranked[:, 0]
        np.testing.assert_array_equal(by_loss[clear], loss.argmin(axis=1)[clear])
        assert model.history_["train_error"][r] == pytest.approx(np.mean(by_loss != y))
    np.testing.assert_allclose(model.ensemble_.scores(X), F, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), -np.log(loss / 9), rtol=0, atol=2.0**-24)


@pytest.mark.parametrize("weighted", [False, True])
def test_ecc_round_by_round(vowel, table, weight, weighted):
    X, y = vowel
    weight = weight if weighted else np.ones(len(y))
    model = AdaBoostECCClassifier("stump", ROUNDS, smoothing=1e-4, random_state=3)
    model.fit(X, y, weight)
    assert len(np.unique(np.sign(model.ensemble_.coef().toarray()), axis=0)) > 10
    slow = slow_boosting.ecc_rounds(X, y, model, table, 1e-4, weight)
    staged = list(model.staged_decision_function(X))
    F = assert_rounds(model, slow, ["alpha", "beta", "code_mass"], staged)
    np.testing.assert_allclose(model.decision_function(X), F, atol=1e-10)
    loss = np.exp(0.5 * (F - F[np.arange(len(y)), y][:, None]))
    objective = (weight @ loss).sum() - weight.sum()  # without the pairs of equal classes
    assert model.history_["objective"][-1] == pytest.approx(objective / (10 * weight.sum()), 1e-9)


OF_BITS = [AdaBoostMOClassifier(code=code) for code in ("exhaustive", "random")]


@pytest.mark.parametrize("model", [AdaBoostMHClassifier(), AdaBoostECCClassifier(), *OF_BITS])
def test_a_perfect_learner_ends_training(model):
    X = np.arange(12.0)[:, None]
    y = np.repeat(["a", "b"], 6)
    model.fit(X, y)
    assert model.stop_reason_ == "perfect weak learner" and model.n_iter_ == 1
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.decision_function(X)).all()


def test_a_perfect_learner_ends_ecc_for_two_classes_only():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1, 2], 4)
    three = AdaBoostECCClassifier(n_estimators=25, random_state=0).fit(X, y)
    assert three.stop_reason_ == "n_estimators" and three.score(X, y) == 1.0


@pytest.mark.parametrize(
    "model", [AdaBoostMHClassifier(), AdaBoostECCClassifier(), AdaBoostMOClassifier()]
)
def test_without_an_edge_there_are_no_rounds(model):
    X, y = np.ones((8, 2)), np.repeat([3, 7], 4)
    model.fit(X, y)
    assert model.stop_reason_ == "no column" and model.n_iter_ == 0
    assert (model.predict(X) == 3).all()
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    (only,) = model.staged_predict(X)
    np.testing.assert_array_equal(only, model.predict(X))


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostMHClassifier("tree", 400),
        AdaBoostECCClassifier("tree", 400, random_state=0),
        AdaBoostMOClassifier("tree", 150, code_size=8, random_state=0),
    ],
)
def test_weights_neither_underflow_nor_overflow(vowel, model):
    X, y = vowel[0][::3], vowel[1][::3]
    model.set_params(random_state=0).fit(X, y)
    assert model.history_["train_error"][-1] == 0
    for name in ("objective", "edge"):
        assert np.isfinite(model.history_[name]).all()
    assert model.history_["edge"][-20:].min() > 0
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.predict_proba(X)).all()


def splits(code):
    """Return the columns as splits: the set of classes with the sign of class 0."""
    return {frozenset(np.flatnonzero(column == column[0])) for column in code.T}


@pytest.mark.parametrize("n_classes", [2, 3, 5, 11])
def test_exhaustive_has_every_split_once(n_classes):
    code = codes.exhaustive(n_classes)
    assert code.shape == (n_classes, 2 ** (n_classes - 1) - 1) and code.dtype == np.int8
    assert set(np.unique(code)) == {-1, 1}
    found = splits(code)
    assert len(found) == code.shape[1] and frozenset(range(n_classes)) not in found
    # Any two classes differ in just over half of the bits.
    for a, b in itertools.combinations(range(n_classes), 2):
        assert (code[a] != code[b]).sum() == 2 ** (n_classes - 2)


@pytest.mark.parametrize(
    ("n_classes", "n_bits"), [(2, 1), (3, 3), (5, 15), (10, 34), (20, 44), (43, 55)]
)
def test_random_dense_has_distinct_splits_and_words(rng, n_classes, n_bits):
    code = codes.code_matrix("random", n_classes, None, rng)
    assert code.shape == (n_classes, n_bits) and set(np.unique(code)) == {-1, 1}
    assert len(splits(code)) == n_bits
    assert (np.abs(code.sum(axis=0)) < n_classes).all()
    distance = [(a != b).sum() for a, b in itertools.combinations(code, 2)]
    assert min(distance) >= 1
    if n_classes >= 10:
        assert min(distance) > 0.2 * n_bits


def test_refusals(rng):
    with pytest.raises(ValueError, match="at most 11 classes"):
        codes.code_matrix("exhaustive", 12, None, rng)
    with pytest.raises(ValueError, match="at most 7, the splits of 4 classes"):
        codes.code_matrix("random", 4, 8, rng)
