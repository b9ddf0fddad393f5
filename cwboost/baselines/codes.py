"""Codes: splits of the classes that define binary questions."""

import numpy as np

LARGEST_EXHAUSTIVE = 11
"""Maximum number of classes of the exhaustive code, which then has 1,023 bits."""
TRIES = 100
"""Number of random codes, of which the one of largest minimum distance is taken."""


def random_half(n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Return a code with +1 for a random half of the classes (rounded down), -1 for the others."""
    code = np.full(n_classes, -1, dtype=np.int8)
    code[rng.permutation(n_classes)[: n_classes // 2]] = 1
    return code


def exhaustive(n_classes: int) -> np.ndarray:
    """Return the code of all splits of the classes in two: ``2 ** (n_classes - 1) - 1`` bits."""
    if n_classes > LARGEST_EXHAUSTIVE:
        raise ValueError(
            f"code='exhaustive' takes at most {LARGEST_EXHAUSTIVE} classes "
            f"({2 ** (LARGEST_EXHAUSTIVE - 1) - 1} bits), got {n_classes}: use 'random'"
        )
    # The first class is always +1, so that bits are not complements; number 0 would be constant.
    bits = np.arange(1, 2 ** (n_classes - 1))
    minus = (bits[None, :] >> np.arange(n_classes - 1)[:, None]) & 1
    return np.vstack([np.ones(len(bits), np.int8), 1 - 2 * minus.astype(np.int8)])


def random_dense(n_classes: int, n_bits: int, rng: np.random.Generator) -> np.ndarray:
    """Return the best separated of many random codes, whose bits are distinct splits.

    There are at most ``2 ** (n_classes - 1) - 1``, the number of splits, and at least
    log2 n_classes, to distinguish the classes.
    """
    best, largest = None, -1
    for _ in range(TRIES):
        code = _distinct_splits(n_classes, n_bits, rng)
        distance = (n_bits - code.astype(int) @ code.T.astype(int)) // 2
        smallest = int((distance + n_bits * np.eye(n_classes, dtype=int)).min())
        if smallest > largest:
            best, largest = code, smallest
    if largest == 0:
        raise ValueError(
            f"code_size must be large enough to distinguish {n_classes} classes, got {n_bits}: all "
            f"{TRIES} random codes give two classes the same code word"
        )
    return best


def _distinct_splits(n_classes, n_bits, rng) -> np.ndarray:
    if n_classes <= LARGEST_EXHAUSTIVE:
        every = exhaustive(n_classes)
        return every[:, np.sort(rng.choice(every.shape[1], size=n_bits, replace=False))]
    columns: dict[bytes, np.ndarray] = {}
    while len(columns) < n_bits:
        column = rng.integers(0, 2, size=n_classes).astype(np.int8) * 2 - 1
        column *= column[0]
        if (column < 0).any():
            columns[column.tobytes()] = column
    return np.stack(list(columns.values()), axis=1)


def code_matrix(code, n_classes: int, n_bits, rng: np.random.Generator) -> np.ndarray:
    """Return the code matrix, int8 of -1 and +1, for the parameters of an estimator.

    `n_bits` is for "random" only; None is 10 log2 n_classes, at most the number of splits.
    """
    if isinstance(code, str):
        if code == "random":
            most = 2 ** (min(n_classes, 40) - 1) - 1
            if n_bits is None:
                n_bits = min(int(np.ceil(10 * np.log2(n_classes))), most)  # noqa: TID251
            elif n_bits > most:
                raise ValueError(
                    f"code_size must be at most {most}, the splits of {n_classes} classes, "
                    f"got {n_bits}"
                )
            return random_dense(n_classes, n_bits, rng)
        if code == "exhaustive":
            return exhaustive(n_classes)
        raise ValueError(f"code must be 'random', 'exhaustive' or a matrix, got {code!r}")
    matrix = np.asarray(code)
    if matrix.ndim != 2 or matrix.shape[0] != n_classes or matrix.shape[1] == 0:
        raise ValueError(
            f"code must have one row for each of the {n_classes} classes and one column per bit, "
            f"got shape {matrix.shape}"
        )
    if not np.isin(matrix, (-1, 1)).all():
        raise ValueError("code must hold only -1 and +1")
    if len(np.unique(matrix, axis=0)) < n_classes:
        raise ValueError("code must have distinct rows, got the same code word for two classes")
    return matrix.astype(np.int8)
