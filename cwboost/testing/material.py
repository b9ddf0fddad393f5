"""Examples and weights for the checks, and assertions that several checks share."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from cwboost.families.contract import (
    BindContext,
    Division,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
    WeakLearners,
)
from cwboost.families.init_contract import InitContext, InitModel
from cwboost.families.init_models import checked_fit, checked_scores
from cwboost.families.outputs import unpack_outputs
from cwboost.families.sealing.faults import check_array
from cwboost.families.sealing.pricer import SealedPricer, check_priced
from cwboost.families.sealing.sample import Sample, read_only

WHOLE = PricingRequest()
N_TARGETS = 3


_make: ContextVar[Callable | None] = ContextVar("_make", default=None)


@contextmanager
def material_of(make_X):
    """Let checks take examples from ``make_X(n_samples, rng)``, at its own number of features."""
    token = _make.set(make_X)
    try:
        yield
    finally:
        _make.reset(token)


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


def as_bytes(X) -> np.ndarray:
    """Return a copy of `X` in uint8, or in float32 if bytes cannot hold its values."""
    small = np.asarray(X).clip(0, 255).astype(np.uint8)
    return small if np.array_equal(small, X) else X.astype(np.float32)


def reals(n_samples=64, n_features=3, seed=1) -> np.ndarray:
    """Return standard normal values without ties."""
    made = _made(n_samples, seed)
    if made is not None:
        return made
    return np.random.default_rng(seed).standard_normal((n_samples, n_features))


def levels(n_samples=24, n_features=2, n_levels=4, seed=2) -> np.ndarray:
    """Return a matrix of few distinct values, so that many rows are equal."""
    rng = np.random.default_rng(seed)
    made = _made(n_levels, seed)
    if made is not None:
        return made[rng.integers(0, n_levels, size=n_samples)]
    return rng.integers(0, n_levels, size=(n_samples, n_features)).astype(np.float64)


def with_missing(X) -> np.ndarray:
    """Return a copy with NaN in a fifth of the entries, and in a whole column if it has two."""
    X = X.copy()
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    if X.shape[1] > 2:
        X[:, 1] = np.nan
    return X


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
    ):
        yield f"{name}, whole weights", X, integer_weights(len(X))
        yield f"{name}, boosting weights", X, boosting_weights(len(X))


def bind(
    family: WeakLearnerFamily, X, *, n_targets=N_TARGETS, seed=0, n_threads=1, **facts
) -> Pricer:
    """Bind a clone of the family, as training does; `seed` may be a generator."""
    context = context_of(X, seed, n_targets, n_threads, **facts)
    with told_of_make_X():
        pricer = clone(family).bind(read_only(X), context)
    SealedPricer(pricer, family, Sample(X), context)  # checks its attributes
    return pricer


def context_of(X, seed, n_targets=N_TARGETS, n_threads=1, **facts) -> BindContext:
    """Return the context that `bind` gives a family: equal examples have the same class."""
    rng = np.random.default_rng(seed)
    if not sparse.issparse(X):
        first = np.asarray(X[:, 0], dtype=np.float64)
        y = np.unique(first, return_inverse=True)[1] % n_targets
        facts |= {"y": y, "class_counts": np.bincount(y, minlength=n_targets)}
    return BindContext(n_targets=n_targets, random_state=rng, n_threads=n_threads, **facts)


@contextmanager
def told_of_make_X():
    """Let the remedy of a plugin that refuses the examples of the suite speak of `make_X`."""
    try:
        yield
    except ValueError as error:
        error.refused_examples = _make.get() is None  # type: ignore[attr-defined]
        raise


def fitted(family: WeakLearnerFamily, X, n_targets=8, **facts) -> WeakLearners:
    """Return learners of the family that are priced for random weights."""
    pricer = bind(family, X, n_targets=n_targets, **facts)
    return pricer.price(integer_weights(X.shape[0], n_targets), WHOLE).learners


def fit_init(model: InitModel, X, y=None, n_classes=N_TARGETS, n_threads=1, rows=None, **facts):
    """Fit a clone of the init model, to X or some rows; return the fitted model and its scores."""
    n = X.shape[0] if rows is None else len(rows)
    y = np.arange(n) * n_classes // n if y is None else y
    given = {"weight": np.ones(len(y)), "folds": np.arange(len(y)) % 3} | facts
    arrays = {name: read_only(given.pop(name)) for name in ("weight", "folds")}
    context = InitContext(
        n_classes=n_classes, random_state=7, n_threads=n_threads, **arrays, **given
    )
    with told_of_make_X():
        if rows is not None:
            found = clone(model).fit_rows(read_only(X), read_only(rows), read_only(y), context)
        else:
            found = clone(model).fit(read_only(X), read_only(y), context)
    return checked_fit(found, model)


@dataclass(frozen=True)
class Stored:
    """What a model file holds of a plugin: learners, or a fitted init model."""

    made: Any
    read: Callable[..., Any]  # from_arrays, of arrays and a number of features
    answer: Callable[..., np.ndarray]  # checked outputs or scores, of what was read and X


def stored(plugin: WeakLearnerFamily | InitModel, X, **facts) -> Stored:
    """Return learners of a family, or a fitted init model."""
    if isinstance(plugin, WeakLearnerFamily):
        return Stored(fitted(plugin, X, **facts), plugin.learners_type.from_arrays, _outputs)
    made, _ = fit_init(plugin, X)
    assert made is not None, "fit returns None for the examples of the suite"
    return Stored(
        made,
        lambda arrays, n: plugin.fitted_type.from_arrays(arrays, n, N_TARGETS),
        lambda made, X: init_scores(plugin, made, X),
    )


def _outputs(learners, X) -> np.ndarray:
    outputs = learners.outputs(read_only(X))
    shape = len(X), len(learners)
    assert_signs(outputs, shape, "outputs(X)", learners.is_graded)
    return outputs


def init_scores(model, made, X, n_threads=1, n_classes=N_TARGETS) -> np.ndarray:
    """Return the scores of a fitted init model; an error says that they have a wrong form."""
    scores = made.scores(read_only(X), n_threads)
    return checked_scores(scores, model, (X.shape[0], n_classes))


def is_randomised(family: WeakLearnerFamily) -> bool:
    """Return True if two seeds give two results: equal weights may then give other learners."""
    X = reals(40, 5, seed=8)
    weights = integer_weights(40)
    first, second = (bind(family, X, seed=seed).price(weights, WHOLE) for seed in (0, 1))
    return not same_arrays(first.learners, second.learners)


def assert_signs(outputs, shape, what: str, is_graded: bool = False) -> None:
    """Assert that outputs are an int8 array of this shape; of -1 and +1, unless graded."""
    if is_graded:  # one output per score
        shape = *shape, *np.shape(outputs)[2:]
    check_array(what, outputs, np.dtype(np.int8), shape, AssertionError)
    values = np.unique(outputs)
    is_sound = values > -128 if is_graded else np.isin(values, (-1, 1))
    assert is_sound.all(), f"{what}: values must be -1 and +1, got {values}"


def assert_priced(family, priced: Priced, X, weights, what: str, n_learners=None) -> np.ndarray:
    """Assert that a pricing result is well-formed and correct; return its outputs on `X`."""
    n_samples = X.shape[0]
    n_learners = len(weights) if n_learners is None else n_learners

    def fault(text):
        return AssertionError(f"{what}: {text}")

    check_priced(priced, family, n_samples, n_learners, fault)
    bits = np.unpackbits(priced.outputs, axis=1, bitorder="little")
    assert not bits[:, n_samples:].any(), f"{what}: bits after the last example must be 0"
    outputs = priced.learners.outputs(X)
    assert_signs(outputs, (n_samples, n_learners), f"{what}: outputs(X)")
    different = np.flatnonzero((unpack_outputs(priced.outputs, n_samples) != outputs).any(axis=1))
    assert not len(different), (
        f"{what}: price() and outputs(X) disagree on {len(different)} examples, first "
        f"example {different[0]}"
    )
    return outputs


def tolerance(weights) -> np.ndarray:
    """Return a bound on the rounding error of an edge, summed in any order."""
    magnitude = np.abs(weights).sum(axis=-1)
    return 4 * weights.shape[-1] * np.finfo(np.float64).eps * magnitude


def same_arrays(first: WeakLearners, second: WeakLearners) -> bool:
    """Return True if two batches hold the same bits."""
    a, b = first.arrays(), second.arrays()
    return a.keys() == b.keys() and all(
        a[key].dtype == b[key].dtype
        and a[key].shape == b[key].shape
        and a[key].tobytes() == b[key].tobytes()
        for key in a
    )


def answers(family, pricer: Pricer, weights, request=WHOLE) -> list[Priced | Division]:
    """Return what a pricer finds by each method of pricing that the family has."""
    methods = [pricer.price, pricer.price_shared]
    methods += [pricer.divide] if family.capabilities.divides else []
    return [method(weights, request) for method in methods]


def assert_same_answers(family, first, second, what: str) -> None:
    """Assert that two lists of results are equal, bit for bit if the family is deterministic."""
    if not family.capabilities.deterministic:
        return
    for one, other in zip(first, second, strict=True):
        assert same_arrays(one.learners, other.learners), f"{what}: the learners differ"
        for name in ("cells",) if isinstance(one, Division) else ("outputs", "edges"):
            a, b = getattr(one, name), getattr(other, name)
            assert np.array_equal(a, b), f"{what}: the {name} differ, {a} and {b}"


_observed = threading.local()
_installed: list[bool] = []


@contextmanager
def audited(names):
    """Collect the audit events of these names in this thread; the hook, once added, stays."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    _observed.names, _observed.events = names, []
    try:
        yield _observed.events
    finally:
        _observed.events = None


def _hook(event, args):
    events = getattr(_observed, "events", None)
    if events is not None and event in _observed.names:
        events.append(event)
