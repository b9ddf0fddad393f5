"""Downloads through pooch, and unpacking: a file appears when it is complete and checked."""

from __future__ import annotations

import errno
import gzip
import json
import lzma
import os
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cwboost.support.extras import extra

__all__ = ["ALL", "LockFile", "RemoteFile", "download", "unpack"]

ALL = ("*",)
"""Value of ``RemoteFile.members`` that unpacks the whole archive, with its folders."""

DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    # Zip versions, compressions and passwords that the standard library does not know; fields
    # that make no sense.
    *(EOFError, RuntimeError, struct.error, OverflowError, LookupError, UnicodeError),
)
"""What the standard library raises for an archive that it cannot read."""


@dataclass(frozen=True)
class RemoteFile:
    """A file at a stable public address.

    Parameters
    ----------
    url : str
    known_hash : str or None
        Checksum as "sha256:..." or "md5:...". None if none is public: the lock file then records
        the checksum of the first download whose content has the known figures.
    members : tuple of str
        Members of an archive to unpack, given by the last part of their names, or `ALL`. Empty
        keeps the file as it is.
    name : str
        File name; by default the last part of the address.
    """

    url: str
    known_hash: str | None = None
    members: tuple[str, ...] = ()
    name: str = ""

    @property
    def filename(self) -> str:
        """Name of the local file."""
        return self.name or self.url.rpartition("/")[2]


class LockFile:
    """Recorded checksums of files without a published one, from the first valid download.

    Parameters
    ----------
    path : Path
        JSON file with one object per file name.
    """

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> dict[str, dict]:
        """``{filename: {"url": ..., "hash": "sha256:..."}}``."""
        if not self.path.exists():
            return {}
        return json.loads(self.path.read_text("utf-8"))

    def record(self, remote: RemoteFile, known_hash: str) -> None:
        """Record a checksum, unless the file already has one."""
        entries = self.read()
        entries.setdefault(remote.filename, {"url": remote.url, "hash": known_hash})
        text = json.dumps(entries, indent=1, sort_keys=True) + "\n"
        _write_whole(self.path, lambda stream: stream.write(text.encode()))


def download(remote: RemoteFile, folder: Path, *, lock: LockFile, quiet=False) -> Path:
    """Download a file, unless it exists with the right checksum, and return its path.

    The file appears in `folder` only when it is complete and its checksum is right.

    Raises
    ------
    ValueError
        If the checksum differs from the published or recorded one; nothing is kept.
    ConnectionError
        If the server cannot be reached or the connection breaks; nothing is kept.
    OSError
        If the server refuses, as for an address that is gone.
    ImportError
        If pooch, requests or tqdm is not installed.
    """
    with extra("fetch", "a download needs pooch, requests and tqdm"):
        import pooch
        import tqdm  # noqa: F401
        from requests.exceptions import HTTPError, RequestException
    known_hash = remote.known_hash or lock.read().get(remote.filename, {}).get("hash")
    try:
        path = pooch.retrieve(
            remote.url, known_hash, fname=remote.filename, path=folder, progressbar=not quiet
        )
    except HTTPError:
        raise
    except RequestException as error:
        raise ConnectionError(
            f"{remote.url}: the download failed, and nothing of it is kept: {error}"
        ) from error
    return Path(path)


def unpack(archive: Path, members: tuple[str, ...], folder: Path) -> list[Path]:
    """Unpack members of a zip or tar archive into `folder`, each in one step.

    Parameters
    ----------
    archive : Path
    members : tuple of str
        Last parts of the members' names; `ALL` unpacks every file with its folders.
    folder : Path

    Raises
    ------
    ValueError
        For a damaged archive, a missing member, or a name that points outside `folder`.
    """
    try:
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as source:
                files = {m.filename: m for m in source.infolist() if not m.is_dir()}
                return _unpack(files, source.open, members, folder, archive)
        with tarfile.open(archive) as source:
            files = {m.name: m for m in source.getmembers() if m.isfile()}
            return _unpack(files, source.extractfile, members, folder, archive)
    except DAMAGED as error:
        raise ValueError(f"{archive} is a damaged archive: {error}") from error
    except OSError as error:
        # A member that begins before the archive does; full disks and such are what they are.
        if error.errno != errno.EINVAL:
            raise
        raise ValueError(f"{archive} is a damaged archive: {error}") from error


def _unpack(files, open_member, members, folder, archive):
    if members == ALL:
        wanted = {name: name for name in files}
    else:
        wanted = {name: PurePosixPath(name).name for name in files}
        wanted = {name: last for name, last in wanted.items() if last in members}
        missing = set(members) - set(wanted.values())
        if missing:
            raise ValueError(f"{archive} lacks {', '.join(sorted(missing))}")
    written = []
    for name, relative in wanted.items():
        target = folder / relative
        if not target.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{archive} has a member that points outside its folder: {name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with open_member(files[name]) as source:
            _write_whole(target, lambda stream, source=source: shutil.copyfileobj(source, stream))
        written.append(target)
    return written


def _write_whole(path: Path, write) -> None:
    """Write to a temporary file beside `path`, then move it there."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
