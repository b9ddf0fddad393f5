"""Files that are replaced in one step."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from cwboost.support.types import FilePath


def check_path(path) -> None:
    """Raise TypeError for what is not a path."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a str or an os.PathLike, got {path!r}")


@contextmanager
def replacing(path: FilePath, mode: str = "wb", **options: Any) -> Iterator[IO]:
    """Open a file that takes the place of the one at `path` at the end of the block.

    Until then the former file is whole, and stays so if the block or the writing fails; no other
    file is left. Links are followed. The new file has the permissions of the former one, which is
    not replaced if they do not allow writing. `mode` and `options` are those of `open`.
    """
    target = _target(path)
    former = _permissions(target)
    # A name of its own length: that of the target may be as long as the system lets it.
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(6)}.tmp")
    try:
        # What is to be private is so from the start; a new file gets the default permissions.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = os.open(temporary, flags, 0o666 if former is None else 0o600)
        with open(descriptor, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if former is not None:
            os.chmod(temporary, former)
        os.replace(temporary, target)
    except BaseException as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def append(path: FilePath, text: str) -> None:
    """Append text to a file; what does not fit on the disk is taken back."""
    data = text.encode()
    with open(path, "ab", buffering=0) as file:
        end = file.tell()
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:
            file.truncate(end)
            raise


def _target(path) -> str:
    """Return where to write, links followed: a regular file, or no file yet; else raise OSError."""
    check_path(path)
    given = os.fspath(path)
    target = os.path.realpath(given)
    if not os.path.basename(given) or (os.path.lexists(target) and not os.path.isfile(target)):
        raise OSError(errno.EINVAL, "not the name of a regular file to save to", given)
    return target


def _permissions(target: str) -> int | None:
    """Return the permissions of a file that may be written, None if it does not exist."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return None
    # The superuser may write everything, but what is write-protected is so for a reason.
    if not (mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is write-protected", target)
    return mode
