"""The parameters of `CWBoostClassifier` as one value: checked, with defaults by correction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from cwboost.calibration.metrics import Metric, stopping_metric
from cwboost.callbacks import TimeLimit
from cwboost.families.discovery import resolve_weak_learner
from cwboost.input.checks import (
    check_auto,
    check_callbacks,
    check_choice,
    check_n_jobs,
    check_verbose,
)
from cwboost.input.splits import check_splitter
from cwboost.master import LARGEST_C
from cwboost.solvers.schedule import BoostingSettings
from cwboost.support.checks import check_bool, check_number

if TYPE_CHECKING:
    from cwboost.families.contract import WeakLearnerFamily

# The lowest error on validation parts. With this C the penalty of the coefficients does not count.
STAGEWISE = {"C": 1e12, "learning_rate": 0.1}
DEFAULTS = {
    # The method of the paper.
    # The path of C begins where the first columns pay.
    "total": {"C": 2.0, "learning_rate": 1.0},
    "stagewise": STAGEWISE,
    "classwise": STAGEWISE,
}

LIMITS = {"C": (0.0, LARGEST_C), "learning_rate": (1e-12, 1.0), "subsample": (0.0, 1.0)}
"""Least and largest values; 0 is excluded. The least rate keeps numbers of rounds finite."""

ENCODINGS = ("auto", "rank", "target")
"""Ways to compare categories."""

ONE_SE = "one_se"
"""`max_columns` that takes the smallest model within a standard error of the best."""

GAP = 0.01
"""Training at a value of C that the data choose ends this close to the optimum: log loss changes by
less from here on than between two values of C."""

FEW_PASSES, FEW_EPSILON = 20, 1e-3
"""Passes and violation to which few columns are solved, so that those that do not pay go."""


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What a fit was asked for.

    `n_estimators`, `n_iter_no_change`, `probability_scale`, `early_stopping` (the metric),
    `learning_rate` and `category_encoding` are None if they are to be chosen, or not used; `init`
    is "auto" then. `chooses_C` is True if the data choose C, along a path that begins at that of
    the settings, for a model of `max_columns` coefficients at most, "one_se", or None.
    `constraints` are the parameters that constrain the scores, if they constrain anything.
    `divides` is True if a round grows one learner in whose cells all classes step, else it adds
    columns of one class each, and `keeps_state` if the state for an exact continuation may be
    needed. `time_limit` are the seconds of the shortest `TimeLimit` among the callbacks,
    infinite without one. `split_seed` draws the split for early stopping: always the same one
    unless `random_state` is an integer, so that a fit that goes on holds out the same examples.
    """

    family: WeakLearnerFamily
    init: Any
    n_estimators: int | None
    settings: BoostingSettings
    chooses_C: bool
    max_columns: int | str | None
    learning_rate: float | None
    early_stopping: Metric | None
    validation_fraction: float
    cv: Any
    n_iter_no_change: int | None
    categorical_features: Any
    category_encoding: str | None
    constraints: Mapping[str, Any]
    divides: bool
    class_weight: Mapping[Any, float] | str | None
    warm_start: bool
    keeps_state: bool
    callbacks: list
    time_limit: float
    random_state: int | np.random.RandomState | None
    split_seed: int
    n_threads: int
    verbose: int
    probability_scale: float | None

    @property
    def chooses_init(self) -> bool:
        """True if the data choose the init model."""
        return isinstance(self.init, str) and self.init == "auto"

    @property
    def score(self) -> str | None:
        """Name of the scorer by which early stopping stops; None for measures that fall."""
        metric = self.early_stopping
        return metric.name if metric is not None and metric.greater_is_better else None

    @classmethod
    def of(cls, classifier) -> Parameters:
        """Check the parameters of a classifier and fill in defaults."""
        n_estimators = check_auto("n_estimators", classifier.n_estimators, Integral, 1)
        fraction, scale = classifier.validation_fraction, classifier.probability_scale
        check_number("validation_fraction", fraction, Real, 0.0, 1.0, low_open=True)
        scale = check_auto("probability_scale", scale, Real, 0, 1e6, low_open=True)
        n_iter_no_change = check_auto("n_iter_no_change", classifier.n_iter_no_change, Integral, 1)
        encoding = check_choice("category_encoding", classifier.category_encoding, ENCODINGS)
        check_splitter(classifier.cv)
        check_callbacks(classifier.callbacks)
        check_verbose(classifier.verbose)
        warm_start = check_bool("warm_start", classifier.warm_start)
        family = resolve_weak_learner(classifier.weak_learner)
        constraints = {}
        if _has_nonzero(classifier.monotonic_cst):
            constraints["monotonic_cst"] = classifier.monotonic_cst
        if classifier.interaction_cst is not None:
            constraints["interaction_cst"] = classifier.interaction_cst
        # Here alone it is decided which training it is: that of leaves, or that of columns.
        divides = (
            classifier.correction == "stagewise"
            and family.capabilities.divides
            and "monotonic_cst" not in constraints
        )
        settings = _settings_of(classifier)
        chooses_C = classifier.C is None and not settings.stagewise
        metric = stopping_metric(classifier.early_stopping)
        callbacks, seed = list(classifier.callbacks or []), classifier.random_state
        limits = [float(each.seconds) for each in callbacks if isinstance(each, TimeLimit)]
        asked = [getattr(each, "needs_training_state", False) for each in callbacks]
        return cls(
            family=family,
            init=classifier.init,
            n_estimators=n_estimators,
            settings=settings,
            chooses_C=chooses_C,
            max_columns=_max_columns(classifier.max_columns, chooses_C),
            learning_rate=classifier.learning_rate,
            early_stopping=metric,
            validation_fraction=fraction,
            cv=classifier.cv,
            n_iter_no_change=n_iter_no_change,
            categorical_features=classifier.categorical_features,
            category_encoding=None if encoding == "auto" else encoding,
            constraints=constraints,
            divides=divides,
            class_weight=classifier.class_weight,
            warm_start=warm_start,
            keeps_state=warm_start or any(asked),
            callbacks=callbacks,
            time_limit=min(limits, default=inf),
            random_state=seed,
            split_seed=int(seed) if isinstance(seed, Integral) else 0,
            n_threads=check_n_jobs(classifier.n_jobs),
            verbose=int(classifier.verbose),
            probability_scale=scale,
        )


def _max_columns(given, chooses_C: bool) -> int | str | None:
    """Check the parameter `max_columns`."""
    if given is not None and not chooses_C:
        raise ValueError(
            "max_columns must be None unless the data choose C, with correction='total' and C=None,"
            f" got {given!r}"
        )
    if given is None or (isinstance(given, str) and given == ONE_SE):
        return given
    if isinstance(given, str):
        raise ValueError(f"max_columns must be an integer, 'one_se' or None, got {given!r}")
    return int(check_number("max_columns", given, Integral, 1))


def _has_nonzero(given) -> bool:
    """Return whether ``monotonic_cst`` constrains anything."""
    if isinstance(given, Mapping):
        return any(map(_has_nonzero, given.values()))
    return given is not None and np.count_nonzero(np.asarray(given, dtype=object)) > 0


def _settings_of(classifier) -> BoostingSettings:
    """Check the parameters of column generation and fill in the defaults of the correction."""
    check_number("max_working_sets", classifier.max_working_sets, Integral, 1)
    check_number("epsilon", classifier.epsilon, Real, 0.0)
    check_number("tol", classifier.tol, Real, 0.0)
    correction = check_choice("correction", classifier.correction, tuple(DEFAULTS))
    defaults = DEFAULTS[correction]
    values = {}
    for name, (low, high) in LIMITS.items():
        value = getattr(classifier, name)
        value = defaults.get(name) if value is None else value
        values[name] = float(check_number(name, value, Real, low, high, low_open=low == 0.0))
    if correction == "total" and values["learning_rate"] != 1.0:
        raise ValueError(
            "learning_rate must be None or 1 with correction='total', which solves for every "
            f"coefficient, got {classifier.learning_rate!r}"
        )
    check_choice("solver", classifier.solver, ("fcd", "fcd_printed", "lbfgsb"))
    stagewise = correction != "total"
    if stagewise and classifier.solver != "fcd":
        raise ValueError(
            f"solver must be 'fcd' with correction={correction!r}, which takes one step per "
            f"coefficient, got {classifier.solver!r}"
        )
    chooses_C = classifier.C is None and not stagewise
    max_columns = _max_columns(classifier.max_columns, chooses_C)
    passes, epsilon = int(classifier.max_working_sets), float(classifier.epsilon)
    if max_columns not in (None, ONE_SE):
        passes, epsilon = max(passes, FEW_PASSES), min(epsilon, FEW_EPSILON)
    return BoostingSettings(
        most_columns=None if max_columns == ONE_SE else max_columns,
        max_working_sets=1 if stagewise else passes,
        epsilon=epsilon,
        gap=GAP if chooses_C else 0.0,
        solver=classifier.solver,
        tol=float(classifier.tol),
        penalizes_steps=classifier.C is not None,
        **values,
    )
