"""A batch of fitted projections with their thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from cwboost.plugins.projections.sparse_rows import SparseRows
from scipy import sparse

import cwboost
from cwboost.kernels import Projector, canonical_csr, seeded_directions

__all__ = ["ProjectionLearners", "draw_seeds"]

CONSTANT, SEEDED = 0, 1

DTYPES = {
    "kind": np.dtype(np.int8),
    "seed": np.dtype(np.uint64),
    "threshold": np.dtype(np.float64),
    "polarity": np.dtype(np.int8),
    "missing": np.dtype(np.int8),
    "frame": np.dtype(np.int32),
    "centre": np.dtype(np.float64),
    "scale": np.dtype(np.float64),
    "gain_start": np.dtype(np.int64),
    "gain_feature": np.dtype(np.int32),
    "gain": np.dtype(np.float32),
}
A_LEARNER = ("kind", "seed", "threshold", "polarity", "missing", "frame")

MATRIX_BYTES = 2**25
"""Largest size of a matrix of directions that is built at a time."""

KEPT_BYTES = 2**28
"""Total size of the matrices of directions that a scorer keeps; it rebuilds larger ones."""

ROWS = 4096
"""Number of rows projected at a time."""


class ProjectionLearners(cwboost.WeakLearners):
    """Fitted projections: ``polarity`` if ``z > threshold``, else ``-polarity``.

    z is the projection of the standardised example on a direction, computed with the same bits
    as in training; if infinities make it NaN, the output is ``missing``.

    Parameters
    ----------
    kind : ndarray of shape (n,), dtype int8
        `SEEDED`, or `CONSTANT`: the learner has no direction and is ``polarity`` everywhere.
    seed : ndarray of shape (n,), dtype uint64
        Gives the direction, see `cwboost.kernels.seeded_directions`.
    threshold : ndarray of shape (n,), dtype float64
    polarity, missing : ndarray of shape (n,), dtype int8, values -1 and +1
    frame : ndarray of shape (n,), dtype int32
        Row of `centre` and `scale` that standardises the features; there is more than one row if
        learners of several training matrices were concatenated.
    centre, scale : ndarray of shape (n_frames, n_features), dtype float64
    gains : SparseRows of length n
        What the features gained in edge, as fractions (see `cwboost.kernels.LinearGains`).
    """

    def __init__(self, kind, seed, threshold, polarity, missing, frame, centre, scale, gains):
        self.kind = kind
        self.seed = seed
        self.threshold = threshold
        self.polarity = polarity
        self.missing = missing
        self.frame = frame
        self.centre = centre
        self.scale = scale
        self.gains = gains

    @classmethod
    def on_directions(cls, seeds, stumps, frame, gains):
        """Return the learners of stumps on projections.

        Parameters
        ----------
        seeds : ndarray of shape (n_directions,), dtype uint64
        stumps : tuple of four ndarrays of shape (n,)
            Feature, threshold, polarity and missing, as in `cwboost.kernels.FoundStumps`;
            feature j is the projection on direction j.
        frame : tuple of two ndarrays of shape (n_features,), dtype float64
            Centre and scale.
        gains : ndarray of shape (n, n_features), dtype float32
        """
        feature, *rest = stumps
        kind = np.where(feature >= 0, SEEDED, CONSTANT).astype(np.int8)
        seed = np.where(feature >= 0, seeds[feature], np.uint64(0))
        frames = np.zeros(len(feature), dtype=np.int32), *(row[None] for row in frame)
        return cls(kind, seed, *rest, *frames, SparseRows.of(gains))

    def __len__(self):
        return len(self.kind)

    def outputs(self, X):
        X = self._check(X)
        out = np.empty((X.shape[0], len(self)), dtype=np.int8)
        for columns, batch in self._batches():
            projector = batch._projector()
            for rows in _chunks(X.shape[0]):
                out[rows, columns] = batch._signs(projector(X[rows]))
        return out

    def _check(self, X):
        """Check X and return it in a form whose rows can be taken."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"X: expected {self.n_features} features, got {X.shape[1]}")
        return canonical_csr(X) if sparse.issparse(X) else X

    @property
    def n_features(self):
        return self.scale.shape[1]

    def _batches(self):
        """Yield batches of learners of one frame, small enough to build, with their places."""
        size = max(8, MATRIX_BYTES // (8 * self.n_features) // 8 * 8)
        for frame in range(len(self.scale)):
            places = np.flatnonzero(self.frame == frame)
            for start in range(0, len(places), size):
                yield places[start : start + size], self.take(places[start : start + size])

    def _projector(self):
        """Return the projector of learners of one frame."""
        frame = self.frame[0]
        return Projector(seeded_directions(self.seed, self.scale[frame]), self.centre[frame])

    def _signs(self, values):
        """Return outputs, (n_samples, n), from projections, (n, n_samples)."""
        above = values > self.threshold[:, None]
        unknown = np.isnan(values)
        constant = self.kind == CONSTANT
        if constant.any():
            above[constant], unknown[constant] = True, False
        polarity = self.polarity[:, None]
        signs = np.where(above, polarity, -polarity)
        return (np.where(unknown, self.missing[:, None], signs) if unknown.any() else signs).T

    def scorer(self, coef):
        coef = sparse.csr_array(coef, dtype=np.float64)
        if coef.shape[0] != len(self):
            raise ValueError(f"coef: expected {len(self)} rows, got shape {coef.shape}")
        used = np.flatnonzero(np.diff(coef.indptr))
        learners, coef = self.take(used), coef[used]

        def parts():
            for places, batch in learners._batches():
                yield coef[places], batch, batch._projector()

        keep = 8 * len(used) * self.n_features <= KEPT_BYTES
        kept = list(parts()) if keep else None

        def scorer(X, n_threads: int = 1):
            X = self._check(X)
            scores = np.zeros((X.shape[0], coef.shape[1]))
            for votes, batch, projector in kept if keep else parts():
                for rows in _chunks(X.shape[0]):
                    signs = batch._signs(projector(X[rows], n_threads))
                    scores[rows] += signs.astype(np.float64) @ votes
            return scores

        return scorer

    def feature_shares(self, n_features):
        seeded = self.kind == SEEDED
        learner, feature = np.nonzero(seeded[:, None] & (self.scale[self.frame] > 0))
        gains = self.gains.matrix().toarray()[learner, feature].astype(np.float64)
        return sparse.csr_array((gains, (learner, feature)), shape=(len(self), n_features))

    def flat_form(self):
        """Return one tree of one comparison, and one linear feature, per learner."""
        seeded, scale = self.kind == SEEDED, self.scale[self.frame]
        directions = seeded_directions(self.seed, np.ones(self.n_features)) * scale.T
        directions[:, ~seeded] = 0
        threshold, mean = self.threshold, None
        if len(self.scale) == 1:
            mean = self.centre[0]
        else:
            threshold = threshold + np.einsum("jf,fj->j", self.centre[self.frame], directions)
        linear = np.where(seeded, np.arange(len(self)), -1)
        gain = self.gains.matrix().sum(axis=1).astype(np.float32)
        stumps = cwboost.stump_trees(linear, threshold, self.polarity, self.missing, gain=gain)
        return replace(stumps, directions=directions, mean=mean)

    def arrays(self):
        return {
            **{name: getattr(self, name) for name in A_LEARNER},
            "centre": self.centre.ravel(),
            "scale": self.scale.ravel(),
            "gain_start": self.gains.start,
            "gain_feature": self.gains.feature,
            "gain": self.gains.value,
        }

    @classmethod
    def from_arrays(cls, arrays, n_features):
        own = _checked_arrays(arrays, n_features)
        parts = (own[name] for name in A_LEARNER)
        frames = (own[name].reshape(-1, n_features) for name in ("centre", "scale"))
        gains = SparseRows(own["gain_start"], own["gain_feature"], own["gain"], n_features)
        return cls(*parts, *frames, gains)

    def take(self, indices):
        indices = np.asarray(indices, dtype=np.int64)
        parts = (getattr(self, name)[indices] for name in A_LEARNER)
        return ProjectionLearners(*parts, self.centre, self.scale, self.gains.take(indices))

    @classmethod
    def concatenate(cls, batches):
        if len({batch.n_features for batch in batches}) != 1:
            raise ValueError("batches: expected projections of the same number of features")
        frames = np.vstack([np.hstack([batch.centre, batch.scale]) for batch in batches])
        first = np.cumsum([0, *(len(batch.scale) for batch in batches[:-1])])
        frame = np.concatenate([batch.frame + f for batch, f in zip(batches, first)])
        # Batches of one training share a frame: keep it once.
        place: dict[bytes, int] = {}
        places = [place.setdefault(row.tobytes(), len(place)) for row in frames]
        new = np.asarray(places, dtype=np.int32)
        centre, scale = np.hsplit(frames[np.unique(new, return_index=True)[1]], 2)
        *parts, _ = (np.concatenate([getattr(b, name) for b in batches]) for name in A_LEARNER)
        return cls(
            *parts,
            new[frame],
            np.ascontiguousarray(centre),
            np.ascontiguousarray(scale),
            SparseRows.concatenate([batch.gains for batch in batches]),
        )


def draw_seeds(rng, n):
    """Return the seeds of n random directions."""
    return rng.integers(0, 2**64, size=n, dtype=np.uint64)


def _chunks(n_samples):
    return [slice(start, start + ROWS) for start in range(0, n_samples, ROWS)]


def _checked_arrays(arrays, n_features):
    if set(arrays) != set(DTYPES):
        raise ValueError(f"projections have the arrays {sorted(DTYPES)}, got {sorted(arrays)}")
    for name, dtype in DTYPES.items():
        if arrays[name].dtype != dtype or arrays[name].ndim != 1:
            raise ValueError(
                f"{name}: expected one dimension of {dtype}, got {arrays[name].dtype} of shape "
                f"{arrays[name].shape}"
            )
    own = {name: np.ascontiguousarray(arrays[name]) for name in DTYPES}
    n = len(own["kind"])
    for name in A_LEARNER:
        _require(name, len(own[name]) == n, f"expected {n} entries, got {len(own[name])}")
    _check_frames(own["frame"], own["centre"], own["scale"], n_features)
    _require("kind", np.isin(own["kind"], (CONSTANT, SEEDED)).all(), "expected 0 or 1")
    _require("threshold", not np.isnan(own["threshold"]).any(), "expected no NaN")
    for name in ("polarity", "missing"):
        _require(name, np.isin(own[name], (-1, 1)).all(), "expected -1 or 1")
    _check_gains(own["gain_start"], own["gain_feature"], own["gain"], n, n_features)
    return own


def _check_frames(frame, centre, scale, n_features):
    _require("scale", n_features > 0, "expected at least one feature")
    n_frames = len(scale) // n_features
    whole = len(centre) == len(scale) == n_frames * n_features and n_frames > 0
    _require("scale", whole, f"expected rows of {n_features} entries, as many as centre has")
    _require("frame", ((frame >= 0) & (frame < n_frames)).all(), f"expected 0 to {n_frames - 1}")
    for name, array in (("centre", centre), ("scale", scale)):
        _require(name, np.isfinite(array).all(), "expected finite numbers")
    # As training makes them; beyond, projections would overflow.
    _require("scale", ((scale >= 0) & (scale <= 1e150)).all(), "expected numbers in [0, 1e150]")
    with np.errstate(over="ignore"):
        _require("centre", (np.abs(centre) * scale <= 1e20).all(), "too far from zero")


def _check_gains(start, feature, gain, n, n_features):
    _require("gain", len(gain) == len(feature), "expected as many entries as gain_feature has")
    _require("gain", np.isfinite(gain).all(), "expected finite numbers")
    inside = ((feature >= 0) & (feature < n_features)).all()
    _require("gain_feature", inside, f"expected 0 to {n_features - 1}")
    _require("gain_start", len(start) == n + 1, f"expected {n + 1} entries, got {len(start)}")
    # Compared, not subtracted: a difference of hostile numbers may wrap around.
    ascends = start[0] == 0 and start[-1] == len(feature) and (start[:-1] <= start[1:]).all()
    _require("gain_start", ascends, f"expected numbers that ascend from 0 to {len(feature)}")
    follows = np.ones(len(feature), dtype=bool)
    follows[1:] = feature[1:] > feature[:-1]
    follows[start[:-1][start[:-1] < len(feature)]] = True
    _require("gain_feature", follows.all(), "expected ascending features in each row")


def _require(name, holds, message):
    if not holds:
        raise ValueError(f"{name}: {message}")
