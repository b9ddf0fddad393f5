"""What a family of derived features sees, and what it draws from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from cwboost.families.arrays import check_arrays, check_names
from cwboost.families.composed.derived_learners import DerivedLearners
from cwboost.families.composed.filling import filled
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.sealing.sample import read_only
from cwboost.kernels import weight_scales


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawContext:
    """What `DerivedFeatureFamily.draw` may look at; arrays are read-only.

    They show at most `DerivedFeatureFamily.sample_size` examples, in one process as on a cluster:
    the same ones in every round, evenly spaced among the examples sorted by class, so that each
    class has its proportion. Later versions add fields.

    Parameters
    ----------
    X : ndarray of shape (n_seen, n_features), dtype float64
        A CSR matrix if the examples are sparse, which needs ``capabilities.sparse_input``.
    y : ndarray of shape (n_seen,), dtype intp, or None
        Index of each example's class; None if the caller has no classes.
    weight : ndarray of shape (n_seen,), dtype float64
        Weights of the examples, whatever the round.
    weights : ndarray of shape (n_targets, n_seen), dtype float64, or None
        Signed weights of this round: a learner for target ``t`` should be +1 where
        ``weights[t]`` is positive. Each row is scaled by a power of two, so that its absolute
        values sum to 1/2 to 1, or to 0. None if features are drawn once, before the first round.
    random_state : numpy.random.Generator
        The one source of randomness.
    n_samples : int
        Number of all examples.
    shared : dict of str to ndarray
        What `DerivedFeatureFamily.draw_shared` returned.
    summaries : sequence
        What `DerivedFeatureFamily.summarise` returned, for each partition that has examples.
    """

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray
    weights: np.ndarray | None
    random_state: np.random.Generator
    n_samples: int
    shared: Mapping[str, np.ndarray] = field(default_factory=dict)
    summaries: Sequence = ()


class Drawing:
    """The examples that a family sees, and what it draws from them.

    `X`, `y` and `weight` are of the examples seen, `fill` is that of the columns, None if the
    family sees all; `n_samples` is the number of all examples.
    """

    def __init__(self, family: WeakLearnerFamily, X, y, weight, fill, n_samples, summaries, rng):
        self._family, self._n_features = family, X.shape[1]
        X = filled(X, fill)
        self._facts = {
            "X": read_only(X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)),
            "y": None if y is None else read_only(np.asarray(y)),
            "weight": read_only(weight),
            "n_samples": n_samples,
            "summaries": tuple(summaries),
        }
        own = family.draw_shared(self._context(rng, None, {}))
        check_names(own, family.shared, f"draw_shared of {type(family).__name__}")
        self._shared = {
            name: np.asarray(own[name], dtype=dtype)[None]
            for name, (dtype, _) in family.shared.items()
        }
        self._fill = {} if fill is None else {"fill": fill[None]}

    def _context(self, rng, weights, shared):
        return DrawContext(**self._facts, random_state=rng, weights=weights, shared=shared)

    def draw(self, rng, weights=None) -> DerivedLearners:
        """Draw features; return a batch of one learner, still without threshold, per feature.

        `weights`, of shape (n_targets, n_seen), are the signed weights of the round, of any scale.
        """
        if weights is not None:
            scales = weight_scales(np.abs(weights).sum(axis=1)) * 2.0**-51
            weights = read_only(np.ascontiguousarray(weights * scales[:, None]))
        shared = {name: read_only(array[0, ...]) for name, array in self._shared.items()}
        n_features, kind = self._n_features, self._family.learners_type
        drawn = self._family.draw(self._context(rng, weights, shared))
        learners = kind.drawn(drawn, self._shared | self._fill, n_features)
        try:
            check_arrays(learners.arrays(), kind.shapes(n_features, self._facts["X"].shape[1]))
        except ValueError as error:
            raise ValueError(f"draw of {type(self._family).__name__}: {error}") from error
        return learners
