"""What cannot be measured leads to few rounds and careful probabilities."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier
from cwboost.calibration.calibration import LeftOut
from cwboost.kernels import log_softmax


def over_shares(labels, n_new=2000, n_features=6, **params) -> float:
    """Return the log loss of fits to noise over that of the shares of the classes, in the mean."""
    ratios = []
    shares = np.bincount(labels) / len(labels)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, new = (rng.normal(size=(n, n_features)) for n in (len(labels), n_new))
        p = CWBoostClassifier(random_state=seed, **params).fit(X, labels).predict_proba(new)
        ratios.append((np.log(p) @ shares).mean() / (np.log(shares) @ shares))
    return float(np.mean(ratios))


@pytest.mark.parametrize(("n_classes", "rows"), [(50, 2), (20, 1), (3, 1), (8, 3)])
def test_classes_of_few_rows_have_the_log_loss_of_their_shares(n_classes, rows):
    assert over_shares(np.repeat(np.arange(n_classes), rows)) < 1.05


@pytest.mark.parametrize("rare", [1, 2])
@pytest.mark.parametrize("n", [30, 100, 400])
def test_a_class_of_one_or_two_rows_has_its_share(n, rare):
    labels = np.repeat([0, 1], [n - rare, rare])
    assert over_shares(labels) < 1.15
    # Three rows, a tenth of 30, tell nothing.
    assert n == 30 or over_shares(labels, early_stopping=True) < 1.15


@pytest.mark.parametrize("rare", [1, 2])
@pytest.mark.parametrize("params", [{"init": "kernel"}, {"init": "linear"}, {"n_estimators": 40}])
def test_scores_without_own_labels_are_such_beside_a_class_of_few_rows(params, rare):
    """Folds that every class is in would be one or two."""
    labels = np.repeat([0, 1, 2], [60, 60, rare])
    assert over_shares(labels, n_features=40, **params) < 1.15


@pytest.mark.parametrize("counts", [[90, 10], [60, 30, 10]])
def test_leaf_boosting_starts_from_the_shares_of_the_classes(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(100, 3))
    params = {"n_estimators": 1, "learning_rate": 1e-9, "probability_scale": 2.0, "init": None}
    for class_weight in (None, "balanced"):
        shares = np.array(counts if class_weight is None else [100 / len(counts)] * len(counts))
        model = CWBoostClassifier(class_weight=class_weight, **params).fit(X, y)
        np.testing.assert_allclose(
            model.predict_proba(X[:1])[0], (shares + 0.5) / (shares + 0.5).sum(), rtol=1e-6
        )


def test_few_rounds_if_no_row_can_be_left_out():
    X = np.random.default_rng(0).normal(size=(5, 3))
    model = CWBoostClassifier(random_state=0).fit(X, list("abcde"))
    assert model.n_iter_ <= 20 and "left out" in model.plan_.reasons["n_rounds"]
    assert (model.predict(X) == list("abcde")).all()


def test_drawn_rows_have_the_shares_of_all():
    y, masses = np.array([0, 0, 1, 3]), np.array([8.0, 8.0, 1.0, 3.0])
    drawn = LeftOut.in_shares(y, np.array([1.0, 3.0, 2.0, 5.0]), masses)
    totals = np.bincount(y, drawn.weight)
    np.testing.assert_allclose(totals / totals.sum(), np.array([8, 8, 0, 3]) / 19)
    np.testing.assert_allclose(drawn.unseen, [0, 0, 0.05, 0])


@pytest.mark.parametrize("counts", [(280, 281), (90, 100), (200, 300), (20, 500)])
def test_examples_that_stand_for_classes_are_no_more_than_there_are(counts):
    """Whatever numbers the shares of the classes have in common."""
    y = np.repeat([0, 1], counts)
    drawn = LeftOut.in_shares(y, np.ones(len(y)), np.array(counts[::-1], dtype=float))
    weight = np.array(counts[::-1])[y] / np.array(counts)[y]
    kish = weight.sum() ** 2 / (weight**2).sum()
    assert drawn.n_used == pytest.approx(kish) and drawn.n_used <= len(y)
    copies = LeftOut.in_shares(y, np.full(len(y), 3.0) - y, np.array([3.0, 2.0]) * counts)
    assert copies.n_used == pytest.approx(3 * counts[0] + 2 * counts[1])


def test_an_unseen_class_has_its_share_of_every_row():
    rng = np.random.default_rng(0)
    scores, y, unseen = rng.normal(size=(90, 3)), rng.integers(0, 2, 90), np.array([0, 0, 0.2])
    scale, loss = LeftOut(y, np.ones(90), unseen).scale_and_loss(scores)
    labels = 0.8 * np.eye(3)[y] + unseen
    np.testing.assert_allclose(loss, -(labels * log_softmax(scale * scores)).sum(1).mean())
    # The larger the share of the class that nobody has seen, the less certain is the model.
    clear = 3 * np.eye(3)[y] - scores / 10
    sets = [LeftOut(y, np.ones(90), share * np.eye(3)[2]) for share in (0, 0.01, 0.1)]
    scales = [one.scale_and_loss(clear)[0] for one in sets]
    assert scales[0] > scales[1] > scales[2]


@pytest.mark.parametrize("params", [{}, {"early_stopping": True}], ids=["drawn", "early stopping"])
def test_every_group_of_small_data_is_measured_and_counts_once(params):
    """Labels that are fixed by 10 groups say little of the next group."""
    losses = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        groups, new = np.repeat(np.arange(10), 40), np.repeat(np.arange(60), 10)
        centres, label = rng.normal(size=(70, 4)), rng.permutation(np.arange(70) % 2)
        X = centres[groups] + 0.3 * rng.normal(size=(400, 4))
        X_new = centres[10 + new] + 0.3 * rng.normal(size=(600, 4))
        model = CWBoostClassifier(random_state=seed, **params).fit(X, label[groups], groups=groups)
        p = model.predict_proba(X_new)
        losses.append(-np.log(p[np.arange(600), label[10 + new]]).mean())
    assert np.mean(losses) < 1.25 * np.log(2)
