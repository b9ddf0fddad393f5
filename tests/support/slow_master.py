"""The restricted master as printed in the paper, over every pair, in slow NumPy."""

from __future__ import annotations

import numpy as np


def margins(H, y, coef):
    """Return margin_(i,y) of every example and class; 0 for y = y_i."""
    scores = np.stack([w @ h for w, h in zip(coef, H)], axis=1)
    return scores[np.arange(len(y)), y][:, None] - scores


def pair_weights(H, y, coef, weight):
    """Return mu_(i,y), zero for y = y_i."""
    mu = weight[:, None] * np.exp(-margins(H, y, coef))
    mu[np.arange(len(y)), y] = 0.0
    return mu


def q_of(y, C, n_classes, weight):
    return (n_classes - 1) * weight.sum() / C


def objective(H, y, C, coef, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    mu = pair_weights(H, y, coef, weight)
    return sum(w.sum() for w in coef) + mu.sum() / q_of(y, C, len(H), weight)


def delta(H, y, c, j):
    """Return delta h of coordinate (c, j) for every pair (i, y), in {-1, 0, +1}."""
    d = np.zeros((len(y), len(H)))
    d[y == c] += H[c][j][y == c][:, None]
    d[:, c] -= H[c][j]
    d[np.arange(len(y)), y] = 0.0
    return d


def violations(H, y, C, coef, weight=None):
    """Return theta of eq. vio, a list of arrays."""
    weight = np.ones(len(y)) if weight is None else weight
    mu = pair_weights(H, y, coef, weight) / q_of(y, C, len(H), weight)
    theta = []
    for c, w in enumerate(coef):
        edge = np.array([(mu * delta(H, y, c, j)).sum() for j in range(len(w))])
        theta.append(np.where(w > 0, np.abs(1 - edge), np.maximum(edge - 1, 0.0)))
    return theta


def dual_value(H, y, C, coef, weight=None):
    """Return the dual value of the pair weights of `coef`, scaled into the feasible set."""
    weight = np.ones(len(y)) if weight is None else weight
    q = q_of(y, C, len(H), weight)
    lam = pair_weights(H, y, coef, weight) / q
    best = max((lam * delta(H, y, c, j)).sum() for c in range(len(H)) for j in range(len(H[c])))
    lam = lam / max(1.0, best)
    used = lam > 0
    scale = np.broadcast_to(weight[:, None] / q, lam.shape)[used]
    return (lam[used] * (1.0 - np.log(lam[used] / scale))).sum()


def random_problem(rng, n_classes, n_samples, n_columns, weighted=False):
    """Return columns that favour their class; every class occurs."""
    y = rng.integers(n_classes, size=n_samples)
    y[:n_classes] = np.arange(n_classes)
    H = [
        np.where(rng.random((n_columns, n_samples)) < 0.35 + 0.3 * (y == c), 1, -1)
        for c in range(n_classes)
    ]
    weight = rng.uniform(0.1, 3.0, size=n_samples) if weighted else None
    return [h.astype(np.int8) for h in H], y, weight
