"""The container of a model file: a JSON header and compressed flat arrays, each with a checksum.

The container holds no code and names none. `read` assumes a hostile file: it checks every length,
dtype, shape and offset against the size of the file and a limit before it allocates memory.
docs/model_file.md describes the bytes.
"""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import struct
import zlib
from collections.abc import Mapping

import numpy as np

__all__ = ["FORMAT_VERSION", "ModelFileError", "default_limit", "read", "replace_file", "write"]

FORMAT_VERSION = 1
MAGIC = b"\x89CWB\r\n\x1a\n"  # as in PNG: a transfer in text mode damages it
PREFIX = struct.Struct("<8sIII")  # magic, format version, bytes of the header, crc32 of it
DIMENSIONS_LIMIT = 32
NAME_LIMIT = 100
INFLATION_LIMIT = 1032  # the largest expansion factor of deflate
DTYPE_NAMES = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
DTYPES = {name: np.dtype(name) for name in DTYPE_NAMES}
HEADER_MEMORY = 2**25
# Bytes that a character of JSON may turn into: an empty list, a dict of one key, a number.
HEADER_COSTS = {b"[": 72, b"{": 248, b",": 64, b":": 64}
PART_BYTES = 2**20  # decompressed at a time
QUICK_ABOVE = 2**22  # larger arrays are compressed at the fastest level


class ModelFileError(ValueError):
    """A model file that cannot be read: damaged, hostile, newer, or of a family not installed."""


# -------------------------------------------------------------------------------- writing


def write(path, header: Mapping, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a container in one step: a reader sees either the old file or the complete new one.

    JSON can hold `header`, in which the key "arrays" is taken. Arrays are of bools, integers or
    floats. What `read` would refuse is a TypeError or ValueError.
    """
    entries, blobs = [], []
    for name, array in arrays.items():
        entry, blob = _pack(name, np.asarray(array))
        entries.append(entry)
        blobs.append(blob)
    _check_entries(entries, sum(map(len, blobs)), np.inf)
    header = {**header, "arrays": entries}
    text = json.dumps(header, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    encoded = text.encode()
    _check_header(encoded)
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(encoded), zlib.crc32(encoded))
    replace_file(path, [prefix, encoded, *blobs])


def _pack(name: str, array: np.ndarray) -> tuple[dict, bytes]:
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} has dtype {array.dtype}, which a model file cannot hold")
    shape = list(array.shape)
    array = np.ascontiguousarray(array, dtype=dtype)
    packed = zlib.compress(array.tobytes(), 1 if array.nbytes > QUICK_ABOVE else 9)
    entry = {
        "name": name,
        "dtype": dtype.str,
        "shape": shape,
        "bytes": len(packed),
        "crc32": zlib.crc32(packed),
    }
    return entry, packed


def replace_file(path, parts: list[bytes]) -> None:
    """Write parts to a file in one step: what fails leaves the former file, and no other."""
    target = _regular_target(path)
    # A name of its own length: that of the target may be as long as the system lets it.
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(6)}.tmp")
    try:
        # open() gives the default permissions; tempfile would restrict them to the owner.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename is not None:
            # The caller never heard of the temporary name.
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _regular_target(path) -> str:
    """Return where to write, links followed: a regular file, or no file yet; else raise OSError."""
    given = os.fspath(path)
    target = os.path.realpath(given)
    if not os.path.basename(given) or (os.path.lexists(target) and not os.path.isfile(target)):
        raise OSError(errno.EINVAL, "not the name of a regular file to save to", given)
    return target


# -------------------------------------------------------------------------------- reading


def default_limit(path) -> int:
    """Most bytes that the arrays of a file may take: models shrink to a half or a sixth."""
    return min(2**26, 2**24 + 4 * os.stat(path).st_size)


def read(path, max_bytes: int) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the header of a container, without "arrays", and its arrays, at most `max_bytes`."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = _read_header(file, size)
        entries = header.pop("arrays", None)
        _check_entries(entries, size - file.tell(), max_bytes)
        return header, {entry["name"]: _read_array(file, entry) for entry in entries}


def _read_header(file, size: int) -> dict:
    prefix = file.read(PREFIX.size)
    if len(prefix) < PREFIX.size or not prefix.startswith(MAGIC):
        raise ModelFileError("not a cwboost model file (or its first bytes are damaged)")
    _, version, length, checksum = PREFIX.unpack(prefix)
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"format version must be at most {FORMAT_VERSION} for this version of cwboost, got "
            f"{version}: the file was written by a newer cwboost"
        )
    if version < 1 or length > size - PREFIX.size:
        raise ModelFileError("the header is damaged or cut off")
    encoded = file.read(length)
    if len(encoded) != length or zlib.crc32(encoded) != checksum:
        raise ModelFileError("the header is damaged: its checksum does not match")
    _check_header(encoded)
    try:
        header = json.loads(encoded, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ModelFileError("the header must be a JSON object")
    return header


def _check_header(encoded: bytes) -> None:
    """Raise ModelFileError for a header that turns into far more memory than it has bytes."""
    memory = sum(cost * encoded.count(character) for character, cost in HEADER_COSTS.items())
    if len(encoded) >= 2**32 or memory > HEADER_MEMORY + 2 * len(encoded):
        raise ModelFileError("the header would take far more memory than the file")


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON number")


def _natural(value) -> bool:
    return type(value) is int and value >= 0


def _check_entries(entries, stored: int, max_bytes: float) -> None:
    """Check the table of arrays against the size of the data, before reading any."""
    if not isinstance(entries, list):
        raise ModelFileError("arrays must be a list")
    names, total = set(), 0
    for entry in entries:
        raw = _raw_bytes(entry)
        if entry["name"] in names:
            raise ModelFileError(f"array {entry['name']!r} occurs twice")
        names.add(entry["name"])
        total += raw
        if raw > INFLATION_LIMIT * entry["bytes"]:
            raise ModelFileError(f"array {entry['name']!r} claims more than its bytes can hold")
    if sum(entry["bytes"] for entry in entries) != stored:
        raise ModelFileError("the file is cut off, or longer than its header says")
    if total > max_bytes:
        raise ModelFileError(
            f"the arrays must take at most max_bytes={max_bytes}, got {total} bytes; raise "
            "max_bytes if you trust the file"
        )


def _raw_bytes(entry) -> int:
    """Check one entry of the table and return the size of its array."""
    fields = {"name", "dtype", "shape", "bytes", "crc32"}
    if not isinstance(entry, dict) or set(entry) != fields:
        raise ModelFileError(
            f"an entry of the table of arrays must have the fields {sorted(fields)}"
        )
    name, shape = entry["name"], entry["shape"]
    if not isinstance(name, str) or len(name) > NAME_LIMIT:
        raise ModelFileError(
            f"an array's name must be a string of at most {NAME_LIMIT} characters, got "
            f"{str(name)[:NAME_LIMIT]!r}"
        )
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
        raise ModelFileError(f"array {name!r} has the unknown dtype {str(entry['dtype'])[:20]!r}")
    if (
        not isinstance(shape, list)
        or len(shape) > DIMENSIONS_LIMIT
        or not all(map(_natural, shape))
    ):
        raise ModelFileError(
            f"shape of array {name!r} must be at most {DIMENSIONS_LIMIT} integers >= 0"
        )
    if not _natural(entry["bytes"]) or not _natural(entry["crc32"]):
        raise ModelFileError(f"size and checksum of array {name!r} must be integers >= 0")
    # A zero would hide huge numbers from the product, and reshape would fail on them.
    if any(length >= 2**40 for length in shape):
        raise ModelFileError(f"array {name!r} has an axis longer than that of any model")
    return math.prod(shape) * DTYPES[entry["dtype"]].itemsize


def _read_array(file, entry: dict) -> np.ndarray:
    name, dtype = entry["name"], DTYPES[entry["dtype"]]
    stored = file.read(entry["bytes"])
    if len(stored) != entry["bytes"] or zlib.crc32(stored) != entry["crc32"]:
        raise ModelFileError(f"array {name!r} is damaged: its checksum does not match")
    array = np.empty(math.prod(entry["shape"]), dtype)
    _fill(array.view(np.uint8), stored, name)
    if dtype.kind == "b" and np.any(array.view(np.uint8) > 1):
        raise ModelFileError(f"array {name!r} has bools other than 0 and 1")
    return array.reshape(entry["shape"])


def _fill(array: np.ndarray, stored: bytes, name: str) -> None:
    """Decompress into an array of bytes, a part at a time."""
    inflater, done = zlib.decompressobj(), 0
    try:
        while done < len(array):
            part = inflater.decompress(stored, min(len(array) - done, PART_BYTES))
            stored = inflater.unconsumed_tail
            if not part:
                break
            array[done : done + len(part)] = np.frombuffer(part, np.uint8)
            done += len(part)
        # Ask for one byte more than declared: this detects a longer stream without unpacking it.
        more = inflater.decompress(stored, 1)
    except zlib.error as error:
        raise ModelFileError(f"array {name!r} does not decompress: {error}") from error
    if more or done < len(array) or not inflater.eof or inflater.unused_data:
        raise ModelFileError(f"array {name!r} does not decompress to its declared size")
