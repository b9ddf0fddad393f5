"""What a fit has decided, in words."""

import pytest
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier

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
    assert set(plan.reasons) == {"encoding", "family", "init", "n_rounds", "scale"}
    few = CWBoostClassifier(random_state=0).fit(X[::3], y[::3])
    assert few.plan_.reasons["init"] == "there are fewer than 100 examples"
    given = CWBoostClassifier(init=None, n_estimators=3).fit(X, y, X_val=X, y_val=y)
    assert "held-out examples" in given.plan_.reasons["scale"]
