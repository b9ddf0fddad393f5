"""The examples as boosting takes them: checked, sorted by class."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight

from cwboost.input.groups import (
    keys_of_groups,
    shared,
)
from cwboost.input.labels import shown
from cwboost.master import RestrictedMaster
from cwboost.support.checks import unmasked
from cwboost.support.lazy import made_once
from cwboost.support.weights import check_total, near_one, size_with_factors

if TYPE_CHECKING:
    from cwboost.input.schema import InputSchema

LEFT_OUT = 2.0**-100
"""Factor of the weights of examples that a holdout run leaves out: they count nothing, but their
scores are followed."""

CHUNK = 2**17
"""Numbers of a matrix that a checksum takes at a time: they stay in the cache."""

PRODUCT = "sample_weight times class_weight"
"""What messages call the weights of examples, if both are given."""


VALID = "valid"
"""Name of the held-out examples that early stopping and the scale of probabilities may use."""


class HeldOut(NamedTuple):
    """Held-out examples: features, class indices, and weights or None.

    Drawn ones stand for others of which the classes have the `masses`; None if they were given.
    `groups` are keys, equal for those that belong together; None if all are alone.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    masses: np.ndarray | None = None
    groups: np.ndarray | None = None


class GivenRows:
    """The rows that were given, held until they are released, for all examples that are of them.

    `X` is the encoded matrix; `y` are the labels and `groups` the groups, as they were given, None
    if there are none; `keys` are those of the groups.
    """

    def __init__(self, X, y: np.ndarray, groups=None):
        self.X, self.y = X, y
        self.groups = None if groups is None else np.asarray(unmasked(groups))
        self.keys = None if groups is None else keys_of_groups(self.groups, X.shape[0])

    def release(self) -> None:
        self.X = None


@dataclass(frozen=True)
class Examples:
    """Training examples: the rows of positive weight, sorted by class; and held-out ones by name.

    They are the `rows` among the `given` ones, in this order, whose columns have a `schema`. `y`
    are indices of `classes`, `counts` the numbers of each, `weight` has a mean between 1/2 and 1
    and holds the class weights, `row_weight` does not, `base`, (n_samples, n_classes), are
    out-of-sample base scores, and `blocks` the numbers of the given splits that test the examples,
    -1 for none. `checksum` is that of all rows and labels that were given, also of those that are
    split off.
    """

    given: GivenRows
    rows: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    row_weight: np.ndarray
    base: np.ndarray | None = None
    blocks: np.ndarray | None = None
    checksum: int = 0
    schema: InputSchema = None  # type: ignore[assignment]  # set by who has read the columns
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)

    @made_once
    def groups(self) -> np.ndarray | None:
        """Keys of the examples, equal for those that stay together; None if all are alone."""
        keys = self.given.keys
        return None if keys is None else shared(keys[self.rows])

    def X(self, at=slice(None)):
        """Return a copy of the examples, or of those at some places."""
        return self.given.X[self.rows[at]]

    def as_new(self, at) -> np.ndarray:
        """Return some examples as new rows: categories that no other example has are gaps."""
        X, others = self.X(at), np.delete(self.rows, at)
        for place in self.schema.categories:
            X[~np.isin(X[:, place], self.given.X[others, place]), place] = np.nan
        return X

    def with_features(self, features) -> Examples:
        """Return the examples with other features, a row for each."""
        rows = np.arange(len(features))
        return replace(self, given=GivenRows(features, self.y), rows=rows)

    def take(self, at) -> Examples:
        """Return some of the examples, given in ascending order."""
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

    def downweighted(self, rows) -> Examples:
        """Return the examples, of which some have next to no weight: they have scores all the same.

        Their weights are multiplied by `LEFT_OUT`.
        """
        factor = np.ones(len(self.y))
        factor[rows] = LEFT_OUT
        return replace(self, weight=factor * self.weight, row_weight=factor * self.row_weight)

    def master(self, C: float, n_threads: int, shared: bool = False) -> RestrictedMaster:
        """Return the restricted master of the examples, still without columns."""
        size = size_with_factors(self.row_weight, self.weight / self.row_weight)
        return RestrictedMaster(self.counts, C, self.weight, n_threads, shared, self.base, size)


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


def sort_by_class(X, y, weight, class_weight, groups=None) -> Examples:
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
    given = GivenRows(X, y, groups)
    if groups is not None:
        check_groups(given.keys[used])
    order = np.argsort(encoded, kind="stable")
    rows = used[order]
    weight = near_one(weight[rows])
    return Examples(
        given=given,
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


def fingerprint(examples: Examples) -> int:
    """Return a checksum of the training data."""
    base = b"" if examples.base is None else examples.base.tobytes()
    parts = examples.rows.tobytes(), examples.counts.tobytes(), examples.weight.tobytes(), base
    return zlib.crc32(b"".join(parts), examples.checksum)
