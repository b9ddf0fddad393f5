"""Votes: scores of similarity added to those of the weak learners.

A model that fits its training examples has no more use for the scores of similarity, however good
they are on others. If they alone have the lower log loss on examples that a pilot leaves out, the
probabilities become the geometric mean of both, divided by its sum:

    p is in proportion to  exp(s F)**(1/2) exp(s' L)**(1/2),

with the scores F of the model, L of similarity and their scales s and s'. So ``F + (s' / s) L`` are
the scores then, and s / 2 their scale.

The sum is written with weak learners, so that all that reads a model knows it. A score has 256
levels, that is 8 binary digits, and a tree of as many levels tells a digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cwboost.ensemble.model import Ensemble
from cwboost.estimator.held_out.calibration import fit_scale, log_losses
from cwboost.estimator.held_out.pilot import Pilot
from cwboost.estimator.problem import Problem
from cwboost.families.composed.automatic import AutoFamily
from cwboost.similarity import evenly_spaced
from cwboost.similarity.codes import LEVELS_PER_UNIT, class_scores

__all__ = [
    "Decision",
    "decide",
    "digit_trees",
    "scores_in",
    "with_votes",
    "without_votes",
]

EXCESS = 6.0
"""Similarity votes unless the sum of its log losses is higher than the pilot's by this. Where a
pilot is right on all of a few examples, how low its loss is says little; and of two models that are
about as good, both together are better."""

CLOSE = 1.25
"""Ratio of the losses up to which the scores leave little to be learned in late rounds."""

N_DIGITS = 8
"""Binary digits of a level."""

MOST = 2**15
"""Largest number of examples on which the scale of the scores is fitted."""


def scores_in(X, n_scores: int) -> np.ndarray:
    """Return a score of each class from the last `n_scores` columns of X."""
    levels = X[:, -n_scores:]
    return class_scores(levels.toarray() if sparse.issparse(levels) else levels)


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether similarity votes.

    Parameters
    ----------
    pilot : Pilot
    scale : float
        Of the scores of similarity, fitted on those of training examples without their own label.
    votes : bool
        True if the scores have a lower log loss than the pilot on the examples that it leaves out,
        or one that is hardly higher.
    is_close : bool
        True if it is not much higher.
    """

    pilot: Pilot
    scale: float
    votes: bool
    is_close: bool


def decide(pilot: Pilot, problem: Problem, n_scores: int) -> Decision:
    """Decide whether similarity votes.

    Parameters
    ----------
    pilot : Pilot
    problem : Problem
        The scores of similarity are the last columns of X.
    n_scores : int
        Number of these columns.
    """
    rows = evenly_spaced(len(problem.y), MOST)
    scores = scores_in(problem.X[rows], n_scores)
    scale = fit_scale(scores, problem.y[rows], problem.weight[rows])
    rows = pilot.left_out
    losses = log_losses(scale * scores_in(problem.X[rows], n_scores), problem.y[rows])
    own, usual = (
        np.average(each, weights=pilot.weight) * len(rows) for each in (losses, pilot.log_losses)
    )
    return Decision(pilot, scale, bool(own - usual < EXCESS), bool(own <= CLOSE * usual))


def with_votes(ensemble: Ensemble, family: AutoFamily, n_columns: int, n_scores: int, factor):
    """Return a model whose scores are those of `ensemble` plus scores of similarity.

    Parameters
    ----------
    ensemble : Ensemble
    family : AutoFamily
    n_columns : int
        Number of columns of X; the scores of similarity are the last ones.
    n_scores : int
        Number of these.
    factor : float
        Of the scores of similarity.

    Returns
    -------
    ensemble : Ensemble
    n_votes : int
        The number of its first learners that write the scores.
    """
    columns = np.arange(n_columns - n_scores, n_columns)
    learners = family.trees(digit_trees(columns), n_columns)
    # Of two classes, the first one gets the votes of both.
    per_level = factor / LEVELS_PER_UNIT * (2.0 if n_scores == 1 else 1.0)
    values = np.tile(per_level * 2.0 ** np.arange(N_DIGITS - 2, -2, -1), n_scores)
    score_index = np.repeat(np.arange(n_scores), N_DIGITS)
    return ensemble.after(learners, score_index, values), len(learners)


def without_votes(classifier) -> Ensemble:
    """Return the model of a classifier without the learners that `with_votes` has added."""
    n_votes = getattr(classifier, "similarity_votes_", 0)
    ensemble = classifier.ensemble_
    return ensemble.without_first(n_votes) if n_votes else ensemble


def digit_trees(columns) -> dict[str, np.ndarray]:
    """Return trees that tell the binary digits of some columns of levels from 0 to 255.

    The tree of digit k, from the highest on, has k + 1 levels of comparisons, and the outputs -1
    and +1 of a digit that is 0 and 1.

    Parameters
    ----------
    columns : ndarray of shape (n_columns,), int

    Returns
    -------
    dict of ndarray
        Nodes of ``8 * n_columns`` trees, those of a column together; see `ThresholdTrees`.
    """
    own = [_digit_tree(digit) for digit in range(N_DIGITS)]
    sizes = np.tile([len(tree["left"]) for tree in own], len(columns))
    nodes = {name: np.tile(np.concatenate([t[name] for t in own]), len(columns)) for name in own[0]}
    is_leaf = nodes["left"] < 0
    of_column = np.repeat(columns, len(is_leaf) // len(columns))
    return {
        "offsets": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "feature": np.where(is_leaf, -1, of_column).astype(np.int32),
        **nodes,
    }


def _digit_tree(digit: int) -> dict[str, np.ndarray]:
    """Return the nodes of the tree of one digit, level after level."""
    n_inner = 2 ** (digit + 1) - 1
    depth = np.repeat(np.arange(digit + 2), 2 ** np.arange(digit + 2))
    place = np.arange(len(depth)) - (2**depth - 1)
    is_leaf = np.arange(len(depth)) >= n_inner
    threshold = (2 * place + 1) * 2.0 ** (N_DIGITS - 1 - depth) - 0.5
    return {
        "threshold": np.where(is_leaf, 0.0, threshold),
        "left": np.where(is_leaf, -1, 2 * np.arange(len(depth)) + 1).astype(np.int32),
        "missing": np.where(is_leaf, 0, -1).astype(np.int8),
        "sign": np.where(is_leaf, 2 * (place % 2) - 1, 0).astype(np.int8),
        "gain": np.zeros(len(depth), dtype=np.float32),
    }
