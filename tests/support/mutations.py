"""Forged and mutated model files: wrong bytes, or wrong contents with correct checksums."""

import io
import json
import re
import time
import zipfile
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from cwboost.model_file import container
from cwboost.model_file.container import HEADER

WEIRD = [
    *(None, True, -1, 0, 1, 3, 2**31, 2**63, -(2**63), 10**40, 1e308, -0.5, "", "x" * 5000),
    *([], {}, [[]], {"$": "array", "name": "fitted.classes_"}, {"$": "tuple", "items": [1]}),
]
EXTREME = [0, 1, -1, 2, 127, -128, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 1e308, -1e-308]
NOT_FINITE = [np.nan, np.inf, -np.inf]


def header_of(path):
    """Return the header of a model file."""
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(HEADER))


def npy(array):
    """Return the bytes of an array as a member of an archive."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def forge(path, header, members):
    """Write a file with any header (bytes, or a dict) and members (bytes, or arrays)."""
    if isinstance(header, dict):
        header = json.dumps({"arrays": list(members)} | header).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER), header, zipfile.ZIP_STORED)
        for name, member in members.items():
            archive.writestr(f"{name}.npy", member if isinstance(member, bytes) else npy(member))


class ModelFile(NamedTuple):
    """A saved model: the whole file, its header as text, its arrays by name."""

    data: bytes
    header: str
    arrays: dict


def prepared(clf, path):
    """Save a model with its training state and take the file apart."""
    clf.save(path, training_state=True)
    return ModelFile(path.read_bytes(), json.dumps(header_of(path)), container.read(path)[1])


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
    forge(path, header, model_file.arrays)


def mutate_array(rng, arrays, within=""):
    names = sorted(name for name in arrays if name.startswith(within))
    if not names:
        return  # the first mutation of this file took it away
    name = rng.choice(names)
    array, kind = arrays[name], rng.randrange(6)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        dtype = rng.choice(container.DTYPES)
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


# In the header of an NPY file: what is replaced, and by what.
HEADERS = [
    (rb"\(\d+,", [b"(2**", *[b"(99999999999999,", b"(10000000000,"] * 3]),
    (rb"\(\d+,", [b"(-1,", b"(True,", b"(12.0,", b"((12,),"]),
    (rb"'[<|]", [b"'>", b"'|", b"'", b"'<99", b"'O"]),
    (rb"{", [b"[" * 300, b"{{", b"(", b"{'a':1,"]),
    (rb"}", [b"", b"]", b"} #", b",}"]),
    (b"False", [b"True", b"1", b"None", b"0L"]),
    (b"\x01\x00", [b"\x02\x00", b"\x09\x00", b"\x03\x00"]),
]


def mutated_npy(rng, array):
    """Return the bytes of an array in a file with mutated bytes or another header."""
    if rng.random() < 0.1:
        return mutate_bytes(rng, npy(array))
    old, new = rng.choice(HEADERS)
    new = rng.choice(new)
    return re.sub(old, lambda found: new, npy(array), count=1)


def mutated(rng, path, model_file, within=""):
    """Write a mutated model file: mutated bytes, or mutated contents with valid checksums.

    With `within`, mutate only the fields of this section and the arrays whose names begin with its
    name.
    """
    header, arrays = json.loads(model_file.header), dict(model_file.arrays)
    kinds = "header", "arrays", *(("file", "directory", "members") if not within else ())
    kind = rng.choice(kinds)
    if kind in ("file", "directory"):
        start = model_file.data.index(b"PK\1\2") if kind == "directory" else 0
        path.write_bytes(model_file.data[:start] + mutate_bytes(rng, model_file.data[start:]))
        return
    members = {}
    for _ in range(rng.choice((1, 1, 2))):
        if kind == "header":
            mutate_header(rng, header, within)
        elif kind == "arrays":
            mutate_array(rng, arrays, within)
        else:
            name = rng.choice(sorted(arrays))
            members[name] = mutated_npy(rng, arrays[name])
    forge(path, header, arrays | members)


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
