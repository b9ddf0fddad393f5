"""Binding of families, and pricers whose results are checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cwboost._kernels.common.packed_edges import (
    WEAK_EDGE,
    find_false_edge,
    find_false_shared_edge,
)
from cwboost.families.contract import (
    BindContext,
    Divider,
    Division,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
)
from cwboost.families.sealing.faults import FamilyFault, check_array, family_source, noted
from cwboost.families.sealing.sample import Sample, read_only

CHECK_EVERY = 64
"""Outputs are computed again in calls 1, 2, 4, ... of pricing up to this, then at this interval."""

# An array's dtype is compared with these in a tenth of the time that a scalar type takes.
UINT8, INT8, INT32, FLOAT64 = map(np.dtype, (np.uint8, np.int8, np.int32, np.float64))


def bind_family(
    family: WeakLearnerFamily, X, context: BindContext, rows=None, weight=None, whole=False
) -> SealedPricer:
    """Bind a family to a read-only view of a training matrix, and seal its pricer.

    The examples are those of `rows`, in this order; None takes all. By `weight`, None for ones,
    some are drawn on which the results are checked. If `whole`, every call is checked on all.
    """
    n_samples = X.shape[0] if rows is None else len(rows)
    sample = Sample(X, rows, weight, n_samples) if whole else Sample(X, rows, weight)

    def where():
        return f"bind of {family_source(family)}"

    if rows is None:
        pricer = noted(where, family.bind, read_only(X), context)
    else:
        pricer = noted(where, family.bind_rows, read_only(X), read_only(rows), context)
    return SealedPricer(pricer, family, sample, context, whole)


def candidates_of(family: WeakLearnerFamily, size: float) -> list[WeakLearnerFamily]:
    """Return the checked candidates of a family, see `WeakLearnerFamily.candidates`."""
    candidates = list(
        noted(lambda: f"candidates of {family_source(family)}", family.candidates, size)
    )
    for candidate in candidates:
        if type(candidate) is not type(family) or candidate.capabilities != family.capabilities:
            raise FamilyFault(
                f"{family_source(family)}: candidates must be of its kind and capabilities, got "
                f"{candidate!r}"
            )
    return candidates


class SealedPricer(Pricer, Divider):
    """A pricer whose results are checked; a breach of the contract raises `FamilyFault`.

    `sample` has rows of the training matrix, copied before `family` was bound. If `whole`, they are
    all rows, and every call is checked by them. The caller may set `round`, the number of the
    round, for messages, and `least_edge`, above which a learner pays.
    """

    def __init__(
        self,
        pricer: Pricer,
        family: WeakLearnerFamily,
        sample: Sample,
        context: BindContext,
        whole: bool = False,
    ):
        self.whole = whole
        self.family = family
        self.n_calls = 0
        self.round: int | None = None
        self.least_edge = 0.0
        if not isinstance(pricer, Pricer):
            raise self.fault(f"bind must return a Pricer, got {type(pricer).__name__}")
        if family.capabilities.divides and not isinstance(pricer, Divider):
            kind = type(pricer).__name__
            raise self.fault(f"the pricer of a family that divides must be a Divider, got {kind}")
        self.pricer = pricer
        self.sample = sample
        self.n_samples = sample.n_samples
        self.n_threads = context.n_threads
        self.n_targets = context.n_targets
        self.exact = getattr(pricer, "exact", None)
        if type(self.exact) is not bool:
            raise self.fault(f"the pricer's exact must be a bool, got {self.exact!r}")
        n_samples = getattr(pricer, "n_samples", None)
        if n_samples != self.n_samples:
            raise self.fault(f"the pricer's n_samples must be {self.n_samples}, got {n_samples!r}")

    def price(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        """See `Pricer.price`."""
        priced = self._checked(self.pricer.price, weights, request, len(weights))
        no_less = self.exact or self.whole
        fault = find_false_edge(weights, priced.outputs, priced.edges, no_less, self.n_threads)
        self._refuse_edge(fault, priced)
        return priced

    def price_shared(self, weights, request: PricingRequest = PricingRequest()) -> Priced:
        """See `Pricer.price_shared`."""
        priced = self._checked(self.pricer.price_shared, weights, request, 1)
        fault = find_false_shared_edge(weights, priced.outputs, priced.edges, self.n_threads)
        self._refuse_edge(fault, priced)
        return priced

    def divide(self, weights, request: PricingRequest = PricingRequest()) -> Division:
        """See `Divider.divide`."""
        self.n_calls += 1
        division = noted(self._where, self.pricer.divide, read_only(weights), request)
        check_division(division, self.family.learners_type, self.n_samples, self.fault)
        if self._is_due():
            self._check_cells(division)
        return division

    def rebound(self, family: WeakLearnerFamily, context: BindContext) -> SealedPricer | None:
        """See `Pricer.rebound`."""
        pricer = noted(self._where, self.pricer.rebound, family, context)
        if pricer is None:
            return None
        return SealedPricer(pricer, family, self.sample, context, self.whole)

    def _checked(self, method, weights, request, n_targets: int) -> Priced:
        """Call a method of pricing; check the form of its result, and the outputs if it is due."""
        self.n_calls += 1
        result = noted(self._where, method, read_only(weights), request)
        priced = check_priced(result, self.family, self.n_samples, n_targets, self.fault)
        # If nothing pays, training ends.
        pays = max(priced.edges.tolist()) > self.least_edge
        if self._is_due() or not pays:
            self._check_outputs(priced)
        return priced

    def _is_due(self) -> bool:
        """Return True in the rounds in which outputs are computed again."""
        n = self.n_calls
        return self.whole or n % CHECK_EVERY == 0 or (n < CHECK_EVERY and n & (n - 1) == 0)

    def _refuse_edge(self, fault, priced: Priced) -> None:
        """Raise a `FamilyFault` for what `find_false_edge` has found, if it is not None."""
        if fault is None:
            return
        kind, j, edge = fault
        reported = float(priced.edges[j])
        if kind == WEAK_EDGE:
            claim = "the pricer claims to be exact, but " if self.exact else ""
            raise self.fault(
                f"{claim}the best learner for target {j} has the edge {reported!r}, a constant has "
                f"{edge!r}"
            )
        raise self.fault(
            f"learner {j} has the edge {edge!r} by its outputs, {reported!r} was reported"
        )

    def _check_outputs(self, priced: Priced) -> None:
        """Compute the outputs on the sample once more."""
        rows = self.sample.rows
        if self.n_samples % 8 and (priced.outputs[:, -1] >> self.n_samples % 8).any():
            raise self.fault("bits of packed outputs after the last example must be 0")
        packed = priced.outputs[:, rows >> 3] >> (rows & 7).astype(np.uint8) & 1
        signs = (2 * packed.astype(np.int8) - 1).T
        outputs = noted(
            lambda: f"outputs of {self._where()}", priced.learners.outputs, self.sample.X
        )
        check_array("what outputs(X) returns", outputs, INT8, signs.shape, self.fault)
        different = np.argwhere(outputs != signs)
        if len(different):
            i, j = different[0]
            raise self.fault(
                f"learner {j} was priced with the output "
                f"{signs[i, j]} on example {rows[i]}, its method outputs returns {outputs[i, j]}"
            )

    def _check_cells(self, division: Division) -> None:
        """Compute the cells on the sample once more."""
        known = division.cells[self.sample.rows, None]
        cells = noted(lambda: f"cells of {self._where()}", division.learners.cells, self.sample.X)
        check_array("what cells(X) returns", cells, INT32, known.shape, self.fault)
        different = np.flatnonzero(cells != known)
        if len(different):
            i = different[0]
            raise self.fault(
                f"example {self.sample.rows[i]} is in cell {known[i, 0]} of the division, its "
                f"learner's method cells returns {cells[i, 0]}"
            )

    def _where(self) -> str:
        when = f"call {self.n_calls} of pricing" if self.round is None else f"round {self.round}"
        return f"{family_source(self.family)}, {when}"

    def fault(self, what: str) -> FamilyFault:
        """Return the error for a result that breaks the contract."""
        return FamilyFault(f"{self._where()}: {what}")


def check_priced(
    priced, family: WeakLearnerFamily, n_samples: int, n_targets: int, fault
) -> Priced:
    """Check the form of a result of pricing; return it with contiguous edges.

    `fault` maps a message to the error that is raised.
    """
    if not isinstance(priced, Priced):
        raise fault(f"pricing must return a Priced, got {type(priced).__name__}")
    learners, outputs, edges = priced.learners, priced.outputs, priced.edges
    check_learners(learners, edges, family, n_targets, fault)
    check_array("outputs", outputs, UINT8, (len(learners), (n_samples + 7) // 8), fault)
    if not outputs.flags.c_contiguous:
        raise fault("outputs must be C-contiguous")
    return Priced(learners, outputs, np.ascontiguousarray(edges))


def check_learners(learners, edges, family, n_targets, fault) -> None:
    """Check priced learners and their edges; see `check_priced`."""
    kind = family.learners_type
    if not isinstance(learners, kind):
        raise fault(f"learners must be {kind.__name__}, got {type(learners).__name__}")
    n = len(learners)
    if n != n_targets:
        raise fault(f"learners must be {n_targets}, one per target, got {n}")
    check_array("edges", edges, FLOAT64, (n,), fault)
    if not np.isfinite(edges).all():
        raise fault(f"edges must be finite, got {edges}")


def check_division(division, learners_type: type, n_samples: int, fault) -> None:
    """Check the form of a division: kernels count on its cells.

    `fault` maps a message to the error that is raised.
    """
    if not isinstance(division, Division):
        raise fault(f"divide must return a Division, got {type(division).__name__}")
    learners, cells, n_cells = division.learners, division.cells, division.n_cells
    if not isinstance(learners, learners_type) or len(learners) != 1:
        raise fault(f"learners must be one of {learners_type.__name__}, got {learners!r}")
    check_array("cells", cells, INT32, (n_samples,), fault)
    if not cells.flags.c_contiguous:
        raise fault("cells must be C-contiguous")
    # As unsigned numbers, negative ones are too large.
    largest = cells.view(np.uint32).max(initial=0)
    if n_cells < 1 or largest >= n_cells:
        raise fault(f"cells must be below n_cells, {n_cells}, got {largest}")


def certificate(bound: float, objective: float, fault: Callable) -> dict[str, float]:
    """Return dual bound and gap as the history records them: at most the objective, at least 0.

    A bound from exact pricing exceeds the objective by no more than rounding, since no coefficients
    have a smaller one. If it does, what `fault` makes of a message is raised.
    """
    if bound > objective + 1e-9 * abs(objective):
        raise fault(
            f"the pricer claims to be exact, but the dual bound {bound!r} that follows from its "
            f"edges lies above the objective {objective!r}: it missed a learner of greater edge"
        )
    bound = objective if bound > objective else bound
    return {"dual_bound": bound, "gap": objective - bound}
