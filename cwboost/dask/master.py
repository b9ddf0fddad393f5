"""The restricted master over partitions: coefficients here, the rows of R with the partitions."""

from collections import namedtuple
from functools import reduce

import numpy as np

from cwboost._kernels.fcd.pair_weights import solve_layer
from cwboost.dask.host import Setup
from cwboost.dask.partition import KEY_BYTES, column_key
from cwboost.master import (
    SMOOTHING,
    CellSteps,
    Master,
    dual_value,
    scale_of_cells,
    steps_of_cells,
)
from cwboost.support.weights import share_of_size

Measures = namedtuple("Measures", "loss margins errors")
"""Loss, margins without base scores, and number of errors of all partitions."""


class PartitionedMaster(Master):
    """The restricted master of which every partition holds the part of its examples.

    A move of coefficients is sent with the next exchange. Until then, loss and masses follow from
    the joint-sign tables that the layer was solved on, and margins and errors are NaN. The
    partitions keep all columns if `keeps_columns`, for total correction.
    """

    def __init__(self, crew, setup: Setup, keeps_columns=False):
        masses = setup.masses
        self.crew = crew
        self.n_classes = len(masses)
        factor = setup.class_weight
        self._smoothing = SMOOTHING / (setup.size * share_of_size(masses / factor, factor))
        self._masses = masses
        self._sum_of_weights = float(masses.sum())
        self.q = setup.q
        # All coefficients are zero: mu is the weight of the example.
        self.mass = masses * (self.n_classes - 1) + (self._sum_of_weights - masses)
        self.pairs = Measures(self._sum_of_weights * (self.n_classes - 1), 0.0, np.nan)
        self.columns = _Columns(self.n_classes)
        self.coef_matrix = np.zeros((self.n_classes, 16))
        self.keeps_columns, self._has_base = keeps_columns, setup.base is not None
        self._edges = self._tables = None
        self._unsent: list = []
        if self.has_base:
            self.rebuild()

    def ask(self, *operations) -> list:
        """Send operations, after the moves not sent yet; return their results."""
        unsent, self._unsent = self._unsent, []
        return self.crew.ask(*unsent, *operations)[len(unsent) :]

    def measure(self) -> None:
        """Ask for margins and errors, unless they are known."""
        if not self.is_measured:
            (parts,) = self.ask(("measure", ()))
            self.take_measures(parts)

    def take_measures(self, parts) -> None:
        """Take loss, margins and errors of all partitions, summed in their order."""
        self.pairs = Measures(*(float(x) for x in sum_in_order(parts)))

    @property
    def is_measured(self) -> bool:
        """True if margins and errors belong to the present coefficients."""
        return not np.isnan(self.pairs.errors)

    def take(self, learners, classes) -> np.ndarray:
        """Let the partitions compute the outputs of a layer; return a key for each column.

        `classes` ascend, each at most once. Keys, (n, 8) of uint8, are equal for columns with equal
        outputs on all examples.
        """
        (parts,) = self.ask(("take", (learners, classes)))
        self._tables = sum_in_order([tables for _, tables in parts])
        return _joint_keys(keys for keys, _ in parts)

    def left_out_scores(self) -> np.ndarray:
        """Return the scores of the examples that a holdout run leaves out."""
        (parts,) = self.ask(("left_out", ()))
        return np.concatenate(parts)

    def step_cells(
        self, division, n_classes: int, step: float, least: float, is_penalized: bool = False
    ) -> CellSteps:
        """Take a step of every cell of a division; see `RestrictedMaster`."""
        first, scale = self.n_classes - n_classes, scale_of_cells(self.pairs.loss)
        (parts,) = self.ask(("take_cells", (division, first, scale)))
        sums, cover = map(sum_in_order, zip(*parts))
        sums /= scale * self.q
        found = steps_of_cells(sums, cover, self._smoothing, step, least, is_penalized)
        if found.coef.any():
            _, parts = self.ask(("move_cells", (found.moves,)), ("measure", ()))
            self.take_measures(parts)
            self._edges = self._tables = None
        return found

    @property
    def has_base(self) -> bool:
        """True if the partitions have base scores."""
        return self._has_base

    def _shift(self, moves) -> None:
        _, parts = self.ask(("shift", (moves, self.n_classes - len(moves))), ("measure", ()))
        self.take_measures(parts)
        self._edges = self._tables = None

    def start_from_learners(self) -> None:
        """Let the partitions start from the graded learners of the model that they were given."""
        self._take_gradient(("start_from", ()))

    def _take_gradient(self, operation) -> None:
        """Send an operation that changes the pair weights; take measures, masses and edges."""
        (parts,) = self.ask(operation, ("gradient", ()))[1:]
        measures, masses, edges = zip(*parts)
        self.take_measures(measures)
        self.mass = sum_in_order(masses)
        self._edges = np.zeros_like(self.coef_matrix)
        total = sum_in_order(edges) / self.q
        width = min(total.shape[1], self._edges.shape[1])
        self._edges[:, :width] = total[:, :width]
        self._tables = None

    def add_paying(self, priced, edges, bound, classes):
        """Add the priced columns whose edge is above a bound, by their keys."""
        paying = np.flatnonzero(edges > bound)
        rows, is_new = self.columns.add(classes[paying], priced.keys[paying])
        new = paying[is_new]
        if self.keeps_columns and len(new):
            self._unsent.append(("keep", (classes[new],)))
        self._edges = None
        self._make_room()
        layer = np.full(self.n_classes, -1)
        layer[classes[paying]] = rows
        return layer, new, classes[new], rows[is_new]

    def update_layer(self, rows, step: float = 1.0) -> None:
        """Update the columns taken last on their joint-sign tables; see `RestrictedMaster`."""
        rows = np.asarray(rows, dtype=np.int64)
        tables, self._tables = self._tables, None
        active = np.flatnonzero(rows >= 0)
        coef = np.zeros(self.n_classes)
        coef[active] = self.coef_matrix[active, rows[active]]
        moved = solve_layer(tables, self.q, step, (rows >= 0).astype(np.uint8), coef)
        self.coef_matrix[active, rows[active]] = np.maximum(coef + moved, 0.0)[active]
        self._unsent.append(("move", (moved,)))
        of_row = tables.sum(axis=(2, 3))
        self.mass = of_row.sum(axis=0) + of_row.sum(axis=1)
        self.pairs = Measures(float(of_row.sum()), np.nan, np.nan)
        self._edges = None

    def note_solve(self) -> None:
        """Do nothing: rounding drift of single moves stays below the precision of the sums."""

    @property
    def class_weights(self) -> np.ndarray:
        """Total weight of the examples of each class, shape (n_classes,)."""
        return self._masses

    def restore_columns(self, classes) -> np.ndarray:
        """Let the partitions keep the learners of a model as columns; return their rows."""
        (parts,) = self.ask(("keep_learners", (classes,)))
        # On other data, columns of an earlier model may be equal: the partitions hold both.
        rows, _ = self.columns.add(classes, _joint_keys(parts), merges=False)
        self._make_room()
        return rows

    def drop_columns(self) -> None:
        """Let the partitions drop the columns of `restore_columns`."""
        self._unsent.append(("drop_columns", ()))

    def rebuild(self) -> None:
        """Let the partitions form their pair weights from the coefficients."""
        used = self.coef_matrix[:, : max(1, self.columns.most)].copy()
        self._unsent = [op for op in self._unsent if op[0] != "move"]
        self._take_gradient(("set_coef", (used,)))
        if self.keeps_columns:
            # Pair weights follow from columns and coefficients: earlier moves need not be repeated.
            last = self.crew.log[-1]
            kept = [op for op in self.crew.log if op[0] not in ("move", "set_coef")]
            self.crew.forget([*kept, last])
        if not np.isfinite(self.pairs.loss):
            raise OverflowError("a pair weight overflows")

    def dual_bound(self, best_edge: float) -> float:
        """Return a lower bound on the optimum; see `RestrictedMaster.dual_bound`."""
        return dual_value(self.pairs.loss, self.pairs.margins, self.q, best_edge)

    def _make_room(self) -> None:
        while self.columns.most > (width := self.coef_matrix.shape[1]):
            self.coef_matrix = np.pad(self.coef_matrix, ((0, 0), (0, width)))

    def _edge_matrix(self) -> np.ndarray:
        if self._edges is None:
            self.rebuild()
        return self._edges


class _Columns:
    """The keys of the columns of every class, in the order of their arrival."""

    def __init__(self, n_classes):
        self._rows: list[dict] = [{} for _ in range(n_classes)]

    def n_columns(self, c) -> int:
        return len(self._rows[c])

    @property
    def most(self) -> int:
        """The largest number of columns of a class."""
        return max(map(len, self._rows))

    def add(self, classes, keys, merges=True):
        """Return the row of each column, and whether it is new; equal ones are one, or are not."""
        rows, new = np.empty(len(classes), np.int64), np.zeros(len(classes), bool)
        for k, (c, key) in enumerate(zip(np.asarray(classes).tolist(), keys)):
            known, name = self._rows[c], key.tobytes()
            if name in known and not merges:
                name = f"again {k}".encode()  # which a later column does not find
            new[k] = name not in known
            rows[k] = known.setdefault(name, len(known))
        return rows, new


def sum_in_order(parts):
    """Return the sum of arrays, in their order."""
    return reduce(np.add, parts, 0.0)


def _joint_keys(parts) -> np.ndarray:
    """Return one key per column, (n, 8), for its keys on all partitions, in their order."""
    keys = [column_key(b"".join(own)) for own in zip(*parts)]
    return np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
