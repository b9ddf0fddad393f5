"""Forged and mutated model files: wrong bytes, or wrong contents with correct checksums.

The fields of the header include those of the table of arrays.
"""

import json
import time
import zlib
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from cwboost.model_file import container
from cwboost.model_file.container import MAGIC, PREFIX

WEIRD = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, -(2**63), 10**40, 1e308, -0.5, "", "x" * 5000),
    *([], {}, [[]], {"$": "array", "name": "fitted.classes_"}, {"$": "tuple", "items": [1]}),
]
EXTREME = [0, 1, -1, 2, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1e308, -1e-308]
NOT_FINITE = [np.nan, np.inf, -np.inf]


def header_of(path):
    """Return the header of a model file and the bytes after it."""
    data = path.read_bytes()
    length = PREFIX.unpack_from(data)[2]
    return json.loads(data[PREFIX.size : PREFIX.size + length]), data[PREFIX.size + length :]


def forge(path, header, blobs, version=1):
    """Write a file with any header and valid checksums."""
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(
        PREFIX.pack(MAGIC, version, len(encoded), zlib.crc32(encoded)) + encoded + blobs
    )


class ModelFile(NamedTuple):
    """A saved model: the whole file, its header as text, what follows, the arrays by name."""

    data: bytes
    header: str
    blobs: bytes
    arrays: dict


def prepared(clf, path):
    """Save a model with its training state and take the file apart."""
    clf.save(path, training_state=True)
    header, blobs = header_of(path)
    return ModelFile(path.read_bytes(), json.dumps(header), blobs, container.read(path, 2**26)[1])


def places_of(node, above=()):
    """Yield the keys that lead to every node of a JSON tree."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield (*above, key)
        if isinstance(node[key], (dict, list)):
            yield from places_of(node[key], (*above, key))


def holder_of(header, place):
    """Return what holds a node."""
    for key in place[:-1]:
        header = header[key]
    return header


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


def mutate_header(rng, header, within=""):
    places = [place for place in places_of(header) if within in ("", place[0])]
    if not places:
        return  # the first mutation of this file took them away
    place = rng.choice(places)
    holder, key = holder_of(header, place), place[-1]
    if rng.random() < 0.2:
        del holder[key]
    elif rng.random() < 0.2 and isinstance(holder[key], int):
        holder[key] += rng.choice((-1, 1, 2**20))
    else:
        holder[key] = deepcopy(rng.choice(WEIRD))  # a later mutation may change it


def every_field(rng, model_file):
    """Return every (place of a field of the header, value to put there), in random order."""
    places = places_of(json.loads(model_file.header))
    pairs = [(place, value) for place in places for value in WEIRD]
    rng.shuffle(pairs)
    return pairs


def write_field(path, model_file, place, value):
    """Write a model file with another value in a field of the header, with valid checksums."""
    header = json.loads(model_file.header)
    holder_of(header, place)[place[-1]] = value
    forge(path, header, model_file.blobs)


def mutate_array(rng, arrays, within=""):
    names = sorted(name for name in arrays if name.startswith(within))
    if not names:
        return  # the first mutation of this file took it away
    name = rng.choice(names)
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
        other = rng.choice(names)
        arrays[name], arrays[other] = arrays[other], array
    elif array.size:
        values = array.ravel().copy()
        choices = EXTREME + (NOT_FINITE if array.dtype.kind == "f" else [])
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(choices), dtype=np.float64).astype(array.dtype)
            values[rng.randrange(len(values))] = value
        arrays[name] = values.reshape(array.shape)


def mutated(rng, path, model_file, within=""):
    """Write a mutated model file: mutated bytes, or mutated contents with valid checksums.

    With `within`, mutate only the fields of this section and the arrays whose names begin with its
    name.
    """
    if not within and rng.random() < 0.4:
        path.write_bytes(mutate_bytes(rng, model_file.data))
        return
    header, arrays = json.loads(model_file.header), dict(model_file.arrays)
    of_header = rng.random() < 0.5
    for _ in range(rng.choice((1, 1, 2))):
        mutate_header(rng, header, within) if of_header else mutate_array(rng, arrays, within)
    if of_header:
        forge(path, header, model_file.blobs)
    else:
        container.write(path, header, arrays)


def soon(answer, seconds=2.0):
    """Return ``answer()``, which must take fewer processor seconds in one of three calls.

    A virtual machine that pauses counts its pause as processor time.
    """
    for _ in range(3):
        start = time.process_time()
        found = answer()
        if time.process_time() - start < seconds:
            return found
    raise AssertionError(f"took more than {seconds} s three times")
