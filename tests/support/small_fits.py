"""Small fits to disturb: every classifier and family, and the steps that other parameters add."""

import copy
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from every_classifier import CLASSIFIERS, FAMILIES
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, TreeFamily

X, Y = load_iris(return_X_y=True)
# A deep tree would fit all examples in the first round, which then is the last one.
SMALL = {family: family for family in FAMILIES} | {"tree": TreeFamily(max_depth=1)}
CODES = np.column_stack([np.rint(X[:, :2]), X[:, 2:]])


class SmallFit(NamedTuple):
    """A step to disturb.

    Parameters
    ----------
    name : str
    make : callable
        Returns the classifier.
    run : callable
        Trains it, or makes something of it.
    X : ndarray
        Its examples.
    """

    name: str
    make: Callable
    run: Callable = lambda clf: clf.fit(X, Y)
    X: np.ndarray = X


def small_fits():
    """Return all of them; every second family trains on two threads."""
    few = {"n_estimators": 3, "random_state": 0}
    trained = CWBoostClassifier("stump", n_estimators=20, random_state=0).fit(X, Y)
    return [
        *(
            SmallFit(
                f"{classifier.__name__}, {family}",
                partial(classifier, weak_learner=SMALL[family], n_jobs=1 + place % 2, **few),
            )
            for classifier in CLASSIFIERS
            for place, family in enumerate(FAMILIES)
        ),
        SmallFit("defaults", partial(CWBoostClassifier, **few | {"n_estimators": 6})),
        SmallFit(
            "categories",
            partial(CWBoostClassifier, weak_learner="tree", categorical_features=[0, 1], **few),
            lambda clf: clf.fit(CODES, Y),
            CODES,
        ),
        SmallFit(
            "held out",
            partial(CWBoostClassifier, weak_learner="stump", early_stopping=True, **few),
            lambda clf: clf.fit(X, Y, X_val=X[::3], y_val=Y[::3]),
        ),
        SmallFit("thin", partial(copy.copy, trained), lambda clf: clf.thin(X, Y, C=100.0)),
    ]
