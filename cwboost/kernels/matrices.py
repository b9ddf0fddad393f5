"""Conversion of matrices for the kernels: aligned dense arrays, or checked compressed ones."""

from math import gcd

import numpy as np

DTYPES = (np.uint8, np.float32, np.float64)
UNSIGNED = {np.dtype(np.int32): np.uint32, np.dtype(np.int64): np.uint64}
MAX_FEATURES = 2**31 - 1
NAMES = {"csr": ("row", "column"), "csc": ("column", "row"), "bsr": ("block row", "block column")}


def readable(X) -> np.ndarray:
    """Return an array that kernels can read: X itself if possible, else a copy.

    Parameters
    ----------
    X : ndarray

    Returns
    -------
    ndarray, dtype uint8, float32 or float64
        Aligned, in native byte order, with strides that are multiples of the item size, which
        e.g. a field of a structured array may not be. Other dtypes become float64.
    """
    X = np.asarray(X)
    if X.dtype.type not in DTYPES or not X.dtype.isnative:
        return X.astype(np.float64)
    if not X.flags.aligned or gcd(X.itemsize, *X.strides) != X.itemsize:
        return np.array(X, order="C")
    return X


def readable_weights(weights, n_samples: int) -> np.ndarray:
    """Return weights, (n_targets, n_samples), as the searches for stumps read them.

    The last axis is contiguous, rows may be padded. Raise ValueError for another shape.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] == 0 or weights.shape[1] != n_samples:
        raise ValueError(f"weights must have shape (n_targets, {n_samples}), got {weights.shape}")
    step, width = weights.strides
    if width == weights.itemsize and step % width == 0 and weights.flags.aligned:
        return weights
    return np.array(weights, order="C")


def canonical_csr(X):
    """Return a sparse matrix as CSR, checked; see `canonical`.

    Parameters
    ----------
    X : sparse matrix or array of SciPy
    """
    return canonical(X, "csr")


def canonical_csc(X):
    """Return a sparse matrix as CSC, checked; see `canonical`.

    Parameters
    ----------
    X : sparse matrix or array of SciPy
    """
    return canonical(X, "csc")


def canonical(X, form: str | None = None):
    """Return a sparse matrix whose indices are in range, sorted and distinct; X itself if valid.

    The check reads the indices and ignores the flags of X: constructors of SciPy do not check
    indices, and its conversions and the kernels write to the addresses they give.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_samples, n_features)
        Of any format.
    form : {"csr", "csc", None}, default=None
        None keeps CSR and CSC as they are and makes the others CSR.

    Returns
    -------
    sparse matrix or array
        In native byte order, without entries beyond ``indptr[-1]``. Duplicates are summed.

    Raises
    ------
    ValueError
        For an index out of range or an invalid ``indptr``; the message names the first wrong
        entry. For more than 2**31 - 1 features.
    """
    if X.shape[1] > MAX_FEATURES:
        raise ValueError(f"X must have at most {MAX_FEATURES} features, got {X.shape[1]}")
    if X.format == "coo":
        _check_coordinates(X)
    elif X.format == "bsr":
        _check_compressed(X)
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    ascending = _check_compressed(X)
    if form is not None and form != X.format:
        # A conversion sorts the indices and keeps duplicates.
        X = X.tocsc() if form == "csc" else X.tocsr()
        ascending = ascending or _check_compressed(X)
    if ascending and _is_plain(X):
        return X
    return _rebuilt(X, ascending)


def _check_compressed(X) -> bool:
    """Check the structure of a compressed matrix; return True if indices ascend in each line."""
    major, minor = NAMES[X.format]
    axis = int(X.format == "csc")
    block = X.blocksize if X.format == "bsr" else (1, 1)
    n_major, n_minor = X.shape[axis] // block[axis], X.shape[1 - axis] // block[1 - axis]
    indptr, indices = _index_arrays(X)
    if len(indptr) != n_major + 1:
        raise ValueError(f"indptr of X must have {n_major + 1} entries, got {len(indptr)}")
    n_stored = min(len(indices), len(X.data))
    if indptr[0] != 0 or indptr[-1] > n_stored or np.count_nonzero(indptr[1:] < indptr[:-1]):
        wrong = [indptr[0] != 0, *((indptr[1:] < indptr[:-1]) | (indptr[1:] > n_stored))]
        fault = int(np.argmax(wrong))
        expected = "0" if fault == 0 else f"{indptr[fault - 1]} to {n_stored}"
        raise ValueError(f"indptr[{fault}] of X must be {expected}, got {indptr[fault]}")
    stored = indices[: indptr[-1]]
    # As unsigned numbers, negative indices are too large as well.
    if len(stored) and np.maximum.reduce(stored.view(UNSIGNED[stored.dtype])) >= n_minor:
        place = int(np.argmax((stored < 0) | (stored >= n_minor)))
        line = int(np.searchsorted(indptr, place, side="right")) - 1
        raise ValueError(
            f"indices[{place}] of X, in {major} {line}, must be a {minor} from 0 to "
            f"{n_minor - 1}, got {stored[place]}"
        )
    falls = np.zeros(len(stored) + 1, dtype=bool)
    np.less_equal(stored[1:], stored[:-1], out=falls[1:-1])
    falls[indptr] = False  # where lines begin
    return not np.count_nonzero(falls)


def _index_arrays(X) -> tuple[np.ndarray, np.ndarray]:
    """Return ``indptr`` and ``indices`` in a common dtype that the check can read."""
    arrays = []
    for name in ("indptr", "indices"):
        array = np.asarray(getattr(X, name))
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(
                f"{name} of X must be a vector of integers, got {array.ndim} dimensions of "
                f"{array.dtype}"
            )
        arrays.append(array)
    wide = any(array.dtype != np.int32 for array in arrays)
    dtype = np.int64 if wide else np.int32
    return tuple(array.astype(dtype, copy=False) for array in arrays)


def _check_coordinates(X) -> None:
    for array, length, name in ((X.row, X.shape[0], "row"), (X.col, X.shape[1], "col")):
        if len(array) != len(X.data):
            raise ValueError(f"{name} of X must have {len(X.data)} entries, got {len(array)}")
        wrong = (array < 0) | (array >= length)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise ValueError(
                f"{name}[{place}] of X must be from 0 to {length - 1}, got {array[place]}"
            )


def _is_plain(X) -> bool:
    """Return True if kernels can read the arrays of X in place."""
    arrays = (X.data, X.indices, X.indptr)
    return (
        len(X.data) == len(X.indices) == X.indptr[-1]
        and X.indices.dtype == X.indptr.dtype
        and X.indices.dtype in (np.int32, np.int64)
        and all(a.flags.aligned and a.flags.c_contiguous and a.dtype.isnative for a in arrays)
    )


def _rebuilt(X, ascending: bool):
    """Return a copy of X in plain arrays, without duplicates."""
    indptr, indices = _index_arrays(X)
    n_stored = int(indptr[-1])
    data = np.array(X.data[:n_stored], dtype=X.data.dtype.newbyteorder("="), order="C")
    # A new object of the same class does not inherit the flags of X, which may be wrong.
    X = type(X)((data, indices[:n_stored].copy(), indptr.copy()), shape=X.shape)
    if not ascending:
        X.sum_duplicates()
    return X
