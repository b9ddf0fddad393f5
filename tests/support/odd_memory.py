"""The same numbers in every memory layout that a caller may pass."""

import io

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


def _read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def _mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def _from_bytes(X):
    """Return an array over memory not owned by NumPy, as from np.frombuffer."""
    return np.frombuffer(io.BytesIO(X.tobytes()).getvalue(), X.dtype).reshape(X.shape)


DENSE = {
    "field of 1": lambda X, folder: _field(X, 1),
    "field of 3": lambda X, folder: _field(X, 3),
    "unaligned": lambda X, folder: _shifted(X, 1),
    "fortran": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: _wide(X),
    "backwards": lambda X, folder: X[::-1, ::-1].copy()[::-1, ::-1],
    "read only": lambda X, folder: _read_only(X),
    "mapped": _mapped,
    "bytes": lambda X, folder: _from_bytes(X),
    "big endian": lambda X, folder: X.astype(X.dtype.newbyteorder(">")),
}

SPARSE = {
    "csr": lambda X: sparse.csr_array(X),
    "csc": lambda X: sparse.csc_array(X),
    "coo": lambda X: sparse.coo_array(X),
    "bsr": lambda X: sparse.bsr_array(X, blocksize=(1, 1)),
    "lil": lambda X: sparse.lil_array(X),
    "dok": lambda X: sparse.dok_array(X),
    "matrix": lambda X: sparse.csr_matrix(X),
    "unsorted": lambda X: unsorted(sparse.csr_array(X)),
    "duplicates": lambda X: duplicated(sparse.csr_array(X)),
    "longer arrays": lambda X: longer(sparse.csr_array(X)),
    "false flag": lambda X: falsely_canonical(sparse.csr_array(X)),
    "int64 indices": lambda X: wide_indices(sparse.csc_array(X)),
}


def unsorted(X):
    """Return the matrix with the entries of each line in descending order."""
    place = np.arange(X.nnz)
    line = np.repeat(np.arange(len(X.indptr) - 1), np.diff(X.indptr))
    place = X.indptr[line] + X.indptr[line + 1] - 1 - place
    return type(X)((X.data[place], X.indices[place], X.indptr), shape=X.shape)


def duplicated(X):
    """Return the matrix with every entry halved and stored twice."""
    parts = X.data.repeat(2) / 2
    arrays = parts.astype(X.data.dtype), X.indices.repeat(2), 2 * X.indptr
    return type(X)(arrays, shape=X.shape)


def longer(X):
    """Return the matrix in arrays with entries beyond ``indptr[-1]``."""
    data = np.concatenate([X.data, np.full(5, 1e6, X.data.dtype)])
    indices = np.concatenate([X.indices, np.full(5, 2**30, X.indices.dtype)])
    return type(X)((data, indices, X.indptr), shape=X.shape)


def falsely_canonical(X):
    X = unsorted(X)
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def wide_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _spoil(X, name, place, value):
    X = X.copy()
    getattr(X, name)[place] = value
    return X


MALFORMED = {
    "index too large": lambda X: _spoil(X, "indices", 3, 10_000_000),
    "index one too large": lambda X: _spoil(X, "indices", -1, max(X.shape)),
    "negative index": lambda X: _spoil(X, "indices", 2, -1),
    "very negative index": lambda X: _spoil(X, "indices", 2, -(2**31)),
    "indptr falls": lambda X: _spoil(X, "indptr", 2, X.indptr[1] - 1),
    "indptr leaves": lambda X: _spoil(X, "indptr", 2, 2**31 - 1),
    "indptr negative": lambda X: _spoil(X, "indptr", 1, -7),
    "indptr begins late": lambda X: _spoil(X, "indptr", 0, 1),
    "indptr ends beyond": lambda X: _spoil(X, "indptr", -1, X.nnz + 5),
    "data short": lambda X: _set(X, data=X.data[:-1]),
    "indices short": lambda X: _set(X, indices=X.indices[:-1]),
    "indptr short": lambda X: _set(X, indptr=X.indptr[:-1]),
    "indices float": lambda X: _set(X, indices=X.indices.astype(float)),
}


def _set(X, **arrays):
    X = X.copy()
    vars(X).update(arrays)
    return X
