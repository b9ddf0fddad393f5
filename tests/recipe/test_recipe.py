"""The recipe: a kernel model, as many rounds as a holdout run finds, all examples."""

import tracemalloc
import weakref
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

from cwboost import CWBoostClassifier, TreeFamily
from cwboost.calibration.calibration import LeftOut
from cwboost.calibration.metrics import LOGLOSS
from cwboost.conformity import Conformity
from cwboost.recipe import constants, recipe
from cwboost.support.clock import Clock


def same(first, second, X):
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))


def default(**params):
    return CWBoostClassifier(random_state=0, **params)


FAMILIES = {"auto": TreeFamily(max_features=8), "stump": "stump", "projection": "projection"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_default_is_what_it_stands_for_with_every_family(halves, family):
    X, y, X_test, _ = halves
    clf = default(weak_learner=family).fit(X, y)
    assert clf.plan_.curve is not None and "holdout" in clf.plan_.reasons["init"]
    explicit = default(
        weak_learner=FAMILIES[family],
        init=clf.plan_.init,
        n_estimators=clf.n_iter_,
        correction="stagewise",
        learning_rate=clf.learning_rate_,
        probability_scale=clf.probability_scale_,
    )
    same(clf, explicit.fit(X, y), X_test)


def test_sizes_of_trees_follow_the_rows_of_the_training_not_of_the_holdout_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 4))
    y = (X[:, 0] + rng.normal(size=2600) > 0) + 2 * (X[:, 1] > 0.5)
    clf = default(init=None, n_estimators=25).fit(X, y)
    assert clf.plan_.curve is not None
    given = {"n_estimators": 25, "probability_scale": clf.probability_scale_}
    same(clf, default(init=None, **given).fit(X, y), X)


def test_the_default_errs_little(halves):
    X, y, X_test, y_test = halves
    assert default().fit(X, y).score(X_test, y_test) > 0.96


def test_rounds_are_few_where_boosting_fits_noise_and_many_where_it_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    noise = rng.integers(0, 3, 600)
    boxes = (np.sign(X[:, 0]) * np.sign(X[:, 1]) > 0) + (np.abs(X[:, 2]) > 0.8)
    few = default(init=None, learning_rate=0.5).fit(X, noise).n_iter_
    many = default(init=None, learning_rate=0.5).fit(X, boxes).n_iter_
    assert few < many <= constants.MOST_LENGTH / 0.5


@pytest.mark.parametrize("n_features", [2, 8])
def test_classes_by_interaction_alone_are_learned(n_features):
    """Chessboards: no feature tells anything alone, so that the loss falls late."""
    X = np.random.default_rng(0).random((4000, n_features))
    y = (X[:, :2] * 6).astype(int).sum(axis=1) % 2
    clf = default().fit(X[:2000], y[:2000])
    assert clf.score(X[2000:], y[2000:]) > 0.75


def test_where_few_rounds_suffice_there_are_more_of_smaller_steps():
    X, y = np.random.default_rng(0).normal(size=(600, 5)), np.arange(600) % 3
    few, many = (default(init=None, learning_rate=rate).fit(X, y) for rate in (0.1, None))
    wanted = min(constants.ENOUGH_ROUNDS, constants.MOST_TIMES * few.n_iter_)
    assert few.n_iter_ < many.n_iter_ == wanted
    lengths = [clf.ensemble_.coef().sum() for clf in (few, many)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.3)


def fake_run(scores, y, goes_on=True):
    """A holdout run whose scores are a function of the number of its rounds."""
    run = SimpleNamespace(
        n_rounds=0,
        left_out=LeftOut(y, np.ones(len(y))),
        scores_after=scores,
        trainings=[None],
    )

    def one_more():
        run.n_rounds += 1
        return goes_on

    run.round, run.scores = one_more, lambda: scores(run.n_rounds)
    return run


def test_a_run_goes_on_while_rounds_lower_the_loss_by_a_hundredth():
    y, noise = np.arange(600) % 3, np.random.default_rng(0).normal(size=(600, 3))

    def rounds_of_run(falling):
        """Return how many rounds a run does if that many of them have less and less noise."""
        run = fake_run(lambda n: np.eye(3)[y] + noise * 0.95 ** min(n, falling), y)
        curve = recipe.follow(run, most=1000, rate=1.0, patience=18, clock=Clock(0.0))
        np.testing.assert_array_equal(curve.length, np.arange(1, run.n_rounds + 1))
        assert curve.kept_loss <= 1.02 * curve.loss.min()
        return run.n_rounds

    assert [rounds_of_run(n) for n in (1, 30)] == [1 + 18, 30 + 18]


def test_a_run_ends_when_its_examples_can_tell_no_smaller_loss():
    y = np.arange(60) % 3
    run = fake_run(lambda n: n * np.eye(3)[y], y)
    curve = recipe.follow(run, most=1000, rate=1.0, patience=18, clock=Clock(0.0))
    assert curve.loss[-1] < 0.5 / 60 <= curve.loss[-2]


def test_the_point_close_to_the_lowest_loss_is_kept_where_the_loss_rises_again():
    y, noise = np.arange(600) % 3, np.random.default_rng(0).normal(size=(600, 3))
    run = fake_run(lambda n: np.eye(3)[y] + noise * 1.05 ** abs(n - 20), y)
    curve = recipe.follow(run, most=1000, rate=1.0, patience=18, clock=Clock(0.0))
    assert curve.loss.argmin() + 1 == 20 <= curve.kept_length < 25
    assert curve.kept_loss <= (1 + LOGLOSS.tolerance) * curve.loss.min()
    for length in (1.0, 10.0, curve.kept_length):
        (found,) = curve.at([length])
        assert abs(found.length - length) <= 0.05 * length
        own = Conformity.of(found.scale * run.scores_after(int(found.length)), y, np.ones(len(y)))
        np.testing.assert_array_equal(found.conformity().probability, own.probability)


@pytest.mark.parametrize("patience", [18, None])
def test_a_run_that_ends_in_its_first_round_is_measured_after_it(patience):
    y = np.arange(60) % 3
    run = fake_run(lambda n: np.eye(3)[y], y, goes_on=False)
    found = recipe.follow(run, most=40, rate=0.2, patience=patience, clock=Clock(0.0))
    assert (found.kept_length, found.calibrations[0].scale > 2.0) == (0.2, True)
    assert found.kept_loss < np.log(3)


def test_the_init_model_is_left_out_where_classes_overlap(halves):
    X, y, *_ = halves
    assert default(n_estimators=5).fit(X, y).init_ is not None
    noisy = np.where(np.random.default_rng(0).random(len(y)) < 0.5, y, y[::-1])
    assert default(n_estimators=5).fit(X, noisy).init_ is None
    assert default(n_estimators=5, init="kernel").fit(X, noisy).init_ is not None


@pytest.mark.parametrize(
    ("parameters", "n_runs"),
    [
        ({}, 2),  # also from zero
        ({"init": "kernel"}, 1),
        ({"init": None}, 1),
        ({"n_estimators": constants.FEWEST_ROUNDS}, 1),  # for the scale
        ({"n_estimators": constants.FEWEST_ROUNDS - 1}, 0),
        ({"n_estimators": constants.FEWEST_ROUNDS, "probability_scale": 1.0}, 0),
        ({"n_estimators": constants.FEWEST_ROUNDS, "correction": "total"}, 0),
    ],
)
def test_holdout_runs_are_done_where_they_can_decide(parameters, n_runs, halves, monkeypatch):
    X, y, *_ = halves
    starts = []

    def watched(bench, start, *others):
        starts.append(start.base)
        return holdout_curve(bench, start, *others)

    holdout_curve = recipe.holdout_curve
    monkeypatch.setattr(recipe, "holdout_curve", watched)
    clf = default(weak_learner="stump", learning_rate=None, **parameters).fit(X, y)
    assert len(starts) == n_runs and (clf.plan_.curve is None) == (n_runs == 0)
    if n_runs == 2:
        assert starts[0] is not None and starts[1] is None
        clf.set_params(warm_start=True, n_estimators=clf.n_iter_ + 30).fit(X, y)
        assert len(starts) <= 3


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.6])
def test_a_holdout_run_takes_longer_steps_and_fewer_rounds(rate):
    y, asked = np.arange(60) % 3, []
    run = fake_run(lambda n: np.eye(3)[y], y)

    def holdout(family, start, longer, encoding):
        asked.append(longer)
        return nullcontext(run)

    plan = SimpleNamespace(family=None, learning_rate=rate, n_rounds=40, encoding="rank")
    bench = SimpleNamespace(holdout=holdout)
    curve = recipe.holdout_curve(bench, None, plan, False, Clock(0.0))
    (longer,) = asked
    assert longer == max(rate, constants.LONGEST_STEP)
    assert curve.kept_length == longer * np.ceil(40 * rate / longer)


def test_boosting_starts_from_the_shares_where_that_ends_lower():
    X = np.random.default_rng(1).random((1500, 2))
    y = np.floor(3 * X[:, 0]).astype(int)  # stripes, whose edges kernels round
    clf = default().fit(X, y)
    assert clf.init_ is None and clf.probability_scale_ != 2.0
    found = {"n_estimators": clf.n_iter_, "learning_rate": clf.learning_rate_}
    same(clf, default(weak_learner=clf.family_, init=None, **found).fit(X, y), X)
    n_rounds, p = clf.n_iter_, clf.predict_proba(X)
    with pytest.warns(UserWarning, match="adds no rounds"):
        clf.set_params(warm_start=True).fit(X, y)  # the same choice, by a single holdout run
    assert clf.n_iter_ == n_rounds
    np.testing.assert_array_equal(clf.predict_proba(X), p)
    # A given number of rounds leaves no choice.
    assert default(n_estimators=5).fit(X, y).init_ is not None


def test_the_data_choose_the_depth():
    rng = np.random.default_rng(0)
    X = rng.random((1500, 3))
    noise, steps = rng.integers(0, 2, 1500), np.floor(5 * X[:, :2]).sum(axis=1).astype(int) % 2
    deep, shallow = (default(init=None).fit(X, y) for y in (steps, noise))
    assert (deep.family_.max_depth, shallow.family_.max_depth) == (None, "auto")
    assert deep.plan_.reasons["family"].endswith("with trees of depth 5")
    assert "with trees of any depth" in shallow.plan_.reasons["family"]
    found = {"n_estimators": deep.n_iter_, "learning_rate": deep.learning_rate_}
    same(deep, default(weak_learner=TreeFamily(None), init=None, **found).fit(X, steps), X)
    # Only with the number of rounds; a training that goes on keeps it.
    assert default(n_estimators=5, init=None).fit(X, steps).family_.max_depth == "auto"
    before = deep.decision_function(X)
    more = {"warm_start": True, "n_estimators": deep.n_iter_ + 5}
    later = deep.set_params(**more).fit(X, steps)
    assert later.family_.max_depth is None
    assert not np.array_equal(later.decision_function(X), before)
    np.testing.assert_array_equal([*later.staged_decision_function(X)][-6], before)


def test_the_data_choose_how_categories_are_compared():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 150, 1500), rng.normal(size=1500)])
    y = rng.integers(0, 3, 150)[X[:, 0].astype(int)]
    noise = rng.integers(0, 3, 1500)
    for labels, encoding in ((y, "target"), (noise, "rank")):
        plan = default(init=None, categorical_features=[0]).fit(X, labels).plan_
        assert plan.encoding == encoding and {"zero", "zero, target statistics"} <= set(plan.curves)
        assert plan.leader in plan.curves and "holdout log loss" in plan.reasons["encoding"]
    given = default(init=None, categorical_features=[0], category_encoding="rank").fit(X, y)
    assert given.plan_.encoding == "rank" and given.plan_.reasons["encoding"] == "as given"


@pytest.mark.parametrize("encoding", ["rank", "target"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"cv": KFold(5, shuffle=True, random_state=0)}, {"early_stopping": True}],
    ids=["drawn", "given", "early stopping"],
)
def test_categories_that_only_rows_left_out_have_tell_as_little_as_new_ones(settings, encoding):
    """The order of the categories tells the class of every training row, and of no new one."""
    noise = np.random.default_rng(0).normal(size=300)
    X, y = np.column_stack([np.arange(300.0), noise]), np.arange(300) // 100
    clf = default(categorical_features=[0], category_encoding=encoding, **settings).fit(X, y)
    losses = clf.history_.get("valid_logloss", [])
    lowest = min(losses) if len(losses) else clf.plan_.curve.kept_loss
    assert lowest > 0.95 * np.log(3)
    assert log_loss(y, clf.predict_proba(X + [300.0, 0.0])) < 1.05 * np.log(3)


def test_a_candidate_that_falls_too_slowly_ends_early():
    y = np.arange(60) % 3

    def curve(goal):
        run = fake_run(lambda n: np.minimum(n, 500) / 400 * np.eye(3)[y], y)
        return recipe.follow(run, 1000, 0.1, 36, Clock(0.0), goal)

    assert curve(0.0).length[-1] < curve(np.inf).length[-1] == curve(0.9).length[-1]


def test_a_given_scale_is_kept_whoever_decides_on_rounds(halves):
    X, y, X_val, y_val = halves
    for given in ({}, {"X_val": X_val, "y_val": y_val}):
        clf = default(init=None, learning_rate=0.5, probability_scale=1.5).fit(X, y, **given)
        assert clf.probability_scale_ == 1.5


def test_classes_of_one_example_leave_none_out():
    X, y = np.arange(12.0)[:, None], np.arange(12)
    clf = default(learning_rate=0.5).fit(X, y)
    assert clf.n_iter_ <= constants.MOST_LENGTH / 0.5
    assert clf.probability_scale_ == 2.0


def test_the_recipe_has_few_constants():
    names = [name for name in vars(constants) if name.isupper()]
    assert 0 < len(names) <= 30


def test_rounds_keep_no_copy_of_the_features(monkeypatch):
    """The default bins X once; what rounds need of it are codes, a byte per entry."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3_000, 40)), rng.integers(0, 3, 3_000)
    found = {}

    def count(when):
        sizes = [trace.size for trace in tracemalloc.take_snapshot().traces]
        found.setdefault(when, sum(0.7 < size / X.nbytes < 1.3 for size in sizes))

    watch = SimpleNamespace(on_round_end=lambda state: count("training"))

    def follow(*args, **kwargs):
        count("holdout run")
        return recipe_follow(*args, **kwargs)

    recipe_follow = recipe.follow
    monkeypatch.setattr(recipe, "follow", follow)
    tracemalloc.start()
    try:
        default(n_estimators=20, callbacks=[watch]).fit(X, y)
    finally:
        tracemalloc.stop()
    assert found == {"holdout run": 0, "training": 0}


def test_a_family_that_has_to_bind_again_keeps_X_once():
    X, y = np.random.default_rng(0).normal(size=(3_000, 4)), np.arange(3_000) % 3
    bound, alive = [], []

    class Again(TreeFamily):
        name = "again"

        def bind_rows(self, X, rows, context):
            alive.append(sum(pricer() is not None for pricer in bound))
            pricer = super().bind_rows(X, rows, context)
            pricer.rebound = lambda family, context: None
            bound.append(weakref.ref(pricer))
            return pricer

    default(weak_learner=Again(), n_estimators=20).fit(X, y)
    assert alive == [0, 0]
