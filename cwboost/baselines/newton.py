"""A Newton step on the positive coefficients, for columns that the classes share.

Coordinate descent alone closes a small gap slowly, because the coefficients of the classes for
one column are strongly coupled. L-BFGS-B needs the step too, for relative gaps at which rounding
ends its line search (`cwboost.baselines.gap`).

With R as in `cwboost.master`, |R| its entrywise absolute value
and columns h_j and h_k, the Hessian of the restricted master is

    (1/q) sum_i |r_c(i)| h_j(i) h_k(i)                                  within class c,
    -(1/q) [sum over i of class c of |r_b(i)| h_j(i) h_k(i)
            + sum over i of class b of |r_c(i)| h_j(i) h_k(i)]          between classes b and c,

since the pair (i, y) couples class y_i with class y by mu_(i,y) = |r_y(i)|.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cwboost.families.outputs import unpack_outputs
from cwboost.master import RestrictedMaster

__all__ = ["MOST_FREE", "newton_step"]

MOST_FREE = 4000
"""Maximum number of coefficients of a step; their Hessian then takes 128 MB."""
DAMPING = (1e-12, 1e-6, 1e-4, 1e-2, 0.3)
"""Damping factors: this multiple of its diagonal is added to the Hessian, in turn, until the
objective decreases."""


def newton_step(master: RestrictedMaster, starts: np.ndarray) -> bool:
    """Step towards the minimum over the positive coefficients; return True if the objective fell.

    Coefficients that would become negative become zero. A step that is too long is damped after
    Levenberg and Marquardt.

    Parameters
    ----------
    master : RestrictedMaster
        With shared columns; changed in place.
    starts : ndarray of shape (n_classes + 1,), int
        First example of each class, and the number of examples.
    """
    coef = np.stack(master.coef)
    classes, rows = np.nonzero(coef > 0.0)
    if not 0 < len(rows) <= MOST_FREE:
        return False
    gradient = 1.0 - np.stack(master.edges())[classes, rows]
    hessian = _hessian(master, starts, classes, rows)
    diagonal = hessian.diagonal().copy()
    objective = master.objective
    for damping in DAMPING:
        np.fill_diagonal(hessian, (1.0 + damping) * diagonal)
        ahead = coef.copy()
        try:
            direction = cho_solve(cho_factor(hessian), gradient)
            ahead[classes, rows] = np.maximum(coef[classes, rows] - direction, 0.0)
            master.set_coef(ahead)
        except (LinAlgError, OverflowError, ValueError):
            continue
        if master.objective < objective:
            return True
    master.set_coef(coef)
    return False


def _hessian(master, starts, classes, rows) -> np.ndarray:
    """Return the Hessian over the coordinates (classes, rows), which are sorted by class."""
    size = np.abs(master.weights)
    used, position = np.unique(rows, return_inverse=True)
    outputs = unpack_outputs(master.bits[0][used], size.shape[1]).T.astype(np.float64)
    first = np.searchsorted(classes, np.arange(master.n_classes + 1))
    hessian = np.zeros((len(rows), len(rows)))
    for c in range(master.n_classes):
        own = outputs[position[first[c] : first[c + 1]]]
        if not len(own):
            continue
        mine = slice(first[c], first[c + 1])
        hessian[mine, mine] = (own * size[c]) @ own.T
        for b in range(c):
            theirs = slice(first[b], first[b + 1])
            if theirs.start == theirs.stop:
                continue
            other = outputs[position[theirs]]
            of_c, of_b = slice(starts[c], starts[c + 1]), slice(starts[b], starts[b + 1])
            block = (own[:, of_c] * size[b, of_c]) @ other[:, of_c].T
            block += (own[:, of_b] * size[c, of_b]) @ other[:, of_b].T
            hessian[mine, theirs] = -block
            hessian[theirs, mine] = -block.T
    return hessian / master.q
