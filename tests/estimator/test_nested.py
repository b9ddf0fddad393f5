"""Parameters of a weak learner that is given by name, through the classifier's."""

import pytest
from models import CLASSIFIERS, paper
from sklearn.base import clone

from cwboost import CWBoostClassifierCV, TreeFamily


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: c.__name__)
def test_a_named_weak_learner_has_nested_parameters(classifier):
    named = classifier(weak_learner="tree")
    given = classifier(weak_learner=TreeFamily())
    nested = {k: v for k, v in named.get_params().items() if k.startswith("weak_learner__")}
    assert nested and nested.items() <= given.get_params().items()
    assert named.weak_learner == "tree"  # Asking changes nothing.
    assert named.set_params(weak_learner__max_depth=4) is named
    assert isinstance(named.weak_learner, TreeFamily) and named.weak_learner.max_depth == 4
    assert clone(named).get_params()["weak_learner__max_depth"] == 4


def test_a_name_and_nested_parameters_are_set_together():
    search = CWBoostClassifierCV(paper())
    for clf, prefix in ((paper(), ""), (search, "estimator__")):
        names = {"weak_learner": "tree", "weak_learner__max_depth": 3}
        clf.set_params(**{prefix + name: value for name, value in names.items()})
        family = (clf.estimator if prefix else clf).weak_learner
        assert isinstance(family, TreeFamily) and family.max_depth == 3


def test_unknown_names_do_not_hide_the_other_parameters():
    clf = paper("no_such_family")
    assert clf.get_params() == clf.get_params(deep=False)
    with pytest.raises(ValueError, match="unknown weak learner 'no_such_family'"):
        clf.set_params(weak_learner__max_depth=3)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        paper("tree").set_params(weak_learner__depth=3)
