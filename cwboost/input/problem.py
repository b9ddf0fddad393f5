"""The training data as boosting takes them: checked, sorted by class."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from cwboost.families.discovery import check_capabilities
from cwboost.input.groups import (
    keys_of_groups,
    shared,
)
from cwboost.input.labels import shown
from cwboost.master import RestrictedMaster
from cwboost.support.checks import unmasked
from cwboost.support.lazy import made_once
from cwboost.support.weights import check_total, near_one

LEFT_OUT = 2.0**-100
"""Factor of the weights of examples that a holdout run leaves out: they count nothing, but their
scores are followed."""

CHUNK = 2**17
"""Numbers of a matrix that a checksum takes at a time: they stay in the cache."""

PRODUCT = "sample_weight times class_weight"
"""What messages call the weights of examples, if both are given."""


class Holder:
    """Holds a matrix until it is released, for all who share the holder.

    `y` are the labels of its rows and `groups` their groups, as they were given, None if there are
    none; `keys` are those of the groups.
    """

    def __init__(self, X, y: np.ndarray, groups=None):
        self.X, self.y = X, y
        self.groups = None if groups is None else np.asarray(unmasked(groups))
        self.keys = None if groups is None else keys_of_groups(self.groups, X.shape[0])

    def release(self) -> None:
        self.X = None


@dataclass(frozen=True)
class Problem:
    """Checked training data: the examples of positive weight, sorted by class.

    The examples are the `rows` of the matrix in `holder`, in this order. `y` are indices of
    `classes`, `counts` the numbers of each, `weight` has a mean between 1/2 and 1 and holds the
    class weights, `row_weight` does not, `base`, (n_samples, n_classes), are out-of-sample base
    scores, and `blocks` the numbers of the given splits that test the examples, -1 for none.
    `checksum` is that of all rows and labels that were given, also of those that are split off.
    """

    holder: Holder
    rows: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    row_weight: np.ndarray
    base: np.ndarray | None = None
    blocks: np.ndarray | None = None
    checksum: int = 0

    @made_once
    def groups(self) -> np.ndarray | None:
        """Keys of the examples, equal for those that stay together; None if all are alone."""
        keys = self.holder.keys
        return None if keys is None else shared(keys[self.rows])

    def X(self, at=slice(None)):
        """Return a copy of the examples, or of those at some places."""
        return self.holder.X[self.rows[at]]

    def take(self, at) -> Problem:
        """Return the problem of some of the examples, given in ascending order."""
        return replace(
            self,
            rows=self.rows[at],
            y=self.y[at],
            counts=np.bincount(self.y[at], minlength=len(self.counts)),
            weight=self.weight[at],
            row_weight=self.row_weight[at],
            base=None if self.base is None else self.base[at],
            blocks=None if self.blocks is None else self.blocks[at],
        )

    def without(self, rows) -> Problem:
        """Return the problem in which some examples count nothing, but have scores."""
        weight = self.weight.copy()
        weight[rows] *= LEFT_OUT
        return replace(self, weight=weight)

    def master(self, C: float, n_threads: int, shared: bool = False) -> RestrictedMaster:
        """Return the restricted master of the examples, still without columns."""
        return RestrictedMaster(self.counts, C, self.weight, n_threads, shared, self.base)


def check_groups(keys) -> None:
    """Raise ValueError if the examples of these keys are one group."""
    if (keys == keys[0]).all():
        raise ValueError("groups must hold at least two groups (of positive weight), got 1")


def check_classes(classes) -> None:
    """Raise ValueError if there is one class only."""
    if len(classes) < 2:
        raise ValueError(
            "y must have at least two classes (of positive weight), got 1 class: "
            f"{shown(classes[0])}"
        )


def sort_by_class(X, y, weight, class_weight, groups=None) -> Problem:
    """Return checked examples sorted by class, without those of weight zero."""
    weight = own = np.ones(X.shape[0]) if weight is None else weight
    check_total(weight)
    if class_weight is not None:
        labels, index = np.unique(y, return_inverse=True)
        with np.errstate(over="ignore"):
            totals = np.bincount(index, weight)
            weight = weight * class_factors(class_weight, labels, totals)[index]
        check_total(weight, PRODUCT)
    used = np.flatnonzero(weight > 0)
    classes, encoded = np.unique(y[used], return_inverse=True)
    check_classes(classes)
    holder = Holder(X, y, groups)
    if groups is not None:
        check_groups(holder.keys[used])
    order = np.argsort(encoded, kind="stable")
    rows = used[order]
    weight = near_one(weight[rows])
    return Problem(
        holder=holder,
        rows=rows,
        y=encoded[order].astype(np.int64),
        classes=classes,
        counts=np.bincount(encoded, minlength=len(classes)),
        weight=weight,
        row_weight=weight if class_weight is None else near_one(own[rows]),
        checksum=checksum_of(X, rows, np.bincount(encoded)),
    )


def checksum_of(X, rows, counts) -> int:
    """Return a checksum of a matrix, in any memory order, and of the rows of each class."""
    crc = zlib.crc32(rows.tobytes() + counts.tobytes())
    if sparse.issparse(X):
        for part in (X.data, X.indices, X.indptr):
            crc = zlib.crc32(np.ascontiguousarray(part), crc)
        return crc
    step = max(1, CHUNK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        crc = zlib.crc32(np.ascontiguousarray(X[start : start + step]), crc)
    return crc


def class_factors(class_weight, labels, totals) -> np.ndarray:
    """Return the factor of each label, of which `totals` are the sums of the example weights."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = totals > 0
        mean = totals.sum() / max(1, np.count_nonzero(present))
        return np.divide(mean, totals, out=np.ones(len(totals)), where=present)
    try:
        factors = compute_class_weight(class_weight, classes=labels, y=labels)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict of numbers by label, got "
            f"{class_weight!r}, for the labels {labels.tolist()}"
        ) from error
    wrong = np.flatnonzero(~(np.isfinite(factors) & (factors >= 0)))
    if len(wrong):
        raise ValueError(
            f"class_weight must hold finite numbers >= 0, got {factors[wrong[0]]} for the class "
            f"{shown(labels[wrong[0]])}"
        )
    return factors


def fingerprint(problem: Problem) -> int:
    """Return a checksum of the training data."""
    base = b"" if problem.base is None else problem.base.tobytes()
    parts = problem.rows.tobytes(), problem.counts.tobytes(), problem.weight.tobytes(), base
    return zlib.crc32(b"".join(parts), problem.checksum)


def check_missing(X, family) -> None:
    """Raise ValueError for NaN and infinities in X, unless the family takes missing values."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or family.capabilities.missing_values:
        return
    # One sum looks at all values: it is finite unless one of them is not, or it overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    has_missing = bool(np.isnan(values).any())
    if has_missing or np.isinf(values).any():
        check_capabilities(family, contains="NaN" if has_missing else "infinity")
