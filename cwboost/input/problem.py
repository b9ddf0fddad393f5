"""The training data as boosting takes them: checked, without copies, sorted by class."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from cwboost.families.discovery import check_capabilities
from cwboost.input.groups import MULTIPLIER, keys_of, keys_of_rows, mixed, repeat_few
from cwboost.input.labels import shown
from cwboost.master import RestrictedMaster
from cwboost.support.checks import unmasked
from cwboost.support.lazy import made_once
from cwboost.support.weights import check_total, near_one

LEFT_OUT = 2.0**-100
"""Factor of the weights of examples that a holdout run leaves out: they count nothing, but their
scores are followed."""

PRODUCT = "sample_weight times class_weight"
"""What messages call the weights of examples, if both are given."""


class Holder:
    """Holds a matrix until it is released, for all who share the holder.

    `groups` are the groups of its rows as they were given, None if there are none.
    """

    def __init__(self, X, groups: np.ndarray | None = None):
        self.X, self.groups = X, groups

    @made_once
    def keys(self) -> np.ndarray:
        """A key per row, equal in a group; without groups, equal rows are one."""
        return keys_of(self.X, self.groups)

    def release(self) -> None:
        self.X = None
        self.__dict__.pop("keys", None)


@dataclass(frozen=True)
class Problem:
    """Checked training data: distinct examples of positive weight, sorted by class.

    Equal rows of one class and group are one example, which has the sum of their weights, unless
    many rows repeat few. The examples are the `rows` of the matrix in `holder`, in this order. `y`
    are indices of `classes`, `counts` the numbers of each, `weight` has a mean between 1/2 and 1,
    `base`, (n_samples, n_classes), are out-of-sample base scores, and `blocks` the numbers of the
    given splits that test the examples, -1 for none. `checksum` is that of all rows and labels that
    were given, also of those that are split off, in any order.
    """

    holder: Holder
    rows: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    base: np.ndarray | None = None
    blocks: np.ndarray | None = None
    checksum: int = 0

    @made_once
    def groups(self) -> np.ndarray | None:
        """Keys of the examples, equal for those that stay together; None if all are alone."""
        return keys_if_shared(self.holder.keys[self.rows])

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


def keys_if_shared(keys) -> np.ndarray | None:
    """Return keys of examples, None if they are distinct."""
    in_order = np.sort(keys)
    return keys if (in_order[1:] == in_order[:-1]).any() else None


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
    weight = np.ones(X.shape[0]) if weight is None else weight
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
    holder = Holder(X, None if groups is None else np.asarray(unmasked(groups)))
    if groups is not None:
        check_groups(holder.keys[used])
    order, weight, checksum = _distinct(holder, used, encoded, weight[used])
    encoded = encoded[order]
    return Problem(
        holder=holder,
        rows=used[order],
        y=encoded.astype(np.int64),
        classes=classes,
        counts=np.bincount(encoded, minlength=len(classes)),
        weight=near_one(weight),
        checksum=checksum,
    )


def _distinct(holder: Holder, rows, y, weight) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the places of distinct examples among some rows, by class, weights and checksum."""
    keys = holder.keys if holder.groups is None else keys_of_rows(holder.X) ^ holder.keys
    same = keys[rows] + y.astype(np.uint64)
    distinct, first, which = np.unique(same, return_index=True, return_inverse=True)
    if holder.groups is None and repeat_few(keys[rows], distinct, len(rows)):
        holder.keys = np.arange(len(keys), dtype=np.uint64)
        first = which = np.arange(len(rows))
    order = np.sort(first)
    order = order[np.argsort(y[order], kind="stable")]
    return order, np.bincount(which, weight)[which[order]], checksum_of(distinct)


def checksum_of(keys) -> int:
    """Return the checksum of distinct examples, by their keys, in any order."""
    return int(mixed(keys, MULTIPLIER).sum())


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
    X = problem.X()
    parts = (X.data, X.indices, X.indptr) if hasattr(X, "indptr") else (X,)
    base = b"" if problem.base is None else problem.base.tobytes()
    crc = zlib.crc32(problem.weight.tobytes() + problem.counts.tobytes() + base)
    for part in parts:
        crc = zlib.crc32(np.ascontiguousarray(part).data, crc)
    return crc


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
