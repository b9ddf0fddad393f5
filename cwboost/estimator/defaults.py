"""Parameters of `CWBoostClassifier`: checks, and defaults that depend on the correction."""

from __future__ import annotations

from numbers import Integral, Real

from cwboost.estimator.held_out.metrics import watched_metric
from cwboost.estimator.held_out.stopping import patience_for
from cwboost.estimator.parameters import (
    check_auto,
    check_callbacks,
    check_choice,
    check_number,
    check_verbose,
)
from cwboost.master import LARGEST_C
from cwboost.solvers.schedule import Settings

__all__ = ["settings_of"]

DEFAULTS = {
    # The method of the paper.
    "total": {"C": 1e4, "learning_rate": 1.0, "subsample": 1.0},
    # The lowest error on validation parts. With this C the penalty of the coefficients does not
    # count.
    "stagewise": {"C": 1e12, "learning_rate": 0.1, "subsample": 0.5},
}


def settings_of(classifier) -> Settings:
    """Check the parameters of a classifier, fill in defaults; return those of its training."""
    check_auto("n_estimators", classifier.n_estimators, Integral, 1)
    check_number("columns_per_round", classifier.columns_per_round, Integral, 1)
    check_number("max_working_sets", classifier.max_working_sets, Integral, 1)
    check_number("epsilon", classifier.epsilon, Real, 0.0)
    check_number("tol", classifier.tol, Real, 0.0)
    check_number("validation_fraction", classifier.validation_fraction, Real, 0.0, low_open=True)
    scale = classifier.probability_scale
    check_auto("probability_scale", scale, Real, 0, 1e6, low_open=True)
    check_callbacks(classifier.callbacks)
    check_verbose(classifier.verbose)
    values = _by_correction(classifier)
    watched_metric(classifier.early_stopping)
    patience_for(classifier.n_iter_no_change, values["learning_rate"])
    stagewise = classifier.correction == "stagewise"
    return Settings(
        max_working_sets=1 if stagewise else int(classifier.max_working_sets),
        epsilon=float(classifier.epsilon),
        solver=classifier.solver,
        tol=float(classifier.tol),
        columns_per_round=int(classifier.columns_per_round),
        **values,
    )


def _by_correction(classifier) -> dict[str, float]:
    """Check the parameters that depend on the correction and fill in their defaults."""
    correction = check_choice("correction", classifier.correction, tuple(DEFAULTS))
    limits = {"C": LARGEST_C, "learning_rate": 1.0, "subsample": 1.0}
    values = {}
    for name, high in limits.items():
        value = getattr(classifier, name)
        value = DEFAULTS[correction][name] if value is None else value
        values[name] = float(check_number(name, value, Real, 0.0, high, low_open=True))
    if correction == "total" and values["learning_rate"] != 1.0:
        raise ValueError(
            "learning_rate applies to correction='stagewise' only, since total correction solves "
            f"for every coefficient; got {classifier.learning_rate!r} with 'total'"
        )
    check_choice("solver", classifier.solver, ("fcd", "fcd_printed", "lbfgsb"))
    if correction == "stagewise" and classifier.solver != "fcd":
        raise ValueError(
            "solver applies to correction='total' only, since stage-wise correction takes one step "
            f"per coefficient; got {classifier.solver!r} with 'stagewise'"
        )
    return values
