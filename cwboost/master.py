"""The restricted master: columns, coefficients, and what follows from them.

Over the columns found so far, with q = p / C and p = (n_classes - 1) sum of example weights:

    min over coef >= 0 of   sum coef + (1/q) sum over pairs of mu              (eq. mcg-exp2)

The pair weights live in `PairWeights` as the matrix R, a row a class. From R come the edges of
columns, hence violations (eq. vio) and, scaled into the feasible set, a point of the dual
(eq. mcg-exp-dual) whose value bounds the optimum from below.
"""

from __future__ import annotations

import numpy as np

from cwboost._kernels.fcd import PairWeights

__all__ = ["ColumnSet", "RestrictedMaster", "largest"]

REBUILD_EVERY = 64
"""Solves after which the pair weights are formed anew from the columns, to end rounding drift."""


def largest(values_by_class) -> float:
    """The largest number in a list of arrays, zero where there is none."""
    return max((float(values.max()) for values in values_by_class if values.size), default=0.0)


class ColumnSet:
    """Outputs of columns as packed bits, in the order of their arrival, none twice.

    Parameters
    ----------
    n_bytes : int
        Bytes of bits a column.
    """

    def __init__(self, n_bytes: int):
        self._store = np.empty((16, n_bytes), dtype=np.uint8)
        self._rows_of_hash: dict[int, list[int]] = {}
        self.n_columns = 0

    @property
    def bits(self) -> np.ndarray:
        """Packed outputs, shape (n_columns, n_bytes)."""
        return self._store[: self.n_columns]

    def add(self, bits) -> tuple[int, bool]:
        """Store a column unless an equal one is there: its row, and whether it is new."""
        rows = self._rows_of_hash.setdefault(hash(bits.tobytes()), [])
        for row in rows:
            if np.array_equal(self._store[row], bits):
                return row, False
        if self.n_columns == len(self._store):
            self._store = np.concatenate([self._store, np.empty_like(self._store)])
        row = self.n_columns
        self._store[row] = bits
        rows.append(row)
        self.n_columns += 1
        return row, True


class RestrictedMaster:
    """The restricted master problem over examples that are sorted by class.

    Parameters
    ----------
    counts : array-like of shape (n_classes,), int
        Examples of each class; the examples come class after class.
    C : float
        Weight of the loss against the sum of the coefficients.
    example_weight : ndarray of shape (n_samples,), float64, positive, or None
        Multiplies the loss of an example's pairs; None for ones.
    n_threads : int, default=1
    shared : bool, default=False
        Every class has the same columns (MultiBoost): one `ColumnSet` serves all.

    Attributes
    ----------
    coef : list of n_classes ndarrays of shape (n_c,), float64
    coef_matrix : ndarray of shape (n_classes, capacity), float64
        The same, a row a class, zero behind the columns of the class.
    q : float
        p / C: the edge (unscaled) at which a column starts to pay.
    """

    def __init__(self, counts, C, example_weight=None, n_threads=1, shared=False):
        counts = np.asarray(counts, dtype=np.int64)
        if example_weight is None:
            example_weight = np.ones(counts.sum())
        self.n_classes = len(counts)
        self.q = (self.n_classes - 1) * float(example_weight.sum()) / C
        self.pairs = PairWeights(counts, example_weight, self.q, n_threads)
        if shared:
            self.columns = [ColumnSet(self.pairs.n_bytes)] * self.n_classes
        else:
            self.columns = [ColumnSet(self.pairs.n_bytes) for _ in range(self.n_classes)]
        self.coef_matrix = np.zeros((self.n_classes, 16))
        self.solves_since_rebuild = 0
        self._edges = None

    @property
    def weights(self) -> np.ndarray:
        """R, the signed weights that pricing takes: shape (n_classes, n_samples), a view."""
        return self.pairs.weights

    @property
    def bits(self) -> list[np.ndarray]:
        """Packed outputs of the columns of each class."""
        return [columns.bits for columns in self.columns]

    @property
    def coef(self) -> list[np.ndarray]:
        """Coefficients of each class; views that solvers change in place."""
        return [coef[: columns.n_columns] for coef, columns in zip(self.coef_matrix, self.columns)]

    @property
    def n_errors(self) -> int:
        """Training examples whose largest score is not that of their class."""
        return self.pairs.n_errors

    @property
    def objective(self) -> float:
        """Value of the restricted master at the present coefficients."""
        return float(self.coef_matrix.sum()) + self.pairs.loss / self.q

    def add(self, c: int, bits) -> tuple[int, bool]:
        """Add a column to class `c` (to all, where columns are shared): its row, and if it is new.

        A new column starts at coefficient zero. One whose outputs are there already is not
        stored again.
        """
        row, new = self.columns[c].add(bits)
        if new:
            self._edges = None
            if row >= self.coef_matrix.shape[1]:
                self.coef_matrix = np.hstack([self.coef_matrix, np.zeros_like(self.coef_matrix)])
        return row, new

    def edges(self) -> list[np.ndarray]:
        """sum_i r_c(i) h(i) / q of every column: one minus the derivative of the objective."""
        if self._edges is None:
            self._edges = [edge / self.q for edge in self.pairs.edges(self.bits)]
        return self._edges

    def violations(self) -> list[np.ndarray]:
        """How far each coefficient is from its optimality condition (eq. vio), in units of 1."""
        return [
            np.where(coef > 0.0, np.abs(1.0 - edge), np.maximum(edge - 1.0, 0.0))
            for coef, edge in zip(self.coef, self.edges())
        ]

    def dual_bound(self, best_edge: float) -> float:
        """A lower bound on the optimum over every column whose edge is at most `best_edge`.

        Parameters
        ----------
        best_edge : float
            Largest edge over the columns the bound is to cover, as priced on `weights`, divided
            by q. With exact pricing these are all weak learners of the family.

        Notes
        -----
        lambda = t mu / q with t = 1 / max(1, best_edge) satisfies every edge constraint. With
        lambda log-linear in the margin its dual value needs no logarithm of a pair:
        (t / q) (sum mu gamma + (1 - log t) sum mu).
        """
        t = 1.0 / max(1.0, best_edge)
        return t / self.q * (self.pairs.margins + (1.0 - np.log(t)) * self.pairs.loss)

    def update_layer(self, rows, step: float = 1.0, n_sweeps: int = 1) -> None:
        """Update one column a class on their joint-sign tables.

        Parameters
        ----------
        rows : sequence of n_classes ints
            The column of each class, -1 for none.
        step : float, default=1.0
            Shrinkage of each move.
        n_sweeps : int, default=1
            Sweeps in the order of the classes; one is the first pass of Algorithm 2.
        """
        layer = [
            columns.bits[row] if row >= 0 else None for columns, row in zip(self.columns, rows)
        ]
        present = np.flatnonzero(np.asarray(rows) >= 0)
        cells = present, np.asarray(rows)[present]
        start = np.zeros(self.n_classes)
        start[present] = self.coef_matrix[cells]
        moved = self.pairs.update_layer(layer, start, step, n_sweeps)
        self.coef_matrix[cells] = np.maximum(start + moved, 0.0)[present]
        self._edges = None

    def update_coordinates(self, classes, rows) -> None:
        """Update single coordinates, one after the other: column ``rows[u]`` of ``classes[u]``."""
        self.pairs.update_coordinates(classes, rows, self.bits, self.coef)
        self._edges = None

    def set_coef(self, coef) -> None:
        """Set all coefficients, a list of n_classes arrays, and form the pair weights anew.

        Raises
        ------
        OverflowError
            If the coefficients give a pair weight that is not finite; nothing is changed then.
        """
        previous = [values.copy() for values in self.coef]
        for target, values in zip(self.coef, coef):
            target[:] = values
        try:
            self.rebuild()
        except OverflowError:
            for target, values in zip(self.coef, previous):
                target[:] = values
            self.rebuild()
            raise

    def rebuild(self) -> None:
        """Form the pair weights anew from columns and coefficients."""
        self.pairs.rebuild(self.bits, self.coef)
        self.solves_since_rebuild = 0
        self._edges = None

    def note_solve(self) -> None:
        """Count a solve; now and then rebuild the pair weights to end the drift of updates."""
        self.solves_since_rebuild += 1
        if self.solves_since_rebuild >= REBUILD_EVERY:
            self.rebuild()
