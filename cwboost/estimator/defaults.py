"""Parameters of `CWBoostClassifier`: checks, and defaults that depend on the correction."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

from cwboost.estimator.parameters import (
    check_callbacks,
    check_choice,
    check_number,
    check_verbose,
)
from cwboost.master import LARGEST_C
from cwboost.solvers.row_sampling import SAMPLING
from cwboost.solvers.schedule import Settings

__all__ = ["Chosen", "chosen", "settings_of"]


@dataclass(frozen=True)
class Chosen:
    """Values of the parameters after their defaults were filled in."""

    C: float
    learning_rate: float
    subsample: float


DEFAULTS = {
    # The method of the paper.
    "total": Chosen(C=1e4, learning_rate=1.0, subsample=1.0),
    # The lowest error on validation parts of the benchmark's data sets; the page on benchmarks has
    # the table. With this C the penalty of the coefficients does not count.
    "stagewise": Chosen(C=1e12, learning_rate=0.1, subsample=0.5),
}


def chosen(classifier) -> Chosen:
    """Check the parameters that depend on the correction and fill in their defaults.

    Raises
    ------
    TypeError, ValueError
        For a value that is out of range, or that the correction does not use.
    """
    correction = check_choice("correction", classifier.correction, tuple(DEFAULTS))
    defaults = DEFAULTS[correction]
    limits = {"C": LARGEST_C, "learning_rate": 1.0, "subsample": 1.0}
    values = {}
    for name, high in limits.items():
        value = getattr(classifier, name)
        if value is None:
            value = getattr(defaults, name)
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
    return Chosen(**values)


def settings_of(classifier) -> Settings:
    """Check the parameters of a classifier; return those of its training.

    Raises
    ------
    TypeError, ValueError
        Naming the parameter, what was expected and what came.
    """
    check_number("n_estimators", classifier.n_estimators, Integral, 1)
    check_number("columns_per_round", classifier.columns_per_round, Integral, 1)
    check_number("max_working_sets", classifier.max_working_sets, Integral, 1)
    check_number("epsilon", classifier.epsilon, Real, 0.0)
    check_number("tol", classifier.tol, Real, 0.0)
    classifier._check_held_out_parameters()
    check_callbacks(classifier.callbacks)
    check_verbose(classifier.verbose)
    values = chosen(classifier)
    check_choice("sampling", classifier.sampling, SAMPLING)
    check_choice("similarity", classifier.similarity, ("auto", True, False))
    stagewise = classifier.correction == "stagewise"
    return Settings(
        max_working_sets=1 if stagewise else int(classifier.max_working_sets),
        epsilon=float(classifier.epsilon),
        learning_rate=values.learning_rate,
        solver=classifier.solver,
        tol=float(classifier.tol),
        subsample=values.subsample,
        sampling=classifier.sampling,
        columns_per_round=int(classifier.columns_per_round),
    )
