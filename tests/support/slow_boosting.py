"""Slow AdaBoost.MH, .MO and .ECC: multiplied weights, every stump in one table.

The table gives the best edge of a round. Ties may be broken either way, so the stump that a model
took is read from the model.
"""

import numpy as np
from reference_family import every_stump


def stump_table(X):
    """Outputs of every stump that differs on X, and of the constants: (n_stumps, n_samples)."""
    return every_stump(None, X).outputs(X).T.astype(float)


def label_rounds(X, y, code, model, table, shared, weight=None, real=False):
    """AdaBoost.MH on the signs code[y]: yields r, the best r of any stumps, the label scores.

    The votes of the `real` one are, per label and output, those of least smoothed loss.
    """
    weight = np.ones(len(y)) if weight is None else weight
    signs = code[y].astype(float)
    D = np.repeat(weight[:, None], code.shape[1], axis=1)
    D /= D.sum()
    outputs = model.ensemble_.learners.outputs(X).astype(float)
    F = np.zeros_like(signs)
    for r in range(model.n_iter_):
        edges = np.abs(table @ (D * signs))
        best = edges.sum(axis=1).max() if shared else edges.max(axis=0).sum()
        if shared:
            h = np.repeat(outputs[:, [r]], code.shape[1], axis=1)
        else:
            h = outputs[:, r * code.shape[1] : (r + 1) * code.shape[1]]
        edge = (D * signs * h).sum(axis=0)
        total = np.abs(edge).sum()
        if real:
            strongest = np.repeat(table[[edges.sum(axis=1).argmax()]].T, code.shape[1], axis=1)
            assert normaliser(D, signs, h) <= normaliser(D, signs, strongest) * (1 + 1e-12)
            best = total
            masses = [
                [(D * (h == s) * (signs == t)).sum(axis=0) + 1e-3 / len(edge) for t in (1, -1)]
                for s in (1, -1)
            ]
            above, below = (0.5 * np.log(right / wrong) for right, wrong in masses)
            alpha, h = 1.0, np.where(h == 1, above, below)
        else:
            alpha, h = 0.5 * np.log((1 + total) / (1 - total)), h * np.where(edge >= 0, 1, -1)
        D = D * np.exp(-alpha * signs * h)
        D /= D.sum()
        F = F + alpha * h
        yield total, best, alpha, F


def normaliser(D, signs, h):
    """The loss after the votes per label and output of least loss, over that before."""
    sides = (D * (h == s) * (signs == t) for s in (1, -1) for t in (1, -1))
    right, wrong, other, more = (side.sum(axis=0) for side in sides)
    return 2 * (np.sqrt(right * wrong) + np.sqrt(other * more)).sum()


def ecc_rounds(X, y, model, table, smoothing, weight=None):
    """AdaBoost.ECC with the codes of a model: yields edge, best edge, alpha, beta, U, scores."""
    weight = np.ones(len(y)) if weight is None else weight
    n_classes = len(model.classes_)
    P = np.repeat(weight[:, None], n_classes, axis=1)
    P[np.arange(len(y)), y] = 0
    P /= P.sum()
    outputs = model.ensemble_.learners.outputs(X)
    F = np.zeros_like(P)
    for r, votes in enumerate(model.ensemble_.coef().toarray()):
        code = np.sign(votes)  # More classes have -1, if their number is odd.
        code *= -np.sign(code.sum())
        m = code[y]
        D = np.array([P[i, code != m[i]].sum() for i in range(len(y))])
        U = D.sum()
        D /= U
        h = outputs[:, r]
        best = np.abs(table @ (D * m)).max()
        pp, pm = D[(h == 1) & (m == 1)].sum(), D[(h == 1) & (m == -1)].sum()
        mm, mp = D[(h == -1) & (m == -1)].sum(), D[(h == -1) & (m == 1)].sum()
        alpha = 0.5 * np.log((pp + smoothing) / (pm + smoothing))
        beta = 0.5 * np.log((mm + smoothing) / (mp + smoothing))
        g = np.where(h == 1, alpha, -beta)
        P = P * np.exp(0.5 * g[:, None] * (code[None, :] - m[:, None]))
        P /= P.sum()
        F = F + g[:, None] * code
        yield (D * m * h).sum(), best, alpha, beta, U, F
