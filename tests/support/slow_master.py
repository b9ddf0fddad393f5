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


def edges(H, y, C, coef, weight=None):
    """Return the edges at `coef`, a list of arrays, as sums over all pairs."""
    weight = np.ones(len(y)) if weight is None else weight
    mu = pair_weights(H, y, coef, weight) / q_of(y, C, len(H), weight)
    return [
        np.array([(mu * delta(H, y, c, j)).sum() for j in range(len(h))]) for c, h in enumerate(H)
    ]


def violations(H, y, C, coef, weight=None):
    """Return theta of eq. vio, a list of arrays."""
    return [
        np.where(w > 0, np.abs(1 - edge), np.maximum(edge - 1, 0.0))
        for w, edge in zip(coef, edges(H, y, C, coef, weight))
    ]


def dual_objective(lam, y, C, n_classes, weight=None):
    """Return the value of eq. mcg-exp-dual at `lam`, of shape (n_samples, n_classes)."""
    weight = np.ones(len(y)) if weight is None else weight
    used = lam > 0
    scale = np.broadcast_to(weight[:, None] / q_of(y, C, n_classes, weight), lam.shape)[used]
    return (lam[used] * (1.0 - np.log(lam[used] / scale))).sum()


def dual_value(H, y, C, coef, weight=None):
    """Return the largest dual value of a feasible multiple of the pair weights of `coef`."""
    weight = np.ones(len(y)) if weight is None else weight
    mu = pair_weights(H, y, coef, weight)
    best = max(e.max() for e in edges(H, y, C, coef, weight) if len(e))
    t = np.exp((mu * margins(H, y, coef)).sum() / mu.sum())
    if best > 0:
        t = min(t, 1.0 / best)
    return dual_objective(t * mu / q_of(y, C, len(H), weight), y, C, len(H), weight)


def printed_fcd(H, y, C, new, epsilon, max_working_sets, rng):
    """Run Algorithm 2 as printed from zero; return the coefficients.

    `new` lists the first working set, pairs of class and column. Later passes draw as often as the
    working set has members, with replacement.
    """
    coef = [np.zeros(len(h)) for h in H]
    weight, q = np.ones(len(y)), q_of(y, C, len(H), np.ones(len(y)))
    for passes in range(max_working_sets):
        if passes:
            theta = violations(H, y, C, coef)
            working = [(c, j) for c, t in enumerate(theta) for j in np.flatnonzero(t > epsilon)]
            if not working:
                break
            new = [working[k] for k in rng.integers(len(working), size=len(working))]
        for c, j in new:
            d, mu = delta(H, y, c, j), pair_weights(H, y, coef, weight)
            plus = mu[d > 0].sum() * np.exp(coef[c][j])
            minus = mu[d < 0].sum() * np.exp(-coef[c][j])
            # eq. scd-w
            root = np.sqrt(plus * minus + q**2 / 4)
            coef[c][j] = max(0.0, np.log(root - q / 2) - np.log(minus))
    return coef


def random_problem(rng, n_classes, n_samples, n_columns, weighted=False):
    """Return columns that favour their class; every class occurs."""
    y = rng.integers(n_classes, size=n_samples)
    y[:n_classes] = np.arange(n_classes)
    shape = n_columns, n_samples
    H = [np.where(rng.random(shape) < 0.35 + 0.3 * (y == c), 1, -1) for c in range(n_classes)]
    weight = rng.uniform(0.1, 3.0, size=n_samples) if weighted else None
    return [h.astype(np.int8) for h in H], y, weight
