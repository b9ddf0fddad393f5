"""What fitted models on codes of expanded features share: rows to codes, and arrays of a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

import numpy as np
from cwboost.plugins.kernel.codes import FeatureCodes
from cwboost.plugins.kernel.expansion import LIMIT, ROWS_AT_ONCE, Expansion
from scipy import sparse

from cwboost import FittedInit, check_arrays

ENTRIES = 2**19
"""Number of kernel values or codes computed at a time, which bounds the memory."""


class FittedOnCodes(FittedInit):
    """Scores of rows that are expanded and rounded to codes.

    Every result has the same bits on any processor, at any number of threads and however rows are
    divided into calls: sums are sums of integers, exact in any order, or have a fixed order.
    """

    def __init__(self, expansion: Expansion, codes: FeatureCodes):
        self.expansion, self.codes = expansion, codes

    @property
    @abstractmethod
    def n_scores(self) -> int:
        """Number of classes; one if there are two, that of the first."""

    @abstractmethod
    def scoring(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function of codes, (n, n_expanded), dtype float32: scores, (n, n_scores)."""

    @property
    def _row_size(self) -> int:
        return len(self.expansion)

    def scores(self, X, n_threads: int = 1) -> np.ndarray:
        scores, scored = np.empty((X.shape[0], self.n_scores)), self.scoring()
        step = max(1, ENTRIES // self._row_size)
        X = X.tocsr() if sparse.issparse(X) else X
        for start in range(0, len(scores), step):
            rows = slice(start, start + step)
            scores[rows] = scored(self.coded(X[rows]))
        return of_every_class(scores)

    def score_rows(self, X, rows, at, scores, n_threads: int = 1) -> None:
        """Write the scores of ``X[rows[at]]`` to ``scores[at]``."""
        # In chunks, since these rows are copied.
        for part in np.array_split(at, 1 + len(at) // ROWS_AT_ONCE):
            scores[part] = self.scores(X[rows[part]], n_threads)

    def coded(self, X) -> np.ndarray:
        """Return the codes of the rows of X, float32."""
        return self.codes(self.expansion(X.toarray() if sparse.issparse(X) else X))

    def to_columns(self, n_features: int) -> sparse.csr_array:
        """Return the matrix that sums expanded features by the column that they are made of."""
        origin = self.expansion.origin
        places = origin, np.arange(len(origin))
        return sparse.csr_array((np.ones(len(origin)), places), (n_features, len(origin)))

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "numeric": self.expansion.numeric,
            "fill": self.expansion.fill,
            "gaps": self.expansion.gaps,
            "level_column": self.expansion.level_column,
            "level_code": self.expansion.level_code,
            "centre": self.codes.centre,
            "scale": self.codes.scale,
        }


def read_arrays(
    arrays: Mapping[str, np.ndarray], n_features: int, own: Mapping
) -> tuple[Expansion, FeatureCodes, list[np.ndarray]]:
    """Return expansion, codes and a model's `own` arrays from those of a file.

    `own` has the dtype, the shape and a rule of each: whether it holds values of a fitted model.
    """
    shapes = {
        "numeric": ("int64", ("numeric",)),
        "fill": ("float64", ("numeric",)),
        "gaps": ("int64", ("gaps",)),
        "level_column": ("int64", ("levels",)),
        "level_code": ("int64", ("levels",)),
        "centre": ("float64", ("expanded",)),
        "scale": ("float64", ("expanded",)),
    }
    shapes |= {name: (dtype, shape) for name, (dtype, shape, _) in own.items()}
    found = dict(zip(shapes, check_arrays(arrays, shapes)))
    expansion = Expansion(*(found[name] for name in list(shapes)[:5]))
    codes = FeatureCodes(found["centre"], found["scale"])
    rules = {
        "numeric": _ascend(expansion.numeric, n_features),
        "fill": (np.abs(expansion.fill) < LIMIT).all(),
        "gaps": _ascend(expansion.gaps, len(expansion.numeric)),
        "level_column": _within(expansion.level_column, n_features),
        "level_code": _within(expansion.level_code, 2**53),
        "centre": len(expansion) == len(codes.centre) > 0
        and (np.abs(codes.centre) <= 2 * LIMIT).all(),
        "scale": (np.abs(codes.scale) <= 1e102).all(),
    }
    rules |= {name: rule(found[name]) for name, (_, _, rule) in own.items()}
    for name, is_right in rules.items():
        if not is_right:
            raise ValueError(f"array {name!r} must hold values of a fitted model")
    return expansion, codes, [found[name] for name in own]


def of_every_class(scores) -> np.ndarray:
    """Return a score of each class, on the last axis; the second of two has minus the first."""
    return np.concatenate([scores, -scores], axis=-1) if scores.shape[-1] == 1 else scores


def _within(places, n: int) -> bool:
    """Return True if places lie in [0, n)."""
    return bool(((places >= 0) & (places < n)).all())


def _ascend(places, n: int) -> bool:
    """Return True if places ascend and lie in [0, n)."""
    return bool((np.diff(places, prepend=-1, append=n) > 0).all())
