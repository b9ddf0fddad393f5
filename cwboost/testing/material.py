"""Examples, weights, and calls of a plugin, sealed so that each result is checked on every row."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.contract import (
    BindContext,
    PricingRequest,
    WeakLearnerFamily,
    WeakLearners,
)
from cwboost.families.init_contract import InitContext, InitModel
from cwboost.families.init_models import checked_fit, checked_scores
from cwboost.families.sealing.faults import add_note, check_array
from cwboost.families.sealing.forms import check_scores
from cwboost.families.sealing.pricer import SealedPricer, bind_family
from cwboost.families.sealing.sample import read_only

WHOLE = PricingRequest()
N_TARGETS = 3

_make: ContextVar[Callable | None] = ContextVar("_make", default=None)


@contextmanager
def material_of(make_X) -> Iterator[None]:
    """Let checks take examples from ``make_X(n_samples, rng)``, at its own number of features."""
    token = _make.set(make_X)
    try:
        yield
    finally:
        _make.reset(token)


@contextmanager
def on(what: str) -> Iterator[None]:
    """Let an error say on which input it was met."""
    try:
        yield
    except Exception as error:
        add_note(error, f"met on {what}")
        raise


def _made(n_samples, seed) -> np.ndarray | None:
    """Return examples of the function that `material_of` was given; None without one."""
    make_X = _make.get()
    if make_X is None:
        return None
    X = np.array(make_X(n_samples, np.random.default_rng(seed)), dtype=np.float64, ndmin=1)
    if X.ndim != 2 or len(X) != n_samples:
        raise ValueError(f"make_X must return {n_samples} rows of features, got shape {X.shape}")
    return X


def pixels(n_samples=61, n_features=4, seed=0) -> np.ndarray:
    """Return integers 0..255 as float64, with ties; those of `material_of` fit into float32."""
    made = _made(n_samples, seed)
    if made is not None:
        return made.astype(np.float32).astype(np.float64)
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, size=(n_samples, n_features)).astype(np.float64)
    X[:, -1] = rng.integers(0, 3, size=n_samples)
    return X


def reals(n_samples=64, n_features=3, seed=1) -> np.ndarray:
    """Return standard normal values without ties."""
    made = _made(n_samples, seed)
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_samples, n_features)) if made is None else made


def levels(n_samples=24, n_features=2, n_levels=4, seed=2) -> np.ndarray:
    """Return a matrix of few distinct values, so that many rows are equal."""
    rng = np.random.default_rng(seed)
    made = _made(n_levels, seed)
    if made is not None:
        return made[rng.integers(0, n_levels, size=n_samples)]
    return rng.integers(0, n_levels, size=(n_samples, n_features)).astype(np.float64)


def with_missing(X) -> np.ndarray:
    """Return a copy with NaN in a fifth of the entries, and in a whole column if it has more."""
    X = X.copy()
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    if X.shape[1] > 2:
        X[:, 1] = np.nan
    return X


def as_bytes(X) -> np.ndarray:
    """Return a copy of `X` in uint8, or in float32 if bytes cannot hold its values."""
    small = np.asarray(np.nan_to_num(X)).clip(0, 255).astype(np.uint8)
    return small if np.array_equal(small, X) else X.astype(np.float32)


def dense_forms(X) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the values of X, which float32 holds, in other layouts and dtypes."""
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), -1.0)
    wide[::2, ::3] = X
    yield "Fortran order", np.asfortranarray(X)
    yield "strides", wide[::2, ::3]
    yield "float32", X.astype(np.float32)
    yield "uint8", as_bytes(X)


def sparse_forms(X) -> Iterator[tuple[str, Any]]:
    """Yield the values of X in sparse forms."""
    csr = sparse.csr_array(X)
    yield "CSR array", csr
    yield "CSC array", sparse.csc_array(X)
    yield "CSR matrix", sparse.csr_matrix(X)
    yield "float32 CSR", csr.astype(np.float32)
    explicit, places = sparse.csr_array(X + 1), np.isnan(X)
    explicit.data -= 1
    yield "CSR with stored zeros", explicit if not places.all() else csr


def inputs() -> dict[str, np.ndarray]:
    """Return matrices that every plugin takes; float32 holds the values."""
    negative = reals().astype(np.float32).astype(np.float64)
    return {"finite numbers": pixels(), "negative numbers": negative}


def inputs_claimed(plugin) -> dict[str, Any]:
    """Return a matrix of each further kind that a plugin claims to take."""
    X, kinds = pixels(), {}
    gaps, zeros = with_missing(X), X * np.random.default_rng(40).integers(0, 2, size=X.shape)
    can = plugin.capabilities if isinstance(plugin, WeakLearnerFamily) else None
    if can is None or can.missing_values:
        kinds["numbers with gaps"] = gaps
    if can is not None and can.sparse_input:
        kinds["CSR"], kinds["CSC"] = sparse.csr_array(zeros), sparse.csc_array(zeros)
        if can.missing_values:
            kinds["CSR with gaps"] = sparse.csr_array(np.where(np.isnan(gaps), np.nan, zeros))
    return kinds


def integer_weights(n_samples, n_targets=N_TARGETS, seed=4) -> np.ndarray:
    """Return non-zero even integers, whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    size = (n_targets, n_samples)
    return 2.0 * rng.integers(1, 500, size=size) * rng.choice([-1.0, 1.0], size=size)


def boosting_weights(n_samples, n_targets=N_TARGETS, seed=5) -> np.ndarray:
    """Return signed weights over many orders of magnitude, as from an exponential loss."""
    rng = np.random.default_rng(seed)
    size = (n_targets, n_samples)
    return np.exp(4.0 * rng.standard_normal(size)) * rng.choice([-1.0, 1.0], size=size)


def problems() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield named training matrices with weights, for checks that must hold on all of them."""
    for name, X in (
        ("pixels", pixels()),
        ("reals", reals()),
        ("levels", levels()),
        ("nine examples", reals(9, 2, seed=6)),
        ("more features than examples", reals(17, 30, seed=7)),
        ("one feature", reals(33, 1)),
        ("one feature with ties", levels(33, 1)),
    ):
        yield f"{name}, whole weights", X, integer_weights(len(X))
        yield f"{name}, boosting weights", X, boosting_weights(len(X))


def context_of(X, seed, n_targets=N_TARGETS, n_threads=1, **facts) -> BindContext:
    """Return the context that `bind` gives a family: equal examples have the same class."""
    if not sparse.issparse(X):
        first = np.asarray(X[:, 0], dtype=np.float64)
        y = np.unique(first, return_inverse=True)[1] % n_targets
        facts |= {"y": y, "class_counts": np.bincount(y, minlength=n_targets)}
    rng = np.random.default_rng(seed)
    return BindContext(n_targets=n_targets, random_state=rng, n_threads=n_threads, **facts)


def bind(
    family: WeakLearnerFamily, X, *, n_targets=N_TARGETS, seed=0, n_threads=1, rows=None, **facts
) -> SealedPricer:
    """Bind a clone of the family, as training does; `seed` may be a generator."""
    context = context_of(X if rows is None else X[rows], seed, n_targets, n_threads, **facts)
    with told_of_make_X():
        return bind_family(clone(family), X, context, rows, whole=True)


@contextmanager
def told_of_make_X() -> Iterator[None]:
    """Let the remedy of a plugin that refuses the examples of the suite speak of `make_X`."""
    try:
        yield
    except ValueError as error:
        error.refused_examples = _make.get() is None  # type: ignore[attr-defined]
        raise


def ask(pricer, weights, request=WHOLE) -> list:
    """Return what a pricer finds by each method of pricing that it has."""
    methods = [pricer.price, pricer.price_shared]
    methods += [pricer.divide] if pricer.family.capabilities.divides else []
    return [method(weights, request) for method in methods]


def same_answers(family, expected, answers, what: str) -> None:
    """Check that answers of pricing are equal, bit for bit if the family is deterministic."""
    if not family.capabilities.deterministic:
        return
    for one, other in zip(expected, answers, strict=True):
        assert same_arrays(one.learners, other.learners), f"{what}: the learners differ"
        for name in ("cells",) if hasattr(one, "cells") else ("outputs", "edges"):
            a, b = getattr(one, name), getattr(other, name)
            assert np.array_equal(a, b), f"{what}: the {name} differ, {a} and {b}"


def is_randomised(family) -> bool:
    """Return True if two seeds give two results: equal weights may then give other learners."""
    X, weights = reals(40, 5, seed=8), integer_weights(40)
    first, second = (bind(family, X, seed=seed).price(weights) for seed in (0, 1))
    return not same_arrays(first.learners, second.learners)


def same_arrays(first, second) -> bool:
    """Return True if two batches of learners, or fitted init models, hold the same bits."""
    a, b = first.arrays(), second.arrays()
    return a.keys() == b.keys() and all(
        a[key].dtype == b[key].dtype
        and a[key].shape == b[key].shape
        and a[key].tobytes() == b[key].tobytes()
        for key in a
    )


def tolerance(weights) -> np.ndarray:
    """Return a bound on the rounding error of an edge, summed in any order."""
    magnitude = np.abs(weights).sum(axis=-1)
    return 4 * weights.shape[-1] * np.finfo(np.float64).eps * magnitude


def fitted(family: WeakLearnerFamily, X, n_targets=8, **facts) -> WeakLearners:
    """Return learners of the family that are priced for random weights."""
    pricer = bind(family, X, n_targets=n_targets, **facts)
    return pricer.price(integer_weights(X.shape[0], n_targets)).learners


def fit_init(model: InitModel, X, y=None, n_classes=N_TARGETS, n_threads=1, rows=None, **facts):
    """Fit a clone of the init model, to X or some rows; return the fitted model and its scores."""
    n = X.shape[0] if rows is None else len(rows)
    y = np.arange(n) * n_classes // n if y is None else y
    given = {"weight": np.ones(n), "folds": np.arange(n) % 3} | facts
    arrays = {name: read_only(given.pop(name)) for name in ("weight", "folds")}
    context = InitContext(
        n_classes=n_classes, random_state=7, n_threads=n_threads, **arrays, **given
    )
    with told_of_make_X():
        if rows is None:
            pair = clone(model).fit(read_only(X), read_only(y), context)
        else:
            pair = clone(model).fit_rows(read_only(X), read_only(rows), read_only(y), context)
    made, scores = checked_fit(pair, model)
    assert (made is None) == (scores is None), "fit must return scores with a fitted model only"
    if made is not None:
        expected = type(model).fitted_type
        assert isinstance(made, expected), f"fit must return {expected.__name__}, got {made!r}"
        checked_scores(scores, model, (n, n_classes))
    return made, scores


@dataclass(frozen=True)
class Made:
    """What a model file holds of a plugin: learners, or a fitted init model.

    `read(arrays, n_features)` is its from_arrays; `answer(made, X)` are its checked predictions.
    """

    value: Any
    read: Callable[..., Any]
    answer: Callable[..., np.ndarray]

    def predict(self, X) -> np.ndarray:
        """Return predictions: those of learners are outputs and scores, side by side."""
        return self.answer(self.value, X)


def made_by(plugin: WeakLearnerFamily | InitModel, X) -> Made:
    """Return learners of a family, or a fitted init model."""
    if isinstance(plugin, WeakLearnerFamily):
        predict = partial(_outputs_and_scores, plugin)
        return Made(fitted(plugin, X), plugin.learners_type.from_arrays, predict)
    made, _ = fit_init(plugin, X)
    assert made is not None, "fit returns None for the examples of the suite"
    return Made(
        made,
        lambda arrays, n: plugin.fitted_type.from_arrays(arrays, n, N_TARGETS),
        lambda made, X: init_scores(plugin, made, X),
    )


def _outputs_and_scores(family, learners, X) -> np.ndarray:
    """Return outputs beside scores; of graded learners, which damaged arrays may give, outputs."""
    X = read_only(X)
    outputs = learners.outputs(X)
    shape = X.shape[0], len(learners), *(np.shape(outputs)[2:] if learners.is_graded else ())
    check_array("outputs(X)", outputs, np.dtype(np.int8), shape, AssertionError)
    if learners.is_graded:
        return outputs.reshape(len(outputs), -1)
    values = np.unique(outputs)
    assert np.isin(values, (-1, 1)).all(), f"outputs(X): values must be -1 and +1, got {values}"
    coef = np.random.default_rng(33).standard_normal((len(learners), 3))
    scores = learners.scorer(sparse.csr_array(coef))(X)
    return np.hstack([outputs, check_scores(scores, family, (X.shape[0], 3))])


def init_scores(model, made, X, n_threads=1, n_classes=N_TARGETS) -> np.ndarray:
    """Return the scores of a fitted init model; an error says that they have a wrong form."""
    scores = made.scores(read_only(X), n_threads)
    return checked_scores(scores, model, (X.shape[0], n_classes))
