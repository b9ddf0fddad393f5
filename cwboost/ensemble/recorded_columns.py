"""Which learner stands behind each column of the restricted master."""

from typing import NamedTuple

import numpy as np


class Changes(NamedTuple):
    """Coefficients that differ from their last recorded values, one entry per coefficient.

    ``before`` holds the recorded values, NaN for a new column. `offset`, (n_scores,), is what the
    scores of every example change by besides, None for nothing.
    """

    places: np.ndarray
    ids: np.ndarray
    classes: np.ndarray
    values: np.ndarray
    before: np.ndarray
    offset: np.ndarray | None = None


class RecordedColumns:
    """The learner behind each column, and the coefficient that the model last recorded for it."""

    def __init__(self, n_classes: int):
        self._ids = np.zeros((n_classes, 16), dtype=np.int64)
        self._recorded = np.zeros((n_classes, 16))

    def assign(self, classes, rows, ids, width: int) -> None:
        """Say which learners stand behind new columns, ``rows[k]`` of class ``classes[k]``.

        `width` is the number of columns per class that the coefficient matrix has room for.
        """
        missing = width - self._ids.shape[1]
        if missing > 0:
            self._ids = np.pad(self._ids, ((0, 0), (0, missing)))
            self._recorded = np.pad(self._recorded, ((0, 0), (0, missing)))
        # NaN is not a coefficient, so that the round records the column even if it stays at zero.
        self._recorded[classes, rows] = np.nan
        self._ids[classes, rows] = ids

    def share(self, row: int, learner: int) -> None:
        """Say that a learner stands behind column `row` of every class."""
        self._ids[:, row] = learner

    def changes(self, coef) -> Changes:
        """Return what differs in a coefficient matrix from what `record` last took."""
        recorded = self._recorded
        places = (coef != recorded).ravel().nonzero()[0]
        of_places = self._ids.take(places), places // coef.shape[1]
        return Changes(places, *of_places, coef.take(places), recorded.take(places))

    def record(self, changes: Changes) -> None:
        """Take the values of `changes` as recorded."""
        self._recorded.put(changes.places, changes.values)

    def record_all(self, coef) -> None:
        """Take a whole coefficient matrix as recorded."""
        self._recorded[:] = coef
