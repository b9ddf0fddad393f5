"""Sealed pricing: a fault of a family during training raises an error that names the family.

Only `bind_family` binds a family for training. The family gets X read-only, and the examples on
which outputs are checked are copied before. The pricer that is returned passes read-only weights,
checks the form and all edges of every result, and in some rounds computes outputs again from the
learners. That a pricer which claims to be exact misses no learner cannot be checked in general:
exactness is the family's claim.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import metadata
from math import isfinite

import numpy as np
from scipy import sparse

from cwboost._kernels.common.packed_edges import (
    WEAK_EDGE,
    find_false_edge,
    find_false_shared_edge,
)
from cwboost.families.contract import (
    BindContext,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
    WeakLearners,
)
from cwboost.families.flat_forms import ThresholdTrees

__all__ = [
    "FamilyFault",
    "Sample",
    "SealedPricer",
    "alternatives_of",
    "bind_family",
    "certificate",
    "check_forms",
    "check_scores",
    "family_source",
    "read_only",
]

N_CHECKED_ROWS = 128
"""Number of examples on which outputs are computed again."""

CHECK_EVERY = 64
"""Outputs are computed again in calls 1, 2, 4, ... of pricing up to this, then at this interval."""

MOST_OUTPUTS, LEAST_ROWS = 2**16, 16
"""Of many learners, forms are compared on fewer examples than those: on no fewer than this."""

SCORES_SLACK = 1e-9
"""What a score may differ from the sum of outputs, as a fraction of the sum of coefficients."""

LINEAR_SLACK = 1e-5
"""The same of linear features, which families may compute in single precision."""

# An array's dtype is compared with these in a tenth of the time that a scalar type takes.
UINT8, INT8, INT64, FLOAT64 = map(np.dtype, (np.uint8, np.int8, np.int64, np.float64))


class FamilyFault(RuntimeError):
    """A weak-learner family broke its contract during training.

    The message names the family, its distribution and version, the round and what is wrong.
    """


def bind_family(family: WeakLearnerFamily, X, context: BindContext) -> SealedPricer:
    """Bind a family to a training matrix and seal the pricer it returns.

    Parameters
    ----------
    family : WeakLearnerFamily
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        The family gets a view of it that is read-only.
    context : BindContext

    Returns
    -------
    SealedPricer

    Raises
    ------
    FamilyFault
        If `bind` does not return a pricer of this matrix. An exception of `bind` itself gets a
        note that names the family.
    """
    sample = Sample.of(X)
    try:
        pricer = family.bind(read_only(X), context)
    except Exception as error:
        _add_note(error, f"raised by bind of {family_source(family)}")
        raise
    return SealedPricer(pricer, family, sample, context)


@dataclass(frozen=True, eq=False)
class Sample:
    """Copies of some rows of a training matrix, on which what a family says is checked.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features), read-only
    rows : ndarray of shape (n_rows,), dtype int64
        Their places in the training matrix, ascending.
    n_samples : int
        Number of rows of the training matrix.
    """

    X: object
    rows: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, X) -> Sample:
        """Draw `N_CHECKED_ROWS` rows of `X`, always the same ones of a number of rows."""
        n_samples = X.shape[0]
        n = min(n_samples, N_CHECKED_ROWS)
        rows = np.sort(np.random.default_rng(0).choice(n_samples, n, replace=False))
        return cls(read_only(X[rows]), rows, n_samples)


def read_only(X):
    """Return a view of a dense or sparse matrix that cannot be written to; nothing is copied."""
    if not sparse.issparse(X):
        view = X.view()
        view.flags.writeable = False
        return view
    view = copy.copy(X)
    for name in ("data", "indices", "indptr"):
        setattr(view, name, read_only(getattr(X, name)))
    return view


def alternatives_of(family: WeakLearnerFamily, learners=None) -> list[WeakLearnerFamily]:
    """Return what `WeakLearnerFamily.alternatives` does; raise a `FamilyFault` for another type."""
    try:
        found = list(family.alternatives(learners))
    except Exception as error:
        _add_note(error, f"raised by alternatives of {family_source(family)}")
        raise
    for one in found:
        if type(one) is not type(family):
            raise FamilyFault(
                f"{family_source(family)}: alternatives must return instances of "
                f"{type(family).__name__}, got {one!r}"
            )
    return found


class SealedPricer(Pricer):
    """A pricer whose results are checked.

    Parameters
    ----------
    pricer : Pricer
        The result of the family's `bind`.
    family : WeakLearnerFamily
    sample : Sample
        Rows of the training matrix that the pricer is bound to, copied before.
    context : BindContext

    Attributes
    ----------
    sample : Sample
    round : int or None
        Number of the round, which the caller sets for messages; None if it does not.

    Raises
    ------
    FamilyFault
        From every method, if the family breaks its contract.
    """

    def __init__(
        self, pricer: Pricer, family: WeakLearnerFamily, sample: Sample, context: BindContext
    ):
        self.family = family
        self.n_calls = 0
        self.round: int | None = None
        if not isinstance(pricer, Pricer):
            raise self._fault(f"bind must return a Pricer, got {type(pricer).__name__}")
        self.pricer = pricer
        self.sample = sample
        self.n_samples = sample.n_samples
        self._n_bytes = (self.n_samples + 7) // 8
        self._n_threads = context.n_threads
        self.n_targets = context.n_targets
        self._every_target = read_only(np.arange(self.n_targets))
        self.exact = getattr(pricer, "exact", None)
        if type(self.exact) is not bool:
            raise self._fault(f"the pricer's exact must be a bool, got {self.exact!r}")
        n_samples = getattr(pricer, "n_samples", None)
        if n_samples != self.n_samples:
            raise self._fault(f"the pricer's n_samples must be {self.n_samples}, got {n_samples!r}")

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        """See `Pricer.price`; ``target`` of the result is an array."""
        priced = self._call(self.pricer.price, weights, request)
        priced = self._checked(priced, len(weights))
        if self._is_due(priced, request):
            self._check_outputs(priced)
        parts = weights, priced.outputs, priced.edges, priced.target, self.exact, self._n_threads
        self._refuse_edge(find_false_edge(*parts), priced)
        return priced

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        """See `Pricer.price_shared`; ``target`` of the result is an array."""
        priced = self._call(self.pricer.price_shared, weights, request)
        priced = self._checked(priced, 1)
        if len(priced.edges) > 1:
            raise self._fault(f"price_shared must return one learner, got {len(priced.edges)}")
        if self._is_due(priced, request):
            self._check_outputs(priced)
        parts = weights, priced.outputs, priced.edges, self._n_threads
        self._refuse_edge(find_false_shared_edge(*parts), priced)
        return priced

    def certificate(self, bound: float, objective: float) -> dict[str, float]:
        """Return dual bound and gap as the history records them: at most the objective, at least 0.

        A bound from exact pricing cannot exceed the objective by more than rounding, since no
        coefficients of learners of the family have a smaller objective. `FamilyFault` is raised
        if it does.
        """
        return certificate(bound, objective, self._fault)

    def _call(self, method: Callable, weights, request) -> Priced:
        self.n_calls += 1
        try:
            return method(read_only(weights), request)
        except Exception as error:
            _add_note(error, f"raised by {self._where()}")
            raise

    def _checked(self, priced, n_targets: int) -> Priced:
        """Check the form of a result; return it with its targets written out."""
        if not isinstance(priced, Priced):
            raise self._fault(f"pricing must return a Priced, got {type(priced).__name__}")
        learners, outputs, edges, target = (
            priced.learners,
            priced.outputs,
            priced.edges,
            priced.target,
        )
        wanted = self.family.learners_type
        # The first test takes a third of the time of the second, for abstract classes.
        if type(learners) is not wanted and not isinstance(learners, wanted):
            raise self._fault(f"learners must be {wanted.__name__}, got {type(learners).__name__}")
        n = len(learners)
        if target is None:
            if n != n_targets:
                raise self._fault(f"expected {n_targets} learners, one per target, got {n}")
            target = self._every_target if n == self.n_targets else self._every_target[:n]
        else:
            self._check_target(target, n, n_targets)
        self._check_array("outputs", outputs, UINT8, (n, self._n_bytes))
        if not outputs.flags.c_contiguous:
            raise self._fault("outputs must be C-contiguous")
        self._check_array("edges", edges, FLOAT64, (n,))
        # A finite sum of squares has finite terms, in a third of the time of isfinite().all().
        if not isfinite(edges.dot(edges)) and not np.isfinite(edges).all():
            raise self._fault(f"edges must be finite, got {edges}")
        return Priced(learners, outputs, edges, target)

    def _check_array(self, name: str, array, dtype, shape) -> None:
        if not isinstance(array, np.ndarray):
            raise self._fault(f"{name} must be an ndarray, got {type(array).__name__}")
        if array.dtype != dtype or array.shape != shape:
            raise self._fault(
                f"{name} must have dtype {dtype} and shape {shape}, got {array.dtype} "
                f"and {array.shape}"
            )

    def _check_target(self, target, n: int, n_targets: int) -> None:
        self._check_array("target", target, INT64, (n,))
        ascends = n == 0 or (target[0] >= 0 and target[-1] < n_targets)
        if not ascends or (target[1:] < target[:-1]).any():
            raise self._fault(f"target must ascend within 0..{n_targets - 1}, got {target}")

    def _is_due(self, priced: Priced, request: PricingRequest) -> bool:
        """Return True in some rounds, and always if nothing pays, since that ends training."""
        n = self.n_calls
        if n % CHECK_EVERY == 0 or (n < CHECK_EVERY and n & (n - 1) == 0):
            return True
        return not max(priced.edges.tolist(), default=-np.inf) > request.min_edge

    def _refuse_edge(self, fault, priced: Priced) -> None:
        """Raise a `FamilyFault` for what `find_false_edge` has found, if it is not None."""
        if fault is None:
            return
        kind, j, edge = fault
        reported, of = float(priced.edges[j]), f"for target {priced.target[j]}"
        if kind == WEAK_EDGE:
            raise self._fault(
                f"the pricer claims to be exact, but the best learner {of} has the edge "
                f"{reported!r}, a constant has {edge!r}"
            )
        raise self._fault(
            f"learner {j}, {of}, has the edge {edge!r} by its outputs, {reported!r} was reported"
        )

    def _check_outputs(self, priced: Priced) -> None:
        """Compute the outputs on the sample once more."""
        rows = self.sample.rows
        packed = priced.outputs[:, rows >> 3] >> (rows & 7).astype(np.uint8) & 1
        signs = (2 * packed.astype(np.int8) - 1).T
        outputs = self._outputs(priced.learners, self.sample.X)
        self._check_array("what outputs(X) returns", outputs, INT8, signs.shape)
        different = np.argwhere(outputs != signs)
        if len(different):
            i, j = different[0]
            raise self._fault(
                f"learner {j}, for target {priced.target[j]}, was priced with the output "
                f"{signs[i, j]} on example {rows[i]}, its method outputs says {outputs[i, j]}"
            )

    def _outputs(self, learners, X) -> np.ndarray:
        try:
            return learners.outputs(X)
        except Exception as error:
            _add_note(error, f"raised by outputs of {self._where()}")
            raise

    def _where(self) -> str:
        when = f"call {self.n_calls} of pricing" if self.round is None else f"round {self.round}"
        return f"{family_source(self.family)}, {when}"

    def _fault(self, what: str) -> FamilyFault:
        return FamilyFault(f"{self._where()}: {what}")


def check_forms(learners: WeakLearners, family: WeakLearnerFamily, X, coef=None) -> None:
    """Compare the flat form and the scorer of learners with their outputs on some examples.

    Training uses the outputs; predictions, explanations and exports use the other two.

    Parameters
    ----------
    learners : WeakLearners
    family : WeakLearnerFamily
        The family of the learners, which messages name.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Such as `SealedPricer.sample`.X.
    coef : ndarray or csr_array of shape (len(learners), n_scores), or None, default=None
        The coefficients of a model; None takes small whole numbers.

    Raises
    ------
    FamilyFault
        If they differ, or are not what the contract says. An exception of a method itself gets a
        note that names the family.
    """
    fault = partial(_fault_of, family)
    n_rows = max(LEAST_ROWS, MOST_OUTPUTS // max(1, len(learners)))
    X = X[:: max(1, X.shape[0] // n_rows)]
    outputs = _noted(family, "outputs", learners.outputs, X)
    shape = X.shape[0], len(learners)
    if not isinstance(outputs, np.ndarray) or (outputs.dtype, outputs.shape) != (INT8, shape):
        raise fault(f"outputs must return int8 of shape {shape}, got {_described(outputs)}")
    flat = _noted(family, "flat_form", learners.flat_form)
    if flat is not None:
        if not isinstance(flat, ThresholdTrees) or len(flat) != len(learners):
            raise fault(
                f"flat_form must return ThresholdTrees, one tree per learner ({len(learners)}), or "
                f"None, got {type(flat).__name__}"
            )
        wrong = np.argwhere(_differs(flat, X, outputs))
        if len(wrong):
            i, j = wrong[0]
            raise fault(
                f"the flat form of learner {j} differs from its outputs: on an example of the "
                f"training matrix outputs says {outputs[i, j]}"
            )
    if coef is None:
        numbers = np.random.default_rng(0).integers(-3, 4, size=(len(learners), 2))
        coef = numbers.astype(np.float64)
    coef = sparse.csr_array(coef, dtype=np.float64)
    scorer = _noted(family, "scorer", learners.scorer, coef)
    shape = X.shape[0], coef.shape[1]
    scores = check_scores(_noted(family, "scorer", scorer, X), family, shape)
    expected = outputs.astype(np.float64) @ coef
    # The tiny number lets coefficients differ that are not normal numbers.
    allowed = SCORES_SLACK * np.asarray(np.abs(coef).sum(axis=0)).ravel() + np.finfo(float).tiny
    wrong = np.argwhere(np.abs(scores - expected) > allowed)
    if len(wrong):
        i, k = wrong[0]
        raise fault(
            f"the scorer differs from the outputs: score {k} of an example of the training matrix "
            f"is {float(scores[i, k])!r}, the outputs times the coefficients give "
            f"{float(expected[i, k])!r}"
        )


def _differs(flat: ThresholdTrees, X, outputs) -> np.ndarray:
    """Return where trees give other outputs; not where a linear feature is next to a threshold."""
    if flat.directions is None:
        return flat.outputs(X) != outputs
    trees = replace(flat, directions=None, mean=None)
    n_features = X.shape[1]
    mean = np.zeros(n_features) if flat.mean is None else flat.mean
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    with np.errstate(all="ignore"):
        linear = (rows - mean) @ flat.directions
        slack = LINEAR_SLACK * ((np.abs(rows) + np.abs(mean)) @ np.abs(flat.directions))
        differs = [trees.outputs(z) != outputs for z in (linear, linear - slack, linear + slack)]
    return np.logical_and.reduce(differs) & np.isfinite(linear + slack).all(axis=1, keepdims=True)


def check_scores(scores, family: WeakLearnerFamily, shape: tuple[int, int]) -> np.ndarray:
    """Return scores that a scorer of a family has computed, if they are finite float64 numbers.

    Raises
    ------
    FamilyFault
        If they are not, or have another shape.
    """
    if not isinstance(scores, np.ndarray) or (scores.dtype, scores.shape) != (FLOAT64, shape):
        raise _fault_of(
            family, f"scorer must return float64 of shape {shape}, got {_described(scores)}"
        )
    # A finite sum has finite terms, at a fraction of the cost.
    with np.errstate(over="ignore", invalid="ignore"):
        if isfinite(scores.sum()):
            return scores
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        i, k = wrong[0]
        raise _fault_of(family, f"score {k} of example {i} must be finite, got {scores[i, k]}")
    return scores


def _fault_of(family: WeakLearnerFamily, what: str) -> FamilyFault:
    return FamilyFault(f"{family_source(family)}: {what}")


def _noted(family: WeakLearnerFamily, name: str, method: Callable, *arguments):
    """Call a method of learners; an exception gets a note that names the family."""
    try:
        return method(*arguments)
    except Exception as error:
        _add_note(error, f"raised by {name} of {family_source(family)}")
        raise


def _described(value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


def certificate(bound: float, objective: float, fault: Callable) -> dict[str, float]:
    """Return dual bound and gap as `SealedPricer.certificate` does.

    Parameters
    ----------
    bound, objective : float
    fault : callable
        Maps a message to the error that is raised.
    """
    if bound > objective + 1e-9 * abs(objective):
        raise fault(
            f"the pricer claims to be exact, but the dual bound {bound!r} that follows from its "
            f"edges lies above the objective {objective!r}: it missed a learner of greater edge"
        )
    bound = objective if bound > objective else bound
    return {"dual_bound": bound, "gap": objective - bound}


def family_source(family: WeakLearnerFamily) -> str:
    """Return the family's name with the distribution and version that its class comes from."""
    module = type(family).__module__
    top = module.partition(".")[0]
    changed = [os.stat(entry).st_mtime_ns for entry in sys.path if os.path.exists(entry)]
    owners = _distributions(*sys.path, *changed).get(top, [])
    source = " or ".join(f"{owner} {metadata.version(owner)}" for owner in sorted(set(owners)))
    return f"weak learner {type(family).name!r} ({source or f'module {module}, not installed'})"


@lru_cache(maxsize=1)
def _distributions(*_path) -> dict[str, list[str]]:
    """Return the distributions of each top-level module, for one state of ``sys.path``.

    Python reads the metadata of every distribution for this, which takes most of a second.
    """
    return dict(metadata.packages_distributions())


def _add_note(error: BaseException, note: str) -> None:
    """Add a note to an exception; in Python 3.10, which lacks `add_note`, extend its args."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    elif error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\n{note}", *error.args[1:])
    else:
        error.args = (*error.args, note)
