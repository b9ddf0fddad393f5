"""Steps in the space of the last moves, between passes of coordinate descent."""

from itertools import pairwise

import numpy as np

from cwboost._kernels.fcd.subspace import MOST_DIRECTIONS, newton_step


class SubspaceSteps:
    """Sequential subspace optimisation: Newton's step in the span of the last few moves.

    Coordinate descent alone zigzags along valleys that lead through many coordinates. The move of
    a pass and the two moves before it span a space that contains the valley's direction; Newton's
    step there costs a few passes over the pair weights, whatever the number of columns. As with
    conjugate gradients, which do the same where the objective is quadratic, the number of passes
    grows with the root of the condition instead of the condition. A step is kept only where the
    objective falls. Needs two passes at least, so it never enters the single later pass of a
    round of boosting.

    The master is at the point before the first pass.

    References
    ----------
    Narkiss and Zibulevsky, "Sequential subspace optimization method for large-scale unconstrained
    problems", 2005.
    """

    def __init__(self, master):
        self.points = [self._point(master)]

    @staticmethod
    def _point(master):
        return master.coef_matrix.copy(), master.pairs.scores_now()

    def after_pass(self, master) -> None:
        """Step from where the pass ended, and remember where that leads to."""
        coef = [master.coef_matrix, *(point[0] for point in self.points)]
        moves = [newer - older for newer, older in pairwise(coef)]
        slope, curvature = master.pairs.derivatives([point[1] for point in self.points])
        slope = [float(move.sum()) + s / master.q for move, s in zip(moves, slope)]
        steps = newton_step(np.array(slope), curvature / master.q)
        if steps.any():
            master.step_along(self.points, steps)
        self.points = [self._point(master), *self.points[: MOST_DIRECTIONS - 1]]
