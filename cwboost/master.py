"""The restricted master: columns, coefficients, objective, violations and dual bound.

Over the columns found so far, with q = p / C and p = (n_classes - 1) sum of example weights:

    min over coef >= 0 of   sum coef + (1/q) sum over pairs of mu              (eq. mcg-exp2)

with mu_(i,y) = w_i exp(-gamma_(i,y)). Base scores, constants of each example, may be part of the
margins gamma; they change the weights from which boosting starts, and nothing else. `PairWeights`
holds the pair weights as the matrix R, one row per class. R determines the edges of columns and
thus the violations (eq. vio). Scaled into the feasible set, R is a point of the dual
(eq. mcg-exp-dual), whose value is a lower bound on the optimum.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cwboost._kernels.fcd.column_store import ColumnStore
from cwboost._kernels.fcd.pair_weights import PairWeights, cell_steps
from cwboost._kernels.fcd.working_set import violated
from cwboost.kernels import exp, log
from cwboost.kernels.weight_scales import weight_scale
from cwboost.support.weights import effective_size

LARGEST_C = 1e150
"""Up to here the pair weights at the optimum, about 1 / C, are far from the smallest numbers."""

REBUILD_EVERY = 64
"""Number of solves after which the pair weights are recomputed, to remove rounding drift."""

SMOOTHING = 4.0
"""Examples of mean weight added to either sign of a cell: sums of few examples are noise."""

UNSEEN = 0.5
"""Examples of mean weight added to each class before its share is taken: one whose examples are all
left out may come nevertheless (Krichevsky and Trofimov 1981)."""

LARGEST_OUTPUT = 127
"""The largest output of a graded learner; outputs are whole numbers, the others in proportion."""

DRIFT = 1e-7
"""Pair weights differ from recomputed ones by less than this fraction, for rounding."""


def largest(values_by_class) -> float:
    """Return the largest number in a list of arrays, zero if there is none."""
    return max((float(values.max()) for values in values_by_class if values.size), default=0.0)


def dual_value(loss: float, margins: float, q: float, best_edge: float) -> float:
    """Return the highest dual bound of scaled pair weights; see `RestrictedMaster.dual_bound`.

    Notes
    -----
    lambda = t mu / q satisfies every edge constraint if t * best_edge <= 1. With lambda
    log-linear in the margin its dual value needs no logarithm of a pair:

        (t / q) (A + (1 - log t) B),   A = sum mu (gamma - gamma of the base),  B = sum mu.

    It is concave in t with its maximum at exp(A / B), so that t = min(1 / best_edge,
    exp(A / B)) gives the highest bound.
    """
    if loss == 0.0:
        return 0.0
    # A smaller scaling than the best is feasible too, so the limit only avoids an overflow.
    t = 1.0 / max(best_edge, exp(min(-margins / loss, 700.0)))
    return t / q * (margins + (1.0 - log(t)) * loss)


def scale_of_cells(loss: float) -> float:
    """Return the power of two by which weights are multiplied before they are summed by cell.

    Either sign of a row of R sums to the loss at most, so that one suits all rows.
    """
    return weight_scale(2.0 * loss)


@dataclass(frozen=True)
class CellSteps:
    """Steps of some classes in the cells of one division of the examples.

    `outputs`, (n_cells, n), int8, are the steps of each class as whole numbers, of which the
    largest magnitude is 127, or all are 0. `moves`, (n, n_cells), of the scores, are their products
    with the coefficients, (n,). `edges`, (n,), are those of the best learner on these cells per
    class, in units of 1: the sum of the magnitudes of the cells' sums of weights, over q. `cover`
    is the weight of the examples in each cell.
    """

    outputs: np.ndarray
    moves: np.ndarray
    coef: np.ndarray
    edges: np.ndarray
    cover: np.ndarray


def steps_of_cells(
    sums, cover, smoothing: float, step: float, least: float, is_penalized: bool = False
) -> CellSteps:
    """Return a fraction of the coordinate steps of cells, smoothed and rounded.

    A cell is a column that is 1 on its examples and 0 elsewhere. With the sums P and N of the
    weights of either sign there, over q, the loss over q falls the most by the step t =
    log(P / N) / 2. If steps are penalized, |t| is added to it, and t is the exact step of a
    coefficient, log(2 P / (1 + sqrt(1 + 4 P N))) for P > N + 1, and 0 for |P - N| <= 1. The sums
    are smoothed, so that the step is finite, and small in cells of few examples.

    `sums`, (n, n_cells, 2), has P and N over q per class and cell, `cover` the weight of the
    examples in each cell. `smoothing` is the share of the mass of a class that is added to either.
    Classes whose edge is not above `least` take no step.
    """
    found = cell_steps(sums, smoothing, step, least, is_penalized, LARGEST_OUTPUT)
    return CellSteps(*found, cover.astype(np.float32))


class Master(ABC):
    """What column generation asks of a restricted master, on one machine or over partitions.

    `RestrictedMaster` documents what is abstract here. `coef_matrix`, (n_classes, capacity), has
    the coefficients with one row per class, zero beyond the columns of the class. `q`, p / C, is
    the unscaled edge above which a column pays. The steps of cells are not coefficients: see
    `step_cells`.
    """

    n_classes: int
    q: float
    coef_matrix: np.ndarray
    _sum_of_weights: float
    _smoothing: float

    @property
    def coef(self) -> list[np.ndarray]:
        """Coefficients of each class; views that solvers change in place."""
        return self._by_class(self.coef_matrix)

    @property
    def train_error(self) -> float:
        """Share, by weight, of the examples whose largest score is not that of their class.

        NaN if unknown.
        """
        return self.pairs.errors / self._sum_of_weights

    @property
    def C(self) -> float:
        """The loss's weight; an edge divided by it is a share of all weight before any round."""
        return (self.n_classes - 1) * self._sum_of_weights / self.q

    @property
    def mean_loss(self) -> float:
        """Weighted mean of exp(-margin) over the pairs; one if there is neither base nor column."""
        return self.pairs.loss / ((self.n_classes - 1) * self._sum_of_weights)

    @property
    def objective(self) -> float:
        """Value of the restricted master at the present coefficients."""
        # Not coef_matrix.sum(), which takes a Python function more.
        coef = float(np.add.reduce(self.coef_matrix, axis=None))
        return coef + self.pairs.loss / self.q

    def edges(self) -> list[np.ndarray]:
        """Return sum_i r_c(i) h(i) / q per column: one minus the derivative of the objective."""
        return self._by_class(self._edge_matrix())

    def violations(self) -> list[np.ndarray]:
        """Return the violation of the optimality condition per coefficient (eq. vio)."""
        excess = self._edge_matrix() - 1.0
        # An edge below one does not violate the condition of a coefficient at zero.
        excess[(self.coef_matrix <= 0.0) & (excess < 0.0)] = 0.0
        return self._by_class(np.abs(excess, out=excess))

    def shift_to_shares(self, n_classes: int) -> np.ndarray:
        """Add half the logarithms of the class shares to the scores; return these, (n_classes,).

        They are relative to the first class: the last `n_classes` move. Without columns, no other
        constants have less loss: see `predict_prior`.
        """
        extra = UNSEEN / SMOOTHING * self._smoothing * self._sum_of_weights
        scores = 0.5 * log(self.class_weights + extra)
        first = self.n_classes - n_classes
        scores -= scores[0]
        self._shift(scores[first:, None])
        return scores

    def change_C(self, C: float) -> None:
        """Change C and keep the present columns and coefficients."""
        self.q = self._q(C)
        self._edges = None

    def _q(self, C: float) -> float:
        return (self.n_classes - 1) * self._sum_of_weights / C

    def set_coef(self, coef) -> None:
        """Set all coefficients, a list of n_classes arrays, and recompute the pair weights.

        Raise OverflowError, and change nothing, if a pair weight would not be finite.
        """
        previous = self.coef_matrix.copy()
        for target, values in zip(self.coef, coef):
            target[:] = values
        try:
            self.rebuild()
        except OverflowError:
            self.coef_matrix[:] = previous
            self.rebuild()
            raise

    def _by_class(self, matrix) -> list[np.ndarray]:
        """Return the entries of columns from a matrix with one row per class."""
        return [matrix[c, : self.columns.n_columns(c)] for c in range(self.n_classes)]

    @property
    @abstractmethod
    def class_weights(self) -> np.ndarray: ...
    @property
    @abstractmethod
    def has_base(self) -> bool: ...
    @abstractmethod
    def _shift(self, moves) -> None: ...
    @abstractmethod
    def add_paying(self, priced, edges, bound, classes) -> tuple[np.ndarray, ...]: ...
    @abstractmethod
    def dual_bound(self, best_edge: float) -> float: ...
    @abstractmethod
    def update_layer(self, rows, step: float = 1.0) -> None: ...
    @abstractmethod
    def step_cells(
        self, division, n_classes: int, step: float, least: float, is_penalized: bool = False
    ) -> CellSteps: ...
    @abstractmethod
    def rebuild(self) -> None: ...
    @abstractmethod
    def note_solve(self) -> None: ...
    @abstractmethod
    def _edge_matrix(self) -> np.ndarray: ...


class RestrictedMaster(Master):
    """The restricted master problem over examples that are sorted by class, `counts` of each.

    `C` is the weight of the loss relative to the sum of the coefficients, and `example_weight`,
    positive, the factors of the examples' losses, None for ones; they stand for `size` examples,
    None that of the weights. All classes may share the columns (MultiBoost), which are then stored
    once. `base`, (n_samples, n_classes), are the scores of the examples before the first column,
    None for zeros.
    """

    def __init__(
        self, counts, C, example_weight=None, n_threads=1, shared=False, base=None, size=None
    ):
        counts = np.asarray(counts, dtype=np.int64)
        if example_weight is None:
            example_weight = np.ones(counts.sum())
        self.n_classes, self.n_samples = len(counts), int(counts.sum())
        self._problem = counts, example_weight, n_threads
        self._sum_of_weights = float(example_weight.sum())
        self._smoothing = SMOOTHING / (effective_size(example_weight) if size is None else size)
        self._base = None if base is None else base.T
        self.q = self._q(C)
        self.pairs = self._first_pairs()
        self.columns = ColumnStore(self.n_classes, self.pairs.n_bytes, shared)
        self.coef_matrix = np.zeros((self.n_classes, self.columns.capacity))
        self.solves_since_rebuild = 0
        self._edges = None

    def _first_pairs(self) -> PairWeights:
        """Return the pair weights before the first column."""
        counts, example_weight, n_threads = self._problem
        return PairWeights(counts, example_weight, self.q, n_threads, self._base)

    @property
    def class_weights(self) -> np.ndarray:
        """Total weight of the examples of each class, shape (n_classes,)."""
        counts, example_weight, _ = self._problem
        return np.add.reduceat(example_weight, np.cumsum(counts) - counts)

    @property
    def has_base(self) -> bool:
        """True if the examples have base scores."""
        return self._base is not None

    def _shift(self, moves) -> None:
        """Move the scores of the last classes, by ``moves[c, 0]`` for all examples."""
        cells = np.zeros(self.n_samples, dtype=np.int32)
        self.pairs.move_cells(cells, moves, self.n_classes - len(moves))
        self._edges = None

    def change_C(self, C: float) -> None:
        super().change_C(C)
        pairs = self._first_pairs()
        pairs.restore(self.pairs.state())
        self.pairs = pairs

    def release(self) -> None:
        """Free the pair weights: no round follows."""
        self.pairs = None

    def state(self) -> dict:
        """Return what `restore` needs, besides columns and coefficients."""
        return {
            "pairs": self.pairs.state(),
            "solves_since_rebuild": self.solves_since_rebuild,
        }

    def restore(self, state) -> None:
        """Take the pair weights of `state` for the present columns and coefficients.

        They must be those of the coefficients, up to rounding.
        """
        self.rebuild()
        expected = self.pairs.state()
        self.pairs.restore(state["pairs"])
        for name, array in expected.items():
            tolerance = DRIFT * np.abs(array).max()
            if not np.allclose(state["pairs"][name], array, rtol=DRIFT, atol=tolerance):
                raise ValueError(f"the {name} of the state must be those of the coefficients")
        self.solves_since_rebuild = state["solves_since_rebuild"]
        self._edges = None

    @property
    def weights(self) -> np.ndarray:
        """R, the signed weights for pricing: a view of shape (n_classes, n_samples)."""
        return self.pairs.weights

    def scores_of(self, rows) -> np.ndarray:
        """Return the scores F(x, y) of some examples, (n_rows, n_classes), base and columns."""
        return self.pairs.scores_of(rows)

    def add(self, classes, outputs) -> tuple[np.ndarray, np.ndarray]:
        """Add columns, each at coefficient zero; return their rows, and whether they are new.

        Row ``k`` of `outputs`, packed, is a column of class ``classes[k]``; if columns are shared,
        a column of one class is a column of all. A column that exists already is not stored again.
        Rows are those among the columns of the class.
        """
        rows, new = self.columns.add(np.ascontiguousarray(classes, dtype=np.int64), outputs)
        self._edges = None
        self._make_room()
        return rows, new

    def add_paying(self, priced, edges, bound, classes) -> tuple[np.ndarray, ...]:
        """Add the priced columns whose edge is above a bound, at coefficient zero.

        `edges` are in units of one, at most one per class. Return the row of each class's column
        that pays, (n_classes,), -1 for none; and of those that were not stored already, the
        indices, the classes, and the rows among those of the class.
        """
        added = self.columns.add_paying(edges, bound, classes, priced.outputs)
        self._edges = None
        self._make_room()
        return added

    def _make_room(self) -> None:
        """Widen the coefficients to the capacity of the columns."""
        missing = self.columns.capacity - self.coef_matrix.shape[1]
        if missing > 0:
            self.coef_matrix = np.pad(self.coef_matrix, ((0, 0), (0, missing)))

    def _edge_matrix(self) -> np.ndarray:
        """Return the edges with one row per class, zero beyond the columns of the class."""
        if self._edges is None:
            self._edges = np.zeros_like(self.coef_matrix)
            self.pairs.edges(self.columns, self._edges)
            self._edges /= self.q
        return self._edges

    def violated(self, epsilon: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the largest violation, and classes and rows of those above `epsilon`, in order."""
        return violated(self._edge_matrix(), self.coef_matrix, epsilon)

    def dual_bound(self, best_edge: float) -> float:
        """Return a lower bound on the optimum over all columns with an edge up to `best_edge`.

        This is the largest edge over the columns that the bound covers, as priced on `weights`,
        divided by q. With exact pricing, these are all weak learners of the family.
        """
        loss = self.pairs.loss
        return dual_value(loss, self.pairs.column_margins(), self.q, best_edge)

    def update_layer(self, rows, step: float = 1.0) -> None:
        """Update one column per class, -1 for none, on their joint-sign tables.

        `step` is the fraction of the exact coordinate step taken.
        """
        rows = np.asarray(rows, dtype=np.int64)
        self.pairs.update_layer(self.columns, rows, self.coef_matrix, step)
        self._edges = None

    def step_cells(
        self, division, n_classes: int, step: float, least: float, is_penalized: bool = False
    ) -> CellSteps:
        """Take a fraction of the step of every cell of a division, of several classes at once.

        The last `n_classes` step, unless their edge is not above `least`, and take the fraction
        `step` of the exact step, see `steps_of_cells`. The learner becomes graded: its outputs are
        as the steps of its cells. It is not kept as a column; the scores keep what it adds.

        Notes
        -----
        The objective, of which these steps are no part, does not rise. A pair belongs to two
        classes at most, so by convexity its loss is at most the mean of those after twice the step
        of one of them. Over the pairs of one class, the loss after twice the exact steps, which
        ours do not exceed, is that before.
        """
        first, scale = self.n_classes - n_classes, scale_of_cells(self.pairs.loss)
        sums, cover = self.pairs.cell_sums(division.cells, division.n_cells, first, scale)
        sums /= scale * self.q
        found = steps_of_cells(sums, cover, self._smoothing, step, least, is_penalized)
        if found.coef.any():
            self.pairs.move_cells(division.cells, found.moves, first)
            self._edges = None
        return found

    def start_from(self, scores) -> None:
        """Add the scores that graded learners give the examples to the base scores."""
        self._base = scores.T if self._base is None else self._base + scores.T
        self.pairs = self._first_pairs()
        self._edges = None

    def update_coordinates(self, classes, rows) -> None:
        """Update single coordinates, one after the other: column ``rows[u]`` of ``classes[u]``."""
        self.pairs.update_coordinates(self.columns, classes, rows, self.coef_matrix)
        self._edges = None

    def step_along(self, points, steps) -> bool:
        """Step along the moves from earlier points, unless the objective increases.

        `points` are coefficient matrices and scores (`PairWeights.scores_now`), the last point
        first. Move k leads from point k to the one after it, or here, and has the step size
        ``steps[k]``. Negative coefficients are set to zero. Return True if the step was taken.
        """
        previous, objective = self.coef_matrix.copy(), self.objective
        newer = previous
        for (older, _), step in zip(points, steps):
            self.coef_matrix += step * (newer - older)
            newer = older
        cut = np.maximum(-self.coef_matrix, 0.0)
        self.coef_matrix += cut
        if sum(abs(a - b) for a, b in pairwise([0.0, *steps.tolist(), 0.0])) > 1.0:
            # Scores move like coefficients only if this does not increase their rounding errors.
            return self._keep_if_better(previous, objective, self.rebuild)
        self.pairs.advance([scores for _, scores in points], steps)
        return self._keep_if_better(
            previous, objective, lambda: self.pairs.rebuild(self.columns, cut, more=True)
        )

    def _keep_if_better(self, previous, objective, form_weights) -> bool:
        """Recompute the pair weights for new coefficients, or restore the previous ones."""
        self._edges = None
        try:
            form_weights()
            better = self.objective <= objective
        except OverflowError:
            better = False
        if not better:
            self.coef_matrix[:] = previous
            self.rebuild()
        return better

    def rebuild(self) -> None:
        """Recompute the pair weights from columns and coefficients."""
        self.pairs.rebuild(self.columns, self.coef_matrix)
        self.solves_since_rebuild = 0
        self._edges = None

    def note_solve(self) -> None:
        """Count a solve; at intervals, rebuild the pair weights to remove rounding drift."""
        self.solves_since_rebuild += 1
        if self.solves_since_rebuild >= REBUILD_EVERY:
            self.rebuild()
