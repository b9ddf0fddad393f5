"""Work whose instructions are counted, and which `compare` times in two processes in turn.

A workload is prepared once, and then called with a meter: it returns to its start and does the
work, which alone the meter measures, ``with meter:``.
"""

import numpy as np

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits

from . import fcd
from .common import SEED, bound, labelled, weights


def metered(function):
    """Return a workload that is one call of `function`."""

    def work(meter):
        with meter:
            function()

    return work


def one_layer():
    start = fcd.at_zero(10_000, 25, 1)

    def work(meter):
        start.back()
        with meter:
            start.update_layers()

    return work


def warm_pass():
    start = fcd.in_training(4_000, 10)

    def work(meter):
        start.back()
        with meter:
            start.solve(max_working_sets=2)

    return work


def solving():
    start = fcd.at_zero(1_000, 6, 20)

    def work(meter):
        start.back()
        with meter:
            start.solve(epsilon=1e-6, max_working_sets=10_000)

    return work


def training():
    """The solver's part of a training: the rest of it is not measured."""
    from cwboost.training.column_generation import ColumnGeneration

    bench = fcd.Training()
    bench.setup()
    solve = ColumnGeneration.solve

    def work(meter):
        def measured(boosting, layer):
            with meter:
                return solve(boosting, layer)

        ColumnGeneration.solve = measured
        try:
            bench.fitted()
        finally:
            ColumnGeneration.solve = solve

    return work


def pricing(family, n_samples):
    X = np.random.default_rng(SEED).normal(size=(n_samples, 20))
    R = weights(labelled(n_samples, 8), 8)
    pricer = bound(family, X, 8)
    return metered(lambda: pricer.price(R))


def trees(n_estimators=30):
    X, y = load_pendigits(return_X_y=True)
    clf = CWBoostClassifier(
        "tree",
        init=None,
        n_estimators=30,
        probability_scale=2.0,
        random_state=0,
        n_jobs=1,
    )
    return clf, X[:400], y[:400]


def fitting():
    clf, X, y = trees()
    return metered(lambda: clf.fit(X, y))


def predicting():
    clf, X, y = trees()
    clf.fit(X, y)
    X, _ = load_pendigits(return_X_y=True)
    return metered(lambda: clf.decision_function(X[:4_000]))


WORKLOADS = {
    "FCD, one layer": one_layer,
    "FCD, warm pass of a round": warm_pass,
    "FCD, solve to 1e-6": solving,
    "FCD, 50 rounds of CW": training,
    "search for stumps": lambda: pricing("stump", 10_000),
    "growing trees": lambda: pricing("tree", 4_000),
    "fit of trees": fitting,
    "prediction of trees": predicting,
}
"""Functions that prepare a workload, by its name."""
