"""Dask collections: checks, one task per partition, lazy predictions."""

from collections import defaultdict
from functools import partial

import dask
import dask.array as da
import numpy as np


def is_array(X) -> bool:
    return isinstance(X, da.Array)


def is_frame(X) -> bool:
    """Return True for a Dask dataframe or series, without an import of dask.dataframe."""
    return not is_array(X) and dask.is_dask_collection(X) and hasattr(X, "map_partitions")


def sources(
    X, y, sample_weight, role, names=("X", "y", "sample_weight"), first=0, groups=None
) -> list:
    """Return the arguments of `Chunk` for every partition, blocks as Delayed, from index `first`.

    `names` is what messages call the first three collections, whose chunks must match.
    """
    given = dict(zip((*names, "groups"), (X, y, sample_weight, groups)))
    for name, value in given.items():
        if value is None and name in (names[2], "groups"):
            continue
        if not (is_array(value) or is_frame(value)):
            raise TypeError(
                f"{name} must be a Dask array or dataframe, got {type(value).__name__}; "
                "dask.array.from_array and dask.dataframe.from_pandas make one"
            )
    if is_array(X) and X.ndim != 2:
        raise ValueError(f"{names[0]} must be 2-d, got {X.ndim} dimensions")
    rows = _chunks_of_rows(X)
    blocks = [_blocks(X)]
    for name, value in list(given.items())[1:]:
        if value is None:
            blocks.append([None] * len(blocks[0]))
        else:
            blocks.append(_blocks(_aligned(name, value, names[0], rows, len(blocks[0]))))
    return [(first + k, role, *parts) for k, parts in enumerate(zip(*blocks))]


def most_bytes(X) -> float:
    """Return the bytes of X as a dense array, NaN if they are unknown."""
    return X.nbytes if is_array(X) else np.nan


def _chunks_of_rows(X):
    """Return the number of rows of every chunk, None if they are unknown."""
    if not is_array(X) or np.isnan(X.chunks[0]).any():
        return None
    return X.chunks[0]


def _aligned(name, value, name_of_X, rows, n_blocks):
    """Return a vector with the chunks of X, rechunked if the chunks of both are known."""
    own = _chunks_of_rows(value)
    if rows is not None and own is not None:
        if sum(own) != sum(rows):
            raise ValueError(
                f"{name} must have the rows of {name_of_X}, {sum(rows)}, got {sum(own)}"
            )
        value = value.rechunk({0: rows}) if own != rows else value
    count = value.numblocks[0] if is_array(value) else value.npartitions
    if count != n_blocks:
        raise ValueError(
            f"{name} must have the partitions of {name_of_X}, {n_blocks}, got {count}: "
            + _alignment(value, n_blocks)
        )
    return value


def _alignment(value, n_blocks: int) -> str:
    """Return what gives a vector as many partitions as X has."""
    if is_array(value):
        return (
            "if chunk sizes are unknown, call compute_chunk_sizes() on both, and they are aligned"
        )
    return (
        "take both from one dataframe, whose rows they share, or compute the vector and divide it "
        f"as X is, as in dask.dataframe.from_pandas(..., npartitions={n_blocks})"
    )


def _by_rows(array):
    """Return an array whose blocks are divided by rows only."""
    return array.rechunk(dict.fromkeys(range(1, array.ndim), -1))


def _blocks(value) -> list:
    if is_array(value):
        return list(np.ravel(_by_rows(value).to_delayed()))
    # Optimised by itself, a frame that reads few columns of a file has fewer partitions.
    return list(value.simplify().to_delayed(optimize_graph=False))


def started(client, tasks, numbers) -> dict:
    """Start tasks, Delayed by partition, and return their futures.

    Those whose data the cluster does not hold yet are divided among the workers evenly, given the
    numbers of partitions by address: Dask alone may give both of two to one worker.
    """
    if not numbers or rests_on(tasks.values(), client.futures):
        return dict(zip(tasks, client.compute(list(tasks.values()))))
    futures = {}
    for address, indices in evenly(tasks, numbers).items():
        mine = [tasks[index] for index in indices]
        there = client.compute(mine, workers=[address], allow_other_workers=True)
        futures.update(zip(indices, there))
    return {index: futures[index] for index in tasks}


def evenly(partitions, numbers) -> dict:
    """Return partitions by address, divided evenly, given the numbers that are there already."""
    numbers, divided = dict(numbers), defaultdict(list)
    for index in partitions:
        least = min(numbers, key=numbers.get)
        numbers[least] += 1
        divided[least].append(index)
    return divided


def rests_on(tasks, held) -> bool:
    """Return whether the graphs of some Delayed have tasks that are, or need, one of these keys."""
    # Graphs share most of their layers.
    layers = {id(layer): layer for task in tasks for layer in task.dask.layers.values()}
    return bool(held) and any(
        key in held or any(need in held for need in getattr(task, "dependencies", ()))
        for layer in layers.values()
        for key, task in layer.items()
    )


def predicted(X, method, kind, classes):
    """Return the lazy result of a method on every block of X, that of the method if X is a block.

    It gives "labels", one "score" per example, or one column of "scores" per class.
    """
    if not dask.is_dask_collection(X):
        return method(X)
    width = len(classes) if kind == "scores" else 1
    dtype = classes.dtype if kind == "labels" else np.dtype(np.float64)
    if is_array(X):
        X = _by_rows(X)
        block = partial(_on_block, method, width, dtype)
        if width == 1:
            return X.map_blocks(block, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype))
        chunks = (X.chunks[0], (width,))
        return X.map_blocks(block, dtype=dtype, chunks=chunks, meta=np.empty((0, 0), dtype))
    if width == 1:
        # Its dtype is that of a series of such values: text is not "object" in every pandas.
        meta = type(X._meta.iloc[:, 0])(classes if kind == "labels" else np.empty(0)).iloc[:0]
    else:
        meta = type(X._meta)(np.empty((0, width)), columns=list(classes))
    return X.map_partitions(partial(_on_frame, method, width, dtype, meta), meta=meta)


def _on_block(method, width, dtype, X):
    if X.shape[0] == 0:
        return np.empty((0,) if width == 1 else (0, width), dtype)
    return method(X)


def _on_frame(method, width, dtype, meta, X):
    found = _on_block(method, width, dtype, X)
    if meta.ndim == 1:
        return type(meta)(found, index=X.index, dtype=meta.dtype)
    return type(meta)(found, index=X.index, columns=meta.columns)
