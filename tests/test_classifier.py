"""`CWBoostClassifier` as a scikit-learn estimator: labels, weights, early stopping, errors."""

import numpy as np
import pytest
import slow_master
from models import paper
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from cwboost import CWBoostClassifier
from cwboost.ensemble.path import PathBuilder


def explained(estimator):
    """Return the checks that cannot pass, each with the reason."""
    if estimator.weak_learner == "auto":
        check = "check_sample_weight_equivalence_on_{}_data"
        why = "some examples are drawn and others not, whatever their weights"
        return {check.format(kind): why for kind in ("dense", "sparse")}
    return {
        "check_class_weight_classifiers": (
            "expects a class of overwhelming weight to be predicted everywhere; a stump also "
            "says no where the training part has only examples of other classes"
        )
    }


@parametrize_with_checks([CWBoostClassifier(n_estimators=10)], expected_failed_checks=explained)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        paper(n_estimators=10),
        CWBoostClassifier(
            weak_learner="stump",
            n_estimators=10,
            correction="stagewise",
            C=1e4,
            subsample=1.0,
            learning_rate=0.5,
        ),
    ],
    expected_failed_checks=explained,
)
def test_sklearn_checks_of_variants(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"]),
        np.arange(11) * 1000 - 5000,
        np.linspace(-5, 5, 11),
        np.array([f"class {c}" for c in range(11)], dtype=object),
    ],
)
def test_labels_of_any_type(vowel, labels):
    X, y = vowel
    labels = np.sort(labels)
    plain = paper(n_estimators=10).fit(X, y)
    named = paper(n_estimators=10).fit(X, labels[y])
    assert named.predict(X).dtype == labels.dtype
    np.testing.assert_array_equal(named.classes_, labels)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])


def test_two_classes(vowel):
    X, y = vowel
    clf = paper(n_estimators=30).fit(X, y > 4)
    decision = clf.decision_function(X)
    assert decision.shape == (len(y),)
    np.testing.assert_array_equal(clf.predict(X), decision > 0)
    np.testing.assert_array_equal(clf.predict_proba(X)[:, 1] > 0.5, decision > 0)
    assert clf.score(X, y > 4) > 0.88


def test_staged_and_first_rounds_agree(vowel):
    X, y = vowel
    clf = paper(n_estimators=12).fit(X, y)
    stages = list(clf.staged_decision_function(X))
    assert len(stages) == 12
    for r in (1, 7, 12):
        np.testing.assert_allclose(
            stages[r - 1], clf.decision_function(X, n_estimators=r), rtol=1e-10, atol=1e-10
        )
    last = list(clf.staged_predict(X))[-1]
    np.testing.assert_array_equal(last, clf.predict(X))
    errors = [np.mean(stage != y) for stage in clf.staged_predict(X)]
    np.testing.assert_allclose(errors, clf.history_["train_error"])


def test_weights(vowel):
    """A common factor changes nothing; weight 2 repeats an example; weight 0 removes it."""
    X, y = vowel
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, size=len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    fits = [
        paper(n_estimators=15).fit(X, y, sample_weight=weight),
        paper(n_estimators=15).fit(X, y, sample_weight=4.0 * weight),
        paper(n_estimators=15).fit(X[rows], y[rows]),
    ]
    base = fits[0].history_["objective"]
    np.testing.assert_array_equal(fits[1].history_["objective"], base)
    # The permutation of the working set depends on the number of examples, with little effect.
    np.testing.assert_allclose(fits[2].history_["objective"], base, rtol=1e-6)


def test_class_weight(vowel):
    X, y = vowel
    few = np.flatnonzero((y != 3) | (np.arange(len(y)) % 9 == 0))
    balanced = paper(n_estimators=10, class_weight="balanced")
    by_hand = paper(n_estimators=10)
    counts = np.bincount(y[few])
    balanced.fit(X[few], y[few])
    by_hand.fit(X[few], y[few], sample_weight=len(few) / (11 * counts[y[few]]))
    np.testing.assert_allclose(
        balanced.history_["objective"], by_hand.history_["objective"], rtol=1e-9
    )


@pytest.mark.parametrize("correction", ["total", "stagewise"])
@pytest.mark.parametrize("n_rounds", [1, 4])
def test_an_interrupt_within_a_round_leaves_whole_rounds(vowel, correction, n_rounds, monkeypatch):
    """By the time of the interrupt, the round has added columns and changed the master."""
    X, y = vowel
    whole = CWBoostClassifier(
        weak_learner="stump",
        n_estimators=n_rounds,
        correction=correction,
        C=1e4,
        subsample=1.0,
        learning_rate=1.0,
        random_state=0,
    )
    whole.fit(X, y)
    clf = clone(whole).set_params(n_estimators=9, warm_start=True)
    append = PathBuilder.append

    def interrupted(self, *arguments):
        if self.n_rounds == n_rounds:
            raise KeyboardInterrupt
        append(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PathBuilder, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, y)
    assert clf.n_iter_ == n_rounds and clf.stop_reason_ == "interrupted"
    assert all(len(values) == n_rounds for values in clf.history_.values())
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))
    # The weights of the unfinished round do not match the coefficients that are kept.
    assert not hasattr(clf, "_state")
    clf.fit(X, y)
    coef, outputs = clf.ensemble_.coef().toarray(), clf.ensemble_.learners.outputs(X).T
    used = [coef[:, c] > 0 for c in range(11)]
    H, w = [outputs[u] for u in used], [coef[u, c] for c, u in enumerate(used)]
    reference = slow_master.objective(H, y, clf.C, w)
    assert clf.history_["objective"][-1] == pytest.approx(reference, rel=1e-9)


def test_dtypes_predict_alike(vowel):
    X, y = vowel
    scaled = np.clip((X - X.min(0)) / np.ptp(X, axis=0) * 255, 0, 255).astype(np.uint8)
    fits = [
        paper(n_estimators=20).fit(scaled.astype(dtype), y)
        for dtype in (np.uint8, np.float32, np.float64, np.int64)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(
            other.decision_function(scaled), fits[0].decision_function(scaled.astype(np.float32))
        )


def test_verbose_shows_a_bar(vowel, capsys):
    X, y = vowel
    paper(n_estimators=3, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "loss" in shown and "gap" in shown and "train_error" in shown
    paper(n_estimators=3).fit(X, y)
    assert capsys.readouterr().err == ""


X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"C": 0}, ValueError, "C must be > 0.0"),
        ({"C": np.inf}, ValueError, r"C must be > 0.0 and <= 1e\+150, got inf"),
        ({"C": 1.1e150}, ValueError, r"C must be > 0.0 and <= 1e\+150"),
        ({"C": "big"}, TypeError, "C must be a number"),
        ({"n_estimators": 0}, ValueError, "n_estimators must be >= 1"),
        ({"n_estimators": 2.5}, TypeError, "n_estimators must be an integer"),
        ({"correction": "partial"}, ValueError, "correction must be one of"),
        ({"solver": "mosek"}, ValueError, "solver must be one of"),
        (
            {"correction": "stagewise", "solver": "lbfgsb"},
            ValueError,
            "solver applies to .*'total'",
        ),
        ({"epsilon": -1}, ValueError, "epsilon"),
        ({"learning_rate": 1.5}, ValueError, "learning_rate must be > 0.0 and <= 1.0"),
        ({"learning_rate": 0.5}, ValueError, "learning_rate applies to"),
        ({"subsample": 0.0}, ValueError, "subsample"),
        ({"early_stopping": "auc"}, ValueError, "early_stopping must be a bool, one of"),
        ({"weak_learner": "neuron"}, ValueError, "unknown weak learner 'neuron'"),
        ({"weak_learner": 3}, TypeError, "weak_learner"),
    ],
)
def test_bad_parameters_are_named(params, error, message):
    with pytest.raises(error, match=message):
        CWBoostClassifier(**{"weak_learner": "stump", "correction": "total"} | params).fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": np.zeros(6)}, ValueError, "at least two classes"),
        ({"y": X[:, 0] / 3}, ValueError, r"^y must hold class labels\. Unknown label type: conti"),
        ({"y": Y[:5]}, ValueError, "inconsistent numbers of samples"),
        ({"X": X[:, 0]}, ValueError, "Expected 2D array"),
        ({"X": X[:0], "y": Y[:0]}, ValueError, "0 sample"),
        ({"X": np.full((6, 2), "a", dtype=object)}, ValueError, "column 1 hold text"),
        ({"sample_weight": -np.ones(6)}, ValueError, "Negative values"),
        ({"sample_weight": np.zeros(6)}, ValueError, "at least one non-zero|all weights are zero"),
        ({"sample_weight": (Y == 1) * 1.0}, ValueError, "at least two classes"),
        ({"X_val": X}, ValueError, "X_val and y_val"),
        ({"X_val": X, "y_val": Y[:3]}, ValueError, "X_val has 6 rows and y_val 3"),
        ({"X_val": X, "y_val": Y + 1}, ValueError, "y_val must hold only training labels, got .*3"),
    ],
)
def test_bad_data_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        paper(n_estimators=2).fit(**({"X": X, "y": Y} | arguments))
