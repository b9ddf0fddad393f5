"""The container of a model file: an NPZ archive that holds a JSON header and arrays.

It holds no code and names none. `read` assumes a hostile file: it checks declared sizes, dtypes and
shapes against limits before it allocates memory. docs/model_file.md describes the members.
"""

import io
import json
import math
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from cwboost.support.files import check_path, replacing

FORMAT_VERSION = 1
HEADER = "header.json"
NAME = re.compile(r"[A-Za-z0-9_./ -]{1,100}")
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
ARRAYS_LIMIT = 20_000
DIRECTORY_LIMIT = 2**22
HEADER_MEMORY = 2**25
# Bytes that a character of JSON may turn into: an empty list, a dict of one key, a number.
HEADER_COSTS = {b"[": 72, b"{": 248, b",": 64, b":": 64}
PART_BYTES = 2**20  # decompressed at a time


class ModelFileError(ValueError):
    """A model file that cannot be read: damaged, hostile, newer, or of a family not installed."""


def default_limit(size: int) -> int:
    """Most bytes of arrays in a file of this size: models shrink to a half or a sixth."""
    return 2**24 + 4 * size


# -------------------------------------------------------------------------------- writing


def write(path, header: Mapping, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a container in one step: a reader sees either the old file or the complete new one.

    JSON can hold `header`, in which the keys "format" and "arrays" are taken. Arrays are of bools,
    integers or floats. What `read` would refuse is a TypeError or ValueError.
    """
    header = {"format": FORMAT_VERSION, **header, "arrays": list(arrays)}
    text = json.dumps(header, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    _check_header(text)
    if len(arrays) > ARRAYS_LIMIT:
        raise ModelFileError(f"a model file holds at most {ARRAYS_LIMIT} arrays, got {len(arrays)}")
    portable = {name: _portable(name, np.asarray(array)) for name, array in arrays.items()}
    with replacing(path) as file:
        declared = _write_archive(file, text, portable, ZIP_DEFLATED)
        if declared > default_limit(file.tell()):
            # Arrays of nearly equal numbers would be refused as a bomb.
            file.seek(0)
            file.truncate()
            _write_archive(file, text, portable, ZIP_STORED)


def _portable(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array as files hold it: little-endian, C-ordered."""
    if not NAME.fullmatch(name):
        raise ModelFileError(
            "an array's name must have 1 to 100 letters of ASCII, digits, '_', '.', '/', '-' and "
            f"spaces, got {name[:100]!r}"
        )
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TypeError(f"array {name!r} has dtype {array.dtype}, which a model file cannot hold")
    return np.asarray(array, dtype, order="C")


def _write_archive(file, text: bytes, arrays: Mapping[str, np.ndarray], method: int) -> int:
    """Write the archive; return how many bytes the members of arrays declare."""
    with ZipFile(file, "w", method) as archive:
        # The header turns into more memory than its bytes: they are to be in the file.
        archive.writestr(ZipInfo(HEADER), text, ZIP_STORED)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=array.nbytes > 2**30) as member:
                npy.write_array(member, array, version=(1, 0), allow_pickle=False)
        return sum(info.file_size for info in archive.infolist()[1:])


# -------------------------------------------------------------------------------- reading


class _File(io.FileIO):
    """An open file. zipfile reads a directory in one go, and turns it into ten times the memory."""

    def read(self, size=-1, /):
        if size is not None and size > DIRECTORY_LIMIT:
            raise ModelFileError(f"the directory must take at most {DIRECTORY_LIMIT} bytes")
        return super().read(size)


@contextmanager
def _opened(path) -> Iterator[_File]:
    """Open a file; what comes through a pipe goes to the disk first."""
    with _File(path) as file:
        if not stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            yield file
            return
        with tempfile.TemporaryFile() as stored:
            shutil.copyfileobj(file, stored, PART_BYTES)
            stored.seek(0)
            with _File(stored.fileno(), closefd=False) as copy:
                yield copy


def read(path, max_bytes: int | None = None) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the header of a container and its arrays, which take at most `max_bytes`."""
    check_path(path)
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            with ZipFile(file) as archive:
                return _read(archive, default_limit(size) if max_bytes is None else max_bytes)
        except ModelFileError:
            raise
        except Exception as error:  # zipfile and NumPy raise a dozen types for damaged files
            raise ModelFileError(f"not a cwboost model file, or damaged: {error}") from error


def _read(archive: ZipFile, max_bytes: int) -> tuple[dict, dict[str, np.ndarray]]:
    first, *members = archive.infolist()
    if first.filename != HEADER or first.compress_type != ZIP_STORED:
        raise ModelFileError(f"not a cwboost model file: its first member is not {HEADER!r}")
    with archive.open(first) as member:
        header = _read_header(b"".join(_parts(member)))
    names = header.pop("arrays", None)
    stored = [info.filename.removesuffix(".npy") for info in members]
    if names != stored or len(set(stored)) < len(stored):
        raise ModelFileError("the header must list the arrays of the file, each once")
    if any(info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for info in members):
        raise ModelFileError("the arrays must be stored or deflated")
    declared = sum(info.file_size for info in members)
    if declared > max_bytes:
        raise ModelFileError(
            f"the arrays must take at most max_bytes={max_bytes}, got {declared} bytes; raise "
            "max_bytes if you trust the file"
        )
    return header, {name: _read_array(name, archive, info) for name, info in zip(stored, members)}


def _parts(member: IO[bytes]) -> Iterator[bytes]:
    """Return the bytes of a member, at most as many as declared; zipfile compares the checksum."""
    return iter(lambda: member.read(PART_BYTES), b"")


def _read_header(encoded: bytes) -> dict:
    _check_header(encoded)
    header = json.loads(encoded, parse_constant=_refuse_constant)
    if not isinstance(header, dict):
        raise ModelFileError("the header must be a JSON object")
    version = header.pop("format", None)
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise ModelFileError(
            f"format must be a version from 1 to {FORMAT_VERSION}, got {str(version)[:20]}; a "
            "newer cwboost may have written the file"
        )
    return header


def _check_header(encoded: bytes) -> None:
    """Raise ModelFileError for a header that turns into far more memory than it has bytes."""
    memory = sum(cost * encoded.count(character) for character, cost in HEADER_COSTS.items())
    if memory > HEADER_MEMORY + 2 * len(encoded):
        raise ModelFileError("the header would take far more memory than the file")


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a JSON number")


def _read_array(name: str, archive: ZipFile, info: ZipInfo) -> np.ndarray:
    with archive.open(info) as member:
        if npy.read_magic(member) != (1, 0):
            raise ModelFileError(f"array {name!r} has an unknown version of the format NPY")
        shape, is_fortran, dtype = npy.read_array_header_1_0(member)
        if is_fortran or dtype.str not in DTYPES:
            raise ModelFileError(f"array {name!r} must be C-ordered, of one of {DTYPES}")
        if math.prod(shape) * dtype.itemsize != info.file_size - member.tell():
            raise ModelFileError(f"the shape of array {name!r} must be that of its bytes")
        array = np.empty(shape, dtype)
        flat, done = array.reshape(-1).view(np.uint8), 0
        for part in _parts(member):
            flat[done : done + len(part)] = np.frombuffer(part, np.uint8)
            done += len(part)
    if done < len(flat):
        raise ModelFileError(f"array {name!r} is cut off")
    if dtype.kind == "b" and np.any(flat > 1):
        raise ModelFileError(f"array {name!r} has bools other than 0 and 1")
    return array
