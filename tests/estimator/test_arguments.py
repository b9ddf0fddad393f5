"""What no argument can mean is refused by the name of the argument, by every estimator."""

import datetime
from decimal import Decimal
from inspect import signature

import numpy as np
import pytest
from models import CLASSIFIERS
from sklearn.model_selection import GroupKFold, KFold

from cwboost import CWBoostClassifier, CWBoostClassifierCV, TreeFamily
from cwboost.callbacks import Checkpoint, TimeLimit

N = 60
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 2)) + Y[:, None]
ONES = np.ones(N)
WEIGHTS = {
    "text": ["1"] * N,
    "dates": np.datetime64("2020-01-01") + Y,
    "complex": ONES + 1j,
    "gaps": [None] * N,
    "too few": ONES[1:],
    "a matrix": ONES[:, None],
    "one number": 2.0,
    "negative": -ONES,
    "nan": np.full(N, np.nan),
    "infinite": np.full(N, np.inf),
    "zeros": 0 * ONES,
    "too large": 1e308 * ONES,
}
SEEDS = [np.random.default_rng(0), "0", 1.5, -1, 2**32, [1]]
ODD = {
    "y": {
        "complex": Y + 1j,
        "bytes": np.array([b"a", b"b", b"c"])[Y],
        "objects": [{one} for one in Y],
        "decimals": [Decimal(int(one)) for one in Y],
        "dates of Python": [datetime.date(2020, 1, 1 + one) for one in Y],
        "fractions": Y / 3,
    },
    "sample_weight": WEIGHTS,
    "sample_weight_val": WEIGHTS,
    "groups": {"too few": Y[1:], "a matrix": Y[:, None], "gaps": [None] * N, "one": "all"},
    "class_weight": {
        "a word": "balancd",
        "a number": 3,
        "a list": [1, 2, 3],
        "text": {0: "1x"},
        "unknown": {5: 1},
    },
    "random_state": dict(zip(map(str, SEEDS), SEEDS)),
    "learning_rate": {"subnormal": 1e-310, "zero": 0.0, "text": "0.1", "nan": np.nan},
    "early_stopping": {
        "two classes only": "roc_auc",
        "text": lambda *_: "x",
        "nothing": lambda *_: None,
        "a class": KFold,
    },
    "cv": {
        "a class": KFold,
        "a word": "x",
        "empty": [],
        "no pairs": [3],
        "without groups": GroupKFold(2),
        "outside": [(np.arange(30), [N])],
        "masks": [(Y > 0, Y == 0)],
    },
}


def made(estimator, params):
    if estimator is CWBoostClassifierCV:
        own = {name: params[name] for name in params if name == "cv"}
        others = {name: params[name] for name in params if name not in own}
        template = CWBoostClassifier("stump", **{"n_estimators": 2} | others)
        return CWBoostClassifierCV(template, Cs=[1e4], **{"cv": 2} | own)
    return estimator("stump", **{"n_estimators": 2} | params)


def cases():
    for estimator in [*CLASSIFIERS, CWBoostClassifierCV]:
        takes = signature(estimator.fit).parameters
        has = signature(CWBoostClassifier if estimator is CWBoostClassifierCV else estimator)
        for name, values in ODD.items():
            if name in takes or name in has.parameters:
                yield from (pytest.param(estimator, name, kind) for kind in values)


@pytest.mark.parametrize("estimator, name, kind", cases())
def test_what_an_argument_cannot_mean_is_refused_by_its_name(estimator, name, kind):
    given = {name: ODD[name][kind]}
    of_fit = given.keys() & signature(estimator.fit).parameters.keys()
    held_out = {"X_val": X, "y_val": Y} if name == "sample_weight_val" else {}
    model = made(estimator, {} if of_fit else given)
    with pytest.raises((TypeError, ValueError), match=f"^{name} must "):
        model.fit(**{"X": X, "y": Y, **held_out} | (given if of_fit else {}))


@pytest.mark.parametrize(
    "name, make",
    [
        ("max_leaf_nodes", lambda v: CWBoostClassifier(TreeFamily(max_leaf_nodes=v)).fit(X, Y)),
        ("max_depth", lambda v: CWBoostClassifier(TreeFamily(max_depth=v)).fit(X, Y)),
        ("max_bins", lambda v: CWBoostClassifier(TreeFamily(max_bins=v)).fit(X, Y)),
        ("seconds", TimeLimit),
        ("every_rounds", lambda v: Checkpoint("a.cwb", every_rounds=v)),
        ("every_seconds", lambda v: Checkpoint("a.cwb", every_seconds=v)),
    ],
)
@pytest.mark.parametrize("value", [-1, "3", 1j, np.nan, [3]])
def test_what_a_number_cannot_be_is_refused_by_its_name(name, make, value):
    with pytest.raises((TypeError, ValueError), match=f"^{name} must be "):
        make(value)


@pytest.mark.parametrize("name", ["max_leaf_nodes", "max_depth", "max_bins"])
@pytest.mark.parametrize("value", [2**31, 2**63, 10**30])
def test_integers_that_kernels_cannot_hold_are_refused(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be .* to .*, got {value}"):
        CWBoostClassifier(TreeFamily(**{name: value}), init=None, n_estimators=2).fit(X, Y)
