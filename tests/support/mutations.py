"""Mutated model files: bytes as they come, or header fields and arrays with correct checksums."""

import contextlib
import copy
import time

import numpy as np

from cwboost import ModelFileError, load_model
from cwboost.model_file import container

WEIRD = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, -(2**63), 10**40, 1e308, -0.5, "", "x" * 5000),
    *([], {}, [[]], {"$": "array", "name": "fitted.classes_"}, {"$": "tuple", "items": [1]}),
]
EXTREME = [0, 1, -1, 2, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1e308, -1e-308]
NOT_FINITE = [np.nan, np.inf, -np.inf]


def nodes_of(node, found):
    """Yield every (container, key) of a JSON tree."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            nodes_of(node[key], found)
    return found


def mutate_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        kind, at = rng.randrange(5), rng.randrange(len(data) + 1)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 3:
            del data[at : at + rng.randrange(1, 9)]
        else:
            data[at : at + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, rng.randbytes(4)))
    return bytes(data)


def mutate_header(rng, header):
    holder, key = rng.choice(nodes_of(header, []))
    if rng.random() < 0.2:
        del holder[key]
    elif rng.random() < 0.2 and isinstance(holder[key], int):
        holder[key] += rng.choice((-1, 1, 2**20))
    else:
        holder[key] = copy.deepcopy(rng.choice(WEIRD))


def every_field(rng, header):
    """Return every (place of a field of the header, value to put there), in random order."""
    places = range(len(nodes_of(header, [])))
    pairs = [(place, value) for place in places for value in WEIRD]
    rng.shuffle(pairs)
    return pairs


def write_field(path, header, arrays, place, value):
    """Write a model file with another value in a field of the header, with valid checksums."""
    header = copy.deepcopy(header)
    holder, key = nodes_of(header, [])[place]
    holder[key] = copy.deepcopy(value)
    container.write(path, header, arrays)


def mutate_array(rng, arrays):
    name = rng.choice(sorted(arrays))
    array, kind = arrays[name], rng.randrange(6)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        dtype = rng.choice(sorted(container.DTYPES))
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(dtype)
    elif kind == 2:
        arrays[name] = np.resize(array, rng.choice((0, 1, array.size + 1, 2 * array.size + 3)))
    elif kind == 3:
        arrays[name] = array.reshape(rng.choice(((1, array.size), (array.size, 1), (1, 1, -1))))
    elif kind == 4:
        other = rng.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], array
    elif array.size:
        values = array.ravel().copy()
        choices = EXTREME + (NOT_FINITE if array.dtype.kind == "f" else [])
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(choices), dtype=np.float64).astype(array.dtype)
            values[rng.randrange(len(values))] = value
        arrays[name] = values.reshape(array.shape)


def mutated(rng, path, data, header, arrays):
    """Write a mutated model file: mutated bytes, or mutated contents with valid checksums."""
    if rng.random() < 0.4:
        path.write_bytes(mutate_bytes(rng, data))
        return
    header, arrays = copy.deepcopy(header), dict(arrays)
    for _ in range(rng.choice((1, 1, 2))):
        if rng.random() < 0.5:
            mutate_header(rng, header)
        elif arrays:
            mutate_array(rng, arrays)
    container.write(path, header, arrays)


def assert_harmless(path, data):
    """Load a file and predict if it loads; allow only documented errors, within a time limit."""
    start = time.perf_counter()
    loaded = None
    try:
        loaded = load_model(path)
    except ModelFileError as error:
        assert not isinstance(error.__cause__, MemoryError)
    assert time.perf_counter() - start < 2
    if loaded is not None:
        with contextlib.suppress(TypeError, ValueError):
            loaded.predict(data[:5])
    return loaded is not None


def prepared(clf, path):
    clf.save(path, training_state=True)
    return path.read_bytes(), *container.read(path, 2**26)
