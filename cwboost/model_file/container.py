"""The container of a model file: a JSON header and compressed flat arrays, each with a checksum.

Nothing in it is executable and nothing names code. `read` takes a file for hostile: every length,
dtype, shape and offset is checked against the size of the file and a limit before anything of
that size is allocated. docs/model_file.md describes the bytes.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import struct
import zlib
from collections.abc import Mapping

import numpy as np

__all__ = ["FORMAT_VERSION", "ModelFileError", "read", "write"]

FORMAT_VERSION = 1
MAGIC = b"\x89CWB\r\n\x1a\n"  # as PNG has it: a transfer in text mode is noticed
PREFIX = struct.Struct("<8sIII")  # magic, format version, bytes of the header, crc32 of it
HEADER_LIMIT = 2**24
ARRAYS_LIMIT = 256
DIMENSIONS_LIMIT = 4
INFLATION_LIMIT = 1032  # no deflate stream grows by more
DTYPE_NAMES = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f4", "<f8")
DTYPES = {name: np.dtype(name) for name in DTYPE_NAMES}
FILTERS = ("none", "shuffle", "delta")
QUICK_ABOVE = 2**22  # arrays of more bytes are compressed in one quick try


class ModelFileError(ValueError):
    """A model file that cannot be read: damaged, hostile, newer, or of a family not installed."""


# -------------------------------------------------------------------------------- writing


def write(path, header: Mapping, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a container in one step: a reader sees the old file or the new one, whole.

    Parameters
    ----------
    path : path-like
    header : mapping that JSON can hold; the key "arrays" is taken
    arrays : mapping of name to ndarray of bools, integers or floats

    Raises
    ------
    TypeError
        For an array of another dtype.
    OSError
        Where the file cannot be written; the old one is then untouched.
    """
    entries, blobs = [], []
    for name, array in arrays.items():
        entry, blob = _pack(name, np.asarray(array))
        entries.append(entry)
        blobs.append(blob)
    text = json.dumps({**header, "arrays": entries}, allow_nan=False, separators=(",", ":"))
    encoded = text.encode("ascii")
    if len(encoded) > HEADER_LIMIT or len(entries) > ARRAYS_LIMIT:
        raise ValueError(
            f"the header takes {len(encoded)} bytes and {len(entries)} arrays; a model file has "
            f"at most {HEADER_LIMIT} and {ARRAYS_LIMIT}"
        )
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(encoded), zlib.crc32(encoded))
    _replace(path, [prefix, encoded, *blobs])


def _pack(name: str, array: np.ndarray) -> tuple[dict, bytes]:
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} has dtype {array.dtype}, which a model file cannot hold")
    shape = list(array.shape)
    array = np.ascontiguousarray(array, dtype=dtype)
    quick = array.nbytes > QUICK_ABOVE
    names = FILTERS if dtype.kind in "iu" else FILTERS[:2]
    if quick:
        names = ("shuffle",)
    packed = {f: zlib.compress(_filtered(array.ravel(), f), 1 if quick else 9) for f in names}
    best = min(packed, key=lambda f: len(packed[f]))
    entry = {
        "name": name,
        "dtype": dtype.str,
        "shape": shape,
        "filter": best,
        "bytes": len(packed[best]),
        "crc32": zlib.crc32(packed[best]),
    }
    return entry, packed[best]


def _filtered(flat: np.ndarray, name: str) -> bytes:
    """Bytes that compress better: like bytes of neighbours together, after differences."""
    if name == "delta":
        words = flat.view(f"<u{flat.itemsize}")
        flat = words.copy()
        flat[1:] -= words[:-1]
    if name != "none":
        flat = flat.view(np.uint8).reshape(-1, flat.itemsize).T
    return flat.tobytes()


def _replace(path, parts: list[bytes]) -> None:
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    try:
        # Made with the usual permissions, which a temporary file of the standard library has not.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    """Make the new name last, where the system lets a folder be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


# -------------------------------------------------------------------------------- reading


def read(path, max_bytes: int) -> tuple[dict, dict[str, np.ndarray]]:
    """Read a container.

    Parameters
    ----------
    path : path-like
    max_bytes : int
        Most bytes that all arrays together may take once decompressed.

    Returns
    -------
    header : dict
        As written, without "arrays".
    arrays : dict of ndarray

    Raises
    ------
    ModelFileError
        With what is wrong.
    OSError
        Where the file cannot be opened or read.
    """
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
            f"the file has format version {version}, and this version of cwboost reads up to "
            f"{FORMAT_VERSION}: it was written by a newer cwboost"
        )
    if version < 1 or length > min(HEADER_LIMIT, size - PREFIX.size):
        raise ModelFileError("the header is damaged or cut off")
    encoded = file.read(length)
    if len(encoded) != length or zlib.crc32(encoded) != checksum:
        raise ModelFileError("the header is damaged: its checksum does not match")
    try:
        header = json.loads(encoded, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ModelFileError("the header must be a JSON object")
    return header


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a number of JSON")


def _natural(value) -> bool:
    return type(value) is int and value >= 0


def _check_entries(entries, stored: int, max_bytes: int) -> None:
    """Check the table of arrays against the bytes that follow it, before any is read."""
    if not isinstance(entries, list) or len(entries) > ARRAYS_LIMIT:
        raise ModelFileError(f"arrays must be a list of at most {ARRAYS_LIMIT}")
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
            f"the arrays take {total} bytes, above the limit of {max_bytes}; where the file is "
            "trusted, raise max_bytes"
        )


def _raw_bytes(entry) -> int:
    """Check one entry of the table and return the size of its array."""
    fields = {"name", "dtype", "shape", "filter", "bytes", "crc32"}
    if not isinstance(entry, dict) or set(entry) != fields:
        raise ModelFileError(
            f"an entry of the table of arrays must have the fields {sorted(fields)}"
        )
    name, shape = entry["name"], entry["shape"]
    if not isinstance(name, str) or len(name) > 100:
        raise ModelFileError("an array's name must be a string of at most 100 characters")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in DTYPES:
        raise ModelFileError(f"array {name!r} has the unknown dtype {str(entry['dtype'])[:20]!r}")
    if not isinstance(entry["filter"], str) or entry["filter"] not in FILTERS:
        raise ModelFileError(f"array {name!r} has an unknown filter")
    if (
        not isinstance(shape, list)
        or len(shape) > DIMENSIONS_LIMIT
        or not all(map(_natural, shape))
    ):
        raise ModelFileError(f"array {name!r} has a shape that is not a few natural numbers")
    if not _natural(entry["bytes"]) or not _natural(entry["crc32"]):
        raise ModelFileError(f"array {name!r} has a size or checksum that is not a natural number")
    # A zero among huge numbers would hide them from the product and upset reshape.
    if any(length >= 2**40 for length in shape):
        raise ModelFileError(f"array {name!r} has an axis that no model has")
    return math.prod(shape) * DTYPES[entry["dtype"]].itemsize


def _read_array(file, entry: dict) -> np.ndarray:
    name, dtype = entry["name"], DTYPES[entry["dtype"]]
    stored = file.read(entry["bytes"])
    if len(stored) != entry["bytes"] or zlib.crc32(stored) != entry["crc32"]:
        raise ModelFileError(f"array {name!r} is damaged: its checksum does not match")
    n_bytes = _raw_bytes(entry)
    inflater = zlib.decompressobj()
    try:
        # One byte more than declared, so that a longer stream is seen and never unpacked.
        raw = inflater.decompress(stored, n_bytes + 1)
    except zlib.error as error:
        raise ModelFileError(f"array {name!r} does not decompress: {error}") from error
    if len(raw) != n_bytes or not inflater.eof or inflater.unused_data:
        raise ModelFileError(f"array {name!r} does not decompress to the size it declares")
    flat = _unfiltered(raw, dtype, entry["filter"])
    if dtype.kind == "b" and np.any(flat.view(np.uint8) > 1):
        raise ModelFileError(f"array {name!r} has bools that are neither 0 nor 1")
    return flat.reshape(entry["shape"])


def _unfiltered(raw: bytes, dtype: np.dtype, name: str) -> np.ndarray:
    """Inverse of `_filtered`, as an array that owns its memory."""
    flat = np.frombuffer(raw, np.uint8)
    if name != "none":
        flat = flat.reshape(dtype.itemsize, -1).T
    flat = np.array(flat, order="C").reshape(-1)
    if name == "delta":
        words = flat.view(f"<u{dtype.itemsize}")
        # The running sum wraps around as the differences did.
        np.cumsum(words, dtype=words.dtype, out=words)
    return flat.view(dtype)
