"""Whatever a family does wrong while it trains ends in an error that names it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from altered_stumps import altered_stumps, only_what_pays, two_per_target
from cwboost.plugins.stumps import StumpFamily
from cwboost.plugins.stumps.family import StumpPricer
from models import context, paper

import cwboost
from cwboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    CWBoostClassifier,
    FamilyFault,
    MultiBoostClassifier,
    PricingRequest,
)
from cwboost.datasets import load_vowel
from cwboost.families.sealing import CHECK_EVERY, bind_family

X, y = load_vowel(return_X_y=True)


def train(family, **params):
    return CWBoostClassifier(
        family, **({"correction": "total", "n_estimators": 40, "random_state": 0} | params)
    ).fit(X, y)


def one_nan(p):
    return replace(p, edges=np.where(np.arange(len(p.edges)) == 4, np.nan, p.edges))


# By the round in which they begin: changes of a result, and what is said of them.
FAULTS = {
    1: {
        "has the edge": lambda p: replace(p, edges=p.edges * 1e-3),
        "its method outputs says": lambda p: replace(p, outputs=np.roll(p.outputs, 1, axis=0)),
        "expected 11 learners, one per target, got 1": (
            lambda p: replace(p, learners=p.learners.take([0]))
        ),
        "outputs must have dtype uint8": lambda p: replace(p, outputs=p.outputs.astype(np.int8)),
        "outputs must be C-contiguous": lambda p: replace(p, outputs=np.asfortranarray(p.outputs)),
        "outputs must be an ndarray, got list": lambda p: replace(p, outputs=p.outputs.tolist()),
        "edges must have dtype float64": lambda p: replace(p, edges=p.edges.astype(np.float32)),
        "pricing must return a Priced, got NoneType": lambda p: None,
        "learners must be StumpLearners, got list": lambda p: replace(p, learners=list(p.edges)),
        r"target must ascend within 0\.\.10": lambda p: replace(p, target=np.arange(1, 12)),
        "target must have dtype int64": lambda p: replace(p, target=np.arange(11.0)),
    },
    6: {
        "edges must be finite": one_nan,
        r"outputs must have dtype uint8 and shape \(11, 124\), got uint8 and \(11, 123\)": (
            lambda p: replace(p, outputs=p.outputs[:, :-1])
        ),
    },
}


@pytest.mark.parametrize("number, message", [(n, message) for n in FAULTS for message in FAULTS[n]])
def test_a_wrong_result_is_an_error_that_names_family_and_round(number, message):
    def alter(pricer, priced, weights, request):
        return FAULTS[number][message](priced) if pricer.n_calls >= number else priced

    classifier = paper(altered_stumps(alter), n_estimators=40)
    with pytest.raises(FamilyFault, match=message) as caught:
        classifier.fit(X, y)
    where = f"weak learner 'stump' (module altered_stumps, not installed), round {number}: "
    assert str(caught.value).startswith(where)
    assert hasattr(classifier, "ensemble_") == (number > 1)
    if number > 1:  # the finished rounds are kept
        assert classifier.n_iter_ == classifier.ensemble_.n_rounds == number - 1
        assert classifier.stop_reason_ == "failed"
        assert 0.1 < classifier.score(X, y) < 1


def test_weights_are_read_only():
    def halve(pricer, priced, weights, request):
        weights *= 0.5
        return priced

    with pytest.raises(ValueError, match="read-only") as caught:
        train(altered_stumps(halve))
    notes = getattr(caught.value, "__notes__", None) or [str(caught.value)]
    assert "round 1" in notes[0]


def test_an_exception_of_a_family_keeps_the_rounds_and_says_where():
    def fail(pricer, priced, weights, request):
        return priced if pricer.n_calls < 5 else priced.edges[99]

    classifier = paper(altered_stumps(fail), n_estimators=40)
    with pytest.raises(IndexError) as caught:
        classifier.fit(X, y)
    notes = getattr(caught.value, "__notes__", None) or [str(caught.value)]
    assert "raised by weak learner 'stump' (" in notes[0] and "round 5" in notes[0]
    assert classifier.n_iter_ == 4


def test_a_shipped_family_is_named_with_its_distribution_and_version():
    family = StumpFamily(max_features=0)
    with pytest.raises(ValueError, match="max_features") as caught:
        train(family)
    assert f"bind of weak learner 'stump' (cwboost {cwboost.__version__})" in str(
        getattr(caught.value, "__notes__", caught.value)
    )


@pytest.mark.parametrize("correction", ["total", "stagewise"])
@pytest.mark.parametrize("call", [3, 7, 24, 39])
def test_all_edges_of_all_rounds_are_computed_again(call, correction):
    """A false edge that is consistent in everything else, in a call without other checks."""

    def understate(pricer, priced, weights, request):
        edges = priced.edges.copy()
        edges[int(np.argmax(edges))] *= 1 - 1e-6
        return replace(priced, edges=edges) if pricer.n_calls == call else priced

    classifier = CWBoostClassifier(
        altered_stumps(understate),
        correction=correction,
        n_estimators=40,
        subsample=1.0,
        probability_scale=1.0,
    )
    with pytest.raises(FamilyFault, match=rf"round {call}: learner \d+, for .* was reported"):
        classifier.fit(X, y)
    assert classifier.n_iter_ == call - 1


def weak_from_round_3(pricer, priced, weights, request):
    """The better constants, with their true edges."""
    if pricer.n_calls < 3:
        return priced
    if not hasattr(pricer, "narrow"):
        pricer.narrow = StumpFamily().bind(X * 0.0, context())
    return pricer.narrow.price(weights)


def test_a_bound_above_the_objective_is_an_error():
    """A pricer that misses the learners of earlier rounds, which still have greater edges."""
    message = r"round \d: the pricer claims to be exact, but the dual bound .* lies above the obj"
    stages = {"correction": "stagewise", "learning_rate": 1.0, "subsample": 1.0, "C": 1e3}
    classifier = CWBoostClassifier(altered_stumps(weak_from_round_3), n_estimators=9, **stages)
    with pytest.raises(FamilyFault, match=message):
        classifier.fit(X, y)
    assert 2 <= classifier.n_iter_ < 9 and (classifier.history_["gap"] >= 0).all()
    inexact = train(altered_stumps(weak_from_round_3, exact=False), n_estimators=7, **stages)
    assert np.isnan(inexact.history_["gap"]).all()


def test_an_exact_pricer_that_returns_less_than_a_constant_is_an_error():
    def weaker(pricer, priced, weights, request):
        return StumpPricer.price(pricer, weights * (weights > 0))

    def second_best(pricer, priced, weights, request):
        learners = priced.learners.take([0] * 11)
        outputs = np.repeat(priced.outputs[:1], 11, axis=0)
        signs = cwboost.unpack_outputs(outputs, pricer.n_samples)
        return cwboost.Priced(learners, outputs, np.einsum("ti,it->t", weights, signs))

    with pytest.raises(FamilyFault, match=r"round 1: learner 0, .* has the edge"):
        train(altered_stumps(weaker))
    message = r"round \d: the pricer claims to be exact, but the best learner .* a constant has"
    with pytest.raises(FamilyFault, match=message):
        train(altered_stumps(second_best))
    assert train(altered_stumps(second_best, exact=False), n_estimators=3).n_iter_ == 3


def test_how_often_outputs_are_computed_again_is_as_documented():
    text = (Path(__file__).parents[3] / "docs/plugins/contract.md").read_text()
    first = ", ".join(str(2**k) for k in range(CHECK_EVERY.bit_length() - 2))
    wanted = f"Calls {first} and {CHECK_EVERY // 2} of `price`, every {CHECK_EVERY}th call"
    assert wanted in " ".join(text.split())


# ------------------------------------------------------------------ what a family may return


def same_models(first, second):
    a, b = first.ensemble_.arrays(), second.ensemble_.arrays()
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-12)


@pytest.mark.parametrize(
    "params", [{}, {"correction": "stagewise", "learning_rate": 1.0}, {"subsample": 0.3}]
)
def test_a_target_without_a_learner_changes_nothing(params):
    plain = train("stump", C=200.0, n_estimators=120, **params)
    spare = train(altered_stumps(only_what_pays), C=200.0, n_estimators=120, **params)
    same_models(plain, spare)
    assert plain.stop_reason_ == spare.stop_reason_
    for name in ("objective", "dual_bound", "gap"):
        np.testing.assert_allclose(plain.history_[name], spare.history_[name], rtol=1e-9)


def test_several_learners_of_a_target_all_become_columns():
    plain = train("stump", n_estimators=10)
    double = train(altered_stumps(two_per_target), n_estimators=10, columns_per_round=2)
    assert double.history_["objective"][-1] < plain.history_["objective"][-1]
    per_round = np.diff(double.ensemble_.path.learners_offsets)
    assert per_round.max() == 22 and double.score(X, y) > 0.7
    given = {"C": 100.0, "n_estimators": 400, "tol": 0, "columns_per_round": 2}
    best = train(altered_stumps(two_per_target), **given)
    assert best.stop_reason_ == "optimal"
    reference = train("stump", C=100.0, n_estimators=400, tol=0)
    np.testing.assert_allclose(
        best.history_["objective"][-1], reference.history_["objective"][-1], rtol=1e-5
    )


@pytest.mark.parametrize(
    "booster",
    [AdaBoostECCClassifier, AdaBoostMHClassifier, AdaBoostMOClassifier, MultiBoostClassifier],
)
def test_rivals_take_the_learners_of_the_targets_that_have_one(booster):
    same_models(
        booster("stump", n_estimators=8, random_state=0).fit(X, y),
        booster(altered_stumps(only_what_pays), n_estimators=8, random_state=0).fit(X, y),
    )


def test_more_learners_than_wanted_are_a_fault():
    message = "expected at most 1 learners per target, the request's n_columns, got 2"
    with pytest.raises(FamilyFault, match=message):
        train(altered_stumps(two_per_target), n_estimators=2)


def test_a_family_without_any_learner_that_pays_ends_training():
    def none(pricer, priced, weights, request):
        empty = np.array([], dtype=np.int64)
        return cwboost.Priced(priced.learners.take([]), priced.outputs[:0], np.zeros(0), empty)

    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        classifier = train(altered_stumps(none))
    assert classifier.stop_reason_ == "optimal" and classifier.n_iter_ == 0
    for booster in (AdaBoostECCClassifier, AdaBoostMOClassifier):
        assert booster(altered_stumps(none)).fit(X, y).stop_reason_ == "no column"


# ------------------------------------------------------------------ binding


def test_what_bind_is_told():
    told = []

    class Curious(StumpFamily):
        def bind(self, X, context):
            told.append(context)
            return super().bind(X, context)

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    paper(Curious(), n_estimators=1, n_jobs=2).fit(frame, y)
    (found,) = told
    assert found.n_targets == 11 and found.n_threads == 2 and found.categorical is None
    assert found.feature_names == tuple(frame.columns)
    np.testing.assert_array_equal(np.bincount(found.y), found.class_counts)
    assert not found.y.flags.writeable and not found.class_counts.flags.writeable
    paper(Curious(), n_estimators=1).fit(X, y)
    assert told[1].feature_names is None


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"exact": 1}, "exact must be a bool, got 1"),
        ({"n_samples": 7}, "n_samples must be 990, got 7"),
    ],
)
def test_what_the_pricer_says_of_itself_is_checked(attributes, message):
    class Liar(StumpFamily):
        def bind(self, X, context):
            pricer = super().bind(X, context)
            vars(pricer).update(attributes)
            return pricer

    with pytest.raises(FamilyFault, match=message):
        bind_family(Liar(), X, context())


def test_bind_must_return_a_pricer():
    class Empty(StumpFamily):
        def bind(self, X, context):
            return None

    with pytest.raises(FamilyFault, match="bind must return a Pricer, got NoneType"):
        bind_family(Empty(), X, context())


def test_shared_pricing_is_sealed_too():
    pricer = bind_family(StumpFamily(), X, context())
    weights = np.random.default_rng(0).normal(size=(11, len(X)))
    priced = pricer.price_shared(weights, PricingRequest())
    np.testing.assert_array_equal(priced.target, [0])
    original = pricer.pricer.price_shared
    for change, message in (
        (lambda p: replace(p, edges=p.edges + 1), "has the edge"),
        (lambda p: replace(p, outputs=~p.outputs), "outputs says"),
        (lambda p: replace(p, edges=p.edges[:0]), "edges must have dtype"),
    ):
        pricer.n_calls = 2 if message == "has the edge" else 0  # 3 does not check the outputs
        pricer.pricer.price_shared = lambda w, r, change=change: change(original(w, r))
        with pytest.raises(FamilyFault, match=message):
            pricer.price_shared(weights)
