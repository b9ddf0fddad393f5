"""Outputs, flat form and scorer of learners agree; a family whose forms differ is named."""

from dataclasses import replace

import numpy as np
import pytest
from cwboost.plugins.stumps import StumpFamily
from cwboost.plugins.stumps.learners import StumpLearners
from models import context
from scipy import sparse

from cwboost import FamilyFault
from cwboost.datasets import load_vowel
from cwboost.families.discovery import resolve_weak_learner
from cwboost.families.sealing import bind_family, check_forms, check_scores

X, _ = load_vowel(return_X_y=True)
FORMS = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_array}


def fitted(family, X=X, n_targets=11):
    pricer = bind_family(family, X, context(n_targets))
    weights = np.random.default_rng(0).normal(size=(n_targets, X.shape[0]))
    return pricer.price(weights).learners, pricer.sample.X


@pytest.mark.parametrize("family", ["stump", "tree", "projection", "auto", ["stump", "tree"]])
@pytest.mark.parametrize("form", [*FORMS, "float32", "uint8"])
def test_shipped_families_have_forms_that_agree(family, form):
    family = resolve_weak_learner(family)
    make = FORMS.get(form, lambda X: X.astype(form) if form == "float32" else bytes_of(X))
    if form in ("csr", "csc") and not family.capabilities.sparse_input:
        pytest.skip("takes no sparse matrix")
    learners, sample = fitted(family, make(X))
    check_forms(learners, family, sample)
    coef = np.random.default_rng(1).normal(size=(len(learners), 3)) * 10.0 ** np.arange(-9, 9, 6)
    check_forms(learners, family, sample, sparse.csr_array(coef))
    check_forms(learners, family, sample, np.full((len(learners), 1), 5e-324))
    check_forms(learners.take([]), family, sample)


def bytes_of(X):
    return np.clip(40 * X + 128, 0, 255).astype(np.uint8)


def negated(trees):
    return replace(trees, sign=-trees.sign)


WRONG_FORMS = {
    "flat form of other outputs": (
        {"flat_form": lambda self: negated(StumpLearners.flat_form(self))},
        r"the flat form of learner 0 differs from its outputs",
    ),
    "flat form of too few": (
        {"flat_form": lambda self: StumpLearners.flat_form(self.take([0]))},
        r"flat_form must return ThresholdTrees, one tree per learner \(11\)",
    ),
    "flat form of another type": ({"flat_form": lambda self: []}, "or None, got list"),
    "scores of other signs": (
        {"scorer": lambda self, coef: StumpLearners.scorer(self, -coef)},
        "the scorer differs from the outputs: score 0",
    ),
    "NaN scores": (
        {"scorer": lambda self, coef: lambda X, n_threads=1: np.full((len(X), 2), np.nan)},
        "score 0 of example 0 must be finite, got nan",
    ),
    "scores transposed": (
        {"scorer": lambda self, coef: lambda X, n_threads=1: np.zeros((2, len(X)))},
        r"scorer must return float64 of shape \(128, 2\), got float64 of shape \(2, 128\)",
    ),
    "scores in single precision": (
        {"scorer": lambda self, coef: lambda X, n_threads=1: np.zeros((len(X), 2), np.float32)},
        "scorer must return float64",
    ),
    "scores as a list": (
        {"scorer": lambda self, coef: lambda X, n_threads=1: [0.0] * len(X)},
        "got list",
    ),
}


@pytest.mark.parametrize("case", WRONG_FORMS)
def test_forms_that_differ_from_the_outputs_are_faults_of_the_family(case):
    members, message = WRONG_FORMS[case]
    wrong = type("Wrong", (StumpLearners,), members)
    family = type("Family", (StumpFamily,), {"learners_type": wrong})()
    learners, sample = fitted(StumpFamily())
    learners = wrong.from_arrays(learners.arrays(), X.shape[1])
    with pytest.raises(FamilyFault, match=rf"weak learner 'stump' \(.*\): .*{message}"):
        check_forms(learners, family, sample)


def test_the_flat_form_of_directions_is_compared_too():
    learners, sample = fitted(resolve_weak_learner("projection"))
    flat = learners.flat_form()
    assert flat.directions is not None
    for wrong in (negated(flat), replace(flat, directions=-flat.directions)):
        cls = type("Wrong", (type(learners),), {"flat_form": lambda self, wrong=wrong: wrong})
        other = cls.from_arrays(learners.arrays(), X.shape[1])
        with pytest.raises(FamilyFault, match="the flat form of learner"):
            check_forms(other, resolve_weak_learner("projection"), sample)


def test_an_exception_of_a_form_names_the_family():
    def scorer(self, coef):
        raise ZeroDivisionError("no learner")

    wrong = type("Wrong", (StumpLearners,), {"scorer": scorer})
    learners, sample = fitted(StumpFamily())
    with pytest.raises(ZeroDivisionError) as caught:
        check_forms(wrong.from_arrays(learners.arrays(), X.shape[1]), StumpFamily(), sample)
    notes = getattr(caught.value, "__notes__", None) or [str(caught.value)]
    assert "raised by scorer of weak learner 'stump'" in notes[0]


def test_scores_are_checked():
    scores = np.full((3, 2), 1e308)  # whose sum overflows
    assert check_scores(scores, StumpFamily(), (3, 2)) is scores
    for bad in (np.nan, np.inf, -np.inf):
        scores = np.zeros((3, 2))
        scores[1, 1] = bad
        with pytest.raises(FamilyFault, match="score 1 of example 1 must be finite"):
            check_scores(scores, StumpFamily(), (3, 2))


def test_outputs_cannot_edit_the_examples_on_which_they_are_checked():
    class Editing(StumpLearners):
        def outputs(self, X):
            X[:] = 0
            return super().outputs(X)

    class Family(StumpFamily):
        learners_type = Editing

    pricer = bind_family(StumpFamily(), X, context())
    learners = pricer.price(np.ones((11, len(X)))).learners
    edits = Editing.from_arrays(learners.arrays(), X.shape[1])
    with pytest.raises(ValueError, match="read-only"):
        check_forms(edits, Family(), pricer.sample.X)
