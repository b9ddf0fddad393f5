"""The writer of files: it replaces the content, whole or not at all, and nothing else of a file."""

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from cwboost.support.types import FilePath

MAY_NOT_REPLACE = {
    errno.EACCES,
    errno.EBUSY,  # a file that is mounted
    errno.ENOTSUP,
    errno.EPERM,
    errno.EROFS,
    errno.EXDEV,
}
"""Errors of replacing a file, or of giving the new one the attributes of the former one, after
which the former one may still be written."""
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
PART = 2**20  # bytes copied at a time


def check_path(path) -> None:
    """Raise TypeError for what is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a str or an os.PathLike, got {path!r}")


@contextmanager
def replacing(path: FilePath, mode: str = "wb", **options: Any) -> Iterator[IO]:
    """Open a file whose content takes the place of that at `path` at the end of the block.

    Until then the former content is whole, and stays so if the block or the writing fails; no other
    file is left. Links are followed, and `mode` and `options` are those of `open`.

    A file is replaced in one step, by one of its owner, group, permissions and extended attributes.
    Where that cannot be (hard links, a mounted file, a file of someone else), the content is
    overwritten, and put back if that fails. Pipes, devices and open files, such as ``/dev/stdout``,
    get the content as a stream. A write-protected file is an error.
    """
    check_path(path)
    target, temporary = os.path.realpath(path), None
    try:
        stream = stream_of(path)
        former = _former(target, path) if stream is None else None
        descriptor, temporary = _draft(None if stream is not None else target, former)
        with open(descriptor, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if stream is not None:
            with open(temporary, "rb") as source, open_stream(path) as sink:
                _copy(source, sink)
        elif not _replace(temporary, target, former):
            _overwrite(temporary, target)
    except OSError as error:
        if error.filename in (None, temporary, target):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    finally:
        if temporary is not None and os.path.lexists(temporary):
            os.unlink(temporary)


@contextmanager
def open_stream(path: FilePath) -> Iterator[int | None]:
    """Open what is written as a stream; return its descriptor, None for a stored file."""
    stream = stream_of(path)
    if not isinstance(stream, str):
        yield stream
        return
    descriptor = os.open(stream, os.O_WRONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def append(path: FilePath, text: str) -> None:
    """Append text to a stored file; what does not fit on the disk is taken back."""
    with open(path, "ab", buffering=0) as file:
        end = file.tell()
        try:
            write_all(file.fileno(), text.encode())
        except OSError:
            file.truncate(end)
            raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes to an open file."""
    while data:
        data = data[os.write(descriptor, data) :]


def stream_of(path) -> int | str | None:
    """Return the descriptor or the path of what is written as a stream; None for a stored file."""
    place = os.path.normpath(os.path.abspath(path)) if os.name == "posix" else os.fspath(path)
    for _ in range(40):  # as many links as the system follows
        folder, name = os.path.split(place)
        if place.replace(os.sep, "/") in STANDARD:
            return STANDARD[place.replace(os.sep, "/")]
        if name.isdecimal() and os.path.realpath(folder) == os.path.realpath("/dev/fd"):
            return int(name)
        if not os.path.islink(place):
            break
        place = os.path.join(folder, os.readlink(place))
    with suppress(OSError):
        mode = os.stat(place).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode):
            return place
    return None


def _former(target: str, path) -> os.stat_result | None:
    """Return the state of a file that may be written, None if there is none yet."""
    given = os.fspath(path)
    if not os.path.basename(given) or (os.path.lexists(target) and not os.path.isfile(target)):
        raise OSError(errno.EINVAL, "not the name of a file to save to", given)
    try:
        former = os.stat(target)
    except FileNotFoundError:
        return None
    # The superuser may write everything, but what is write-protected is so for a reason.
    if not (former.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is write-protected", target)
    return former


def _draft(target: str | None, former) -> tuple[int, str]:
    """Create the file that holds the content until it is whole: beside the target, if it may be."""
    if target is not None:
        # A name of its own length: that of the target may be as long as the system lets it.
        temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(6)}.tmp")
        # What is to be private is so from the start; a new file gets the default permissions.
        mode = 0o666 if former is None else 0o600
        try:
            return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode), temporary
        except OSError as error:
            if former is None or error.errno not in MAY_NOT_REPLACE:
                raise OSError(error.errno, error.strerror) from error
    return tempfile.mkstemp()


def _replace(temporary: str, target: str, former: os.stat_result | None) -> bool:
    """Put a file in the place of another in one step; return False if attributes would be lost."""
    if former is not None and former.st_nlink > 1:
        return False
    try:
        if former is not None:
            _adopt(temporary, target, former)
        os.replace(temporary, target)
    except OSError as error:
        if former is None or error.errno not in MAY_NOT_REPLACE:
            raise OSError(error.errno, error.strerror) from error
        return False
    return True


def _adopt(temporary: str, target: str, former: os.stat_result) -> None:
    """Give a file the owner, the group, the permissions and the extended attributes of another."""
    new = os.stat(temporary)
    if (new.st_uid, new.st_gid) != (former.st_uid, former.st_gid):
        os.chown(temporary, former.st_uid, former.st_gid)
    os.chmod(temporary, stat.S_IMODE(former.st_mode))
    has = _attributes(temporary)
    for name, value in _attributes(target).items():
        if has.get(name) != value:
            os.setxattr(temporary, name, value)


def _attributes(path: str) -> dict[str, bytes]:
    """Return the extended attributes of a file, access lists among them, where there are such."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}


def _overwrite(temporary: str, target: str) -> None:
    """Overwrite the content of a file; put the former one back if that fails."""
    with open(target, "r+b", buffering=0) as file:
        former = file.read()
        try:
            file.seek(0)
            with open(temporary, "rb") as source:
                _copy(source, file.fileno())
            file.truncate()
            os.fsync(file.fileno())
        except BaseException:
            file.seek(0)
            write_all(file.fileno(), former)
            file.truncate()
            raise


def _copy(source: IO[bytes], sink: int) -> None:
    while part := source.read(PART):
        write_all(sink, part)
