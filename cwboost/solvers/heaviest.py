"""The restricted master on its heaviest examples alone.

Once most margins are large, a few examples hold nearly all pair weight: with depth-2 trees and a
large C one in fifty. Violations are sums over examples, so the others can be left out of the
passes of coordinate descent as long as their weight is far below what a violation is measured by,
the way solvers of support vector machines shrink their problem to the examples that matter. What
the passes find is then put into the whole master, which has the last word: its violations decide
whether more is to be done.
"""

from __future__ import annotations

import numpy as np

from cwboost._kernels.fcd.column_subset import take_columns
from cwboost._kernels.fcd.pair_weights import PairWeights
from cwboost.master import RestrictedMaster

__all__ = ["HeaviestExamples"]

LIGHT = 0.01
"""Examples left out weigh together at most this share of the violation that is asked for."""

FEW = 0.25
"""Share of the examples beyond which leaving the others out does not pay."""

FIXED_COST = 25
"""Updates of coordinates, a class, that forming the weights of all examples anew takes."""


class HeaviestExamples(RestrictedMaster):
    """The part of a restricted master that its heaviest examples make up.

    Parameters
    ----------
    master : RestrictedMaster
    examples : ndarray of int
        The examples to keep, in ascending order.
    classes, rows : ndarrays of int
        The columns to keep, class after class.

    """

    def __init__(self, master, examples, classes, rows):
        counts, example_weight, n_threads = master._problem
        bounds = np.searchsorted(examples, np.concatenate([[0], np.cumsum(counts)]))
        weight = example_weight[examples]
        self.n_classes, self.q = master.n_classes, master.q
        self._problem = np.diff(bounds), weight, n_threads
        self.pairs = PairWeights(self._problem[0], weight, self.q, n_threads)
        self.columns = take_columns(master.columns, classes, rows, examples)
        self.coef_matrix = np.zeros((self.n_classes, self.columns.capacity))
        # Where each column is in the coefficient matrix of `master`, and where in the one here.
        self._origin = classes, rows
        first = np.searchsorted(classes, np.arange(self.n_classes))
        self._here = classes, np.arange(len(rows)) - first[classes]
        self.coef_matrix[self._here] = master.coef_matrix[self._origin]
        self.rebuild()

    @classmethod
    def of(cls, master, classes, rows, epsilon, passes):
        """The part on which to solve for the columns above `epsilon`; None where it does not pay.

        Parameters
        ----------
        master : RestrictedMaster
        classes, rows : ndarrays of int
            Columns whose violation is above `epsilon`. Those with a positive coefficient, which
            may become violated, are kept beside them.
        epsilon : float
        passes : int
            How many passes there may be.
        """
        updates, fixed = passes * len(rows), FIXED_COST * master.n_classes
        if updates < fixed:
            return None
        used = master.coef_matrix > 0.0
        if updates < fixed + np.count_nonzero(used):
            return None
        n_samples = master.pairs.n_samples
        smallest = LIGHT * epsilon * master.q / n_samples
        examples = np.flatnonzero(master.pairs.own_sums() >= smallest)
        if len(examples) > FEW * n_samples or len(examples) == 0:
            return None
        used[classes, rows] = True
        return cls(master, examples, *map(np.ascontiguousarray, np.nonzero(used)))

    def put_into(self, master) -> bool:
        """Give the coefficients to the master that this is a part of.

        Returns
        -------
        bool
            Whether its objective has not risen. Otherwise, since examples that were left out have
            become heavy, the coefficients are what they were.
        """
        coef_matrix = master.coef_matrix.copy()
        coef_matrix[self._origin] = self.coef_matrix[self._here]
        return master.set_coef_if_better(coef_matrix)
