"""Whatever a family does wrong while it trains ends in an error that names it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from attack_plugins import CASES, DRAWN, EXACT, PRICED, SEARCHES, family, result
from cwboost.plugins.stumps import StumpFamily
from models import context, paper, stages

import cwboost
from cwboost import FamilyFault, PricingRequest
from cwboost.datasets import load_vowel
from cwboost.families.sealing.pricer import bind_family

X, y = load_vowel(return_X_y=True)
IN_FIT = [case for case in CASES if case.cause == "training"]
OF_RESULTS = [case for case in IN_FIT if case.edits[0][0] == PRICED]


def train(family, **params):
    return paper(family, **{"n_estimators": 40} | params).fit(X, y)


@pytest.mark.parametrize("case", [case for case in IN_FIT if case not in OF_RESULTS], ids=str)
def test_a_fault_ends_training(case):
    case.act()


@pytest.mark.parametrize("number", [1, 8])
@pytest.mark.parametrize("case", OF_RESULTS, ids=str)
def test_a_wrong_result_is_an_error_that_names_family_and_round(case, number):
    ((part, fault),) = case.edits
    classifier = paper(family((part, fault.replace(">= 1:", f">= {number}:"))), n_estimators=9)
    with pytest.raises((FamilyFault, ValueError, IndexError)) as caught:
        classifier.fit(X, y)
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    where = r"weak learner 'reference_stump' \(module planted_\d+\), round "
    assert re.search(f"{where}{number}", said) and re.search(case.message, said), said
    assert hasattr(classifier, "ensemble_") == (number > 1)
    if number > 1:  # the finished rounds are kept
        assert classifier.n_iter_ == classifier.ensemble_.n_rounds == number - 1
        assert classifier.stop_reason_ == "failed"
        assert 0.1 < classifier.score(X, y) < 1


def test_a_shipped_family_is_named_with_its_distribution_and_version():
    with pytest.raises(ValueError, match="max_features") as caught:
        train(StumpFamily(max_features=0))
    assert f"bind of weak learner 'stump' (cwboost {cwboost.__version__})" in str(
        getattr(caught.value, "__notes__", caught.value)
    )


@pytest.mark.parametrize("make", [paper, stages])
@pytest.mark.parametrize("call", [3, 7, 24, 39])
def test_all_edges_of_all_rounds_are_computed_again(call, make):
    """A false edge that is consistent in everything else, in a call without other checks."""
    understated = family((PRICED, result("edges[edges.argmax()] *= 1 - 1e-6", at=call)))
    classifier = make(understated, n_estimators=40, probability_scale=1.0)
    with pytest.raises(FamilyFault, match=rf"round {call}: learner \d+ has .* was reported"):
        classifier.fit(X, y)
    assert classifier.n_iter_ == call - 1


def test_a_bound_above_the_objective_is_an_error():
    """A pricer that misses the learners of earlier rounds, which still have greater edges."""
    n_calls = "self.n = vars(self).get('n', 0) + 1\n"
    constants = DRAWN, n_calls + "return features if self.n <= 22 else features[:0]"
    message = r"round \d: the pricer claims to be exact, but the dual bound .* lies above the obj"
    classifier = stages(family(constants), n_estimators=9, C=1e3)
    with pytest.raises(FamilyFault, match=message):
        classifier.fit(X, y)
    assert 2 <= classifier.n_iter_ < 9 and (classifier.history_["gap"] >= 0).all()
    inexact = family(constants, (EXACT, "self.exact = False"))
    inexact = stages(inexact, n_estimators=7, C=1e3).fit(X, y)
    assert np.isnan(inexact.history_["gap"]).all()


def test_a_pricer_that_is_not_exact_may_return_less_than_a_constant():
    of_the_first = SEARCHES, "found = [self.best(weights[:1])] * len(weights)"
    inexact = family(of_the_first, (EXACT, "self.exact = False"))
    assert train(inexact, n_estimators=3).n_iter_ == 3


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
    assert found.n_targets == 11 and found.n_threads == 2
    assert found.feature_names == tuple(frame.columns)
    np.testing.assert_array_equal(np.bincount(found.y), found.class_counts)
    assert not found.y.flags.writeable and not found.class_counts.flags.writeable
    paper(Curious(), n_estimators=1).fit(X, y)
    assert told[1].feature_names is None


def test_shared_pricing_is_sealed_too():
    pricer = bind_family(StumpFamily(), X, context())
    weights = np.random.default_rng(0).normal(size=(11, len(X)))
    priced = pricer.price_shared(weights, PricingRequest())
    assert len(priced.learners) == 1
    original = pricer.pricer.price_shared
    for change, message in (
        (lambda p: replace(p, edges=p.edges + 1), "has the edge"),
        (lambda p: replace(p, outputs=p.outputs ^ 1), "outputs returns"),
        (lambda p: replace(p, edges=p.edges[:0]), "edges must have dtype"),
    ):
        pricer.n_calls = 2 if message == "has the edge" else 0  # 3 does not check the outputs
        pricer.pricer.price_shared = lambda w, r, change=change: change(original(w, r))
        with pytest.raises(FamilyFault, match=message):
            pricer.price_shared(weights)
