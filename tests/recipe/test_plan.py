"""What a fit has decided, in words."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from cwboost import CWBoostClassifier, TreeFamily
from cwboost.datasets import load_vowel

FITS = {
    "default": {},
    "given rounds": {"n_estimators": 5},
    "total": {"weak_learner": "stump", "correction": "total", "max_columns": 8},
}


@pytest.mark.parametrize("params", FITS.values(), ids=FITS)
def test_every_decision_is_a_sentence_with_its_reason(params):
    plan = CWBoostClassifier(random_state=0, **params).fit(*load_iris(return_X_y=True)).plan_
    text = str(plan)
    assert {"init", "family", "n_rounds", "scale"} <= plan.reasons.keys()
    for reason in plan.reasons.values():
        assert f": {reason}." in text
    assert all(sentence.endswith(".") for sentence in text.splitlines())


def test_the_page_of_a_notebook_has_all_runs_and_no_markup_of_names():
    plan = CWBoostClassifier(random_state=0).fit(*load_iris(return_X_y=True)).plan_
    page = plan._repr_html_()
    assert page.count("<li>") == len(plan.sentences())
    assert page.count("<tr>") == 1 + len(plan.curves)
    assert "'" not in page


def test_the_plan_shows_what_was_tried_and_what_the_data_rule_out():
    X, y = load_iris(return_X_y=True)
    plan = CWBoostClassifier(random_state=0).fit(X, y).plan_
    assert {"kernel", "zero"} <= set(plan.curves)
    assert plan.leader == min(plan.curves, key=lambda name: plan.curves[name].kept_loss)
    assert plan.curve is plan.curves[plan.leader] and plan.leader.startswith(plan.init or "zero")
    assert all(one.calibrations == () for one in plan.curves.values())
    assert set(plan.reasons) == {"family", "init", "n_rounds", "scale"}
    few = CWBoostClassifier(random_state=0).fit(X[::3], y[::3])
    assert few.plan_.reasons["init"] == "there are fewer than 100 rows"
    given = CWBoostClassifier(init=None, n_estimators=3).fit(X, y, X_val=X, y_val=y)
    assert "held-out rows" in given.plan_.reasons["scale"]


def test_the_reason_of_a_choice_has_its_loss_first_and_what_it_was_compared_with():
    X, y = load_vowel(subset="train", return_X_y=True)
    plan = CWBoostClassifier(random_state=0).fit(X, y).plan_
    shallow, deep, zero = (
        f"{plan.curves[name].kept_loss:.3g}"
        for name in ("kernel", "kernel, trees of any depth", "zero, trees of any depth")
    )
    starts, learners, *_ = plan.sentences()
    assert starts == (
        f"Boosting starts from the kernel model: holdout log loss {deep}, against {zero} "
        "without an init model."
    )
    assert plan.leader == "kernel, trees of any depth"
    assert learners == (
        f"Weak learners are trees of any depth: holdout log loss {deep}, against {shallow} with "
        "trees of depth 5."
    )


def test_the_kernel_model_challenges_trees_that_a_small_one_is_lower_than():
    X, y = make_classification(
        2000,
        16,
        n_informative=10,
        n_redundant=0,
        n_classes=12,
        n_clusters_per_class=1,
        class_sep=0.9,
        random_state=0,
    )
    plan = CWBoostClassifier(random_state=0).fit(X, y).plan_
    *_, first, other = plan.curves
    assert (first, other) == ("zero, trees of any depth", "kernel, trees of any depth")
    assert plan.init == "kernel"
    assert plan.curves[other].kept_loss < 0.9 * plan.curves[first].kept_loss
    assert plan.reasons["init"].endswith("without an init model")
    again = CWBoostClassifier(random_state=0).fit(X, np.random.default_rng(0).permutation(y)).plan_
    assert again.init is None and not any("kernel" in name for name in again.curves)


def test_what_a_reason_says_of_losses():
    given = CWBoostClassifier(TreeFamily(max_depth=3), n_estimators=2, init=None)
    plan = given.fit(*load_iris(return_X_y=True)).plan_
    other = replace(plan, family=TreeFamily(max_depth=None), encoding="target", init="own")
    assert plan.lower_than("init", 0.5, other, 0.6).endswith("0.5, against 0.6 from the own model")
    assert other.lower_than("init", 0.5, plan, 0.6).endswith("without an init model")
    close = plan.lower_than("family", 0.5, other, 0.499)
    assert close.endswith("against 0.499 with trees of any depth, which is not 1% lower")
    nothing = plan.lower_than("encoding", 0.5, other, np.inf)
    assert nothing == "a holdout run by target statistics found no weak learner"
    assert other.name(plan.family) == "own, target statistics, trees of any depth"
