"""The same numbers in every memory layout that a caller may pass."""

import numpy as np
from scipy import sparse


def _field(X, padding):
    """Return a field of a structured array, whose strides are not multiples of the item size."""
    row = np.dtype([("padding", np.uint8, padding), ("x", X.dtype, X.shape[1:])])
    records = np.full(len(X), 7, dtype=np.uint8).repeat(row.itemsize).view(row)
    records["x"] = X
    return records["x"]


def _shifted(X, n_bytes):
    """Return a contiguous array that starts at an odd address."""
    memory = np.zeros(X.nbytes + n_bytes, np.uint8)
    view = memory[n_bytes : n_bytes + X.nbytes].view(X.dtype).reshape(X.shape)
    view[:] = X
    return view


def _wide(X):
    """Return every second row and every third column of a larger array."""
    large = np.full((2 * X.shape[0], 3 * X.shape[1]), 9, dtype=X.dtype)
    large[::2, ::3] = X
    return large[::2, ::3]


def _mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


DENSE = {
    "field of 1": lambda X, folder: _field(X, 1),
    "field of 3": lambda X, folder: _field(X, 3),
    "unaligned": lambda X, folder: _shifted(X, 1),
    "fortran": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: _wide(X),
    "backwards": lambda X, folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "mapped": _mapped,
    "bytes": lambda X, folder: np.frombuffer(X.tobytes(), X.dtype).reshape(X.shape),
    "big endian": lambda X, folder: X.astype(X.dtype.newbyteorder(">")),
}


def _unsorted(X):
    """Return the matrix with the entries of each line in descending order."""
    place = np.arange(X.nnz)
    line = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    place = X.indptr[line] + X.indptr[line + 1] - 1 - place
    return type(X)((X.data[place], X.indices[place], X.indptr), shape=X.shape)


def _duplicated(X):
    """Return the matrix with every entry halved and stored twice."""
    halves = (X.data.repeat(2) / 2).astype(X.data.dtype)
    return type(X)((halves, X.indices.repeat(2), 2 * X.indptr), shape=X.shape)


def _longer(X):
    """Return the matrix in arrays with entries beyond ``indptr[-1]``."""
    data = np.append(X.data, np.full(5, 1e6, X.data.dtype))
    indices = np.append(X.indices, np.full(5, 2**30, X.indices.dtype))
    return type(X)((data, indices, X.indptr), shape=X.shape)


def _falsely_canonical(X):
    X = _unsorted(X)
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _with(X, **arrays):
    X = X.copy()
    vars(X).update(arrays)
    return X


SPARSE = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "bsr": lambda X: sparse.bsr_array(X, blocksize=(1, 1)),
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "matrix": sparse.csr_matrix,
    "unsorted": lambda X: _unsorted(sparse.csr_array(X)),
    "duplicates": lambda X: _duplicated(sparse.csr_array(X)),
    "longer arrays": lambda X: _longer(sparse.csr_array(X)),
    "false flag": lambda X: _falsely_canonical(sparse.csr_array(X)),
    "int64 indices": lambda X: _with(
        sparse.csc_array(X),
        indices=sparse.csc_array(X).indices.astype(np.int64),
        indptr=sparse.csc_array(X).indptr.astype(np.int64),
    ),
}


def _entry(name, place, value):
    """Put a value, or what a function says of the matrix, into one of its arrays."""

    def spoil(X):
        array = getattr(X, name).copy()
        array[place] = value(X) if callable(value) else value
        return _with(X, **{name: array})

    return spoil


MALFORMED = {
    "index too large": _entry("indices", 3, 10_000_000),
    "index one too large": _entry("indices", -1, lambda X: max(X.shape)),
    "negative index": _entry("indices", 2, -1),
    "very negative index": _entry("indices", 2, -(2**31)),
    "indptr falls": _entry("indptr", 2, lambda X: X.indptr[1] - 1),
    "indptr leaves": _entry("indptr", 2, 2**31 - 1),
    "indptr negative": _entry("indptr", 1, -7),
    "indptr begins late": _entry("indptr", 0, 1),
    "indptr ends beyond": _entry("indptr", -1, lambda X: X.nnz + 5),
    "data short": lambda X: _with(X, data=X.data[:-1]),
    "indices short": lambda X: _with(X, indices=X.indices[:-1]),
    "indptr short": lambda X: _with(X, indptr=X.indptr[:-1]),
    "indices float": lambda X: _with(X, indices=X.indices.astype(float)),
}
