"""Downloads through pooch: resumed after a break, checked, moved into place when complete."""

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
from cwboost.support.progress import progress_bar

__all__ = ["ALL", "LockFile", "RemoteFile", "ResumingDownloader", "download", "unpack"]

ALL = ("*",)
"""Value of ``RemoteFile.members`` that unpacks the whole archive, with its folders."""

DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError),
    # Zip versions, compressions and passwords that the standard library does not know; fields
    # that make no sense.
    *(EOFError, RuntimeError, struct.error, OverflowError, LookupError, UnicodeError),
)
"""What the standard library raises for an archive that it cannot read."""

BLOCK = 1 << 18
TIMEOUT = (10, 60)


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


class ResumingDownloader:
    """Downloader for pooch that keeps an unfinished download and requests the rest.

    ``NAME.part`` holds the bytes received so far and ``NAME.part.tag`` the server's entity tag of
    the file's version. The next call requests the rest of that version (If-Range). A server that
    has another version, or does not support ranges, sends the whole file, and the download starts
    again.

    Parameters
    ----------
    partial : Path
        Path of the unfinished file.
    attempts : int, default=3
        Number of broken connections after which the error is raised.
    quiet : bool, default=False
        Do not show a progress bar.
    """

    def __init__(self, partial: Path, *, attempts=3, quiet=False):
        self.partial = partial
        self.tag = partial.with_name(partial.name + ".tag")
        self.attempts = attempts
        self.quiet = quiet

    def __call__(self, url, output_file, pooch=None, check_only=False):
        """Download `url`; pooch calls this, then checks and moves `output_file`."""
        import requests

        if check_only:
            return requests.head(url, timeout=TIMEOUT, allow_redirects=True).ok
        for attempt in range(self.attempts):
            try:
                self._continue(url)
                break
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
                if attempt + 1 == self.attempts:
                    kept = self.partial.stat().st_size if self.partial.exists() else 0
                    raise ConnectionError(
                        f"{url}: the connection broke {self.attempts} times: {error}; {kept} bytes "
                        "are kept and the next attempt continues from there"
                    ) from error
        os.replace(self.partial, output_file)
        self.tag.unlink(missing_ok=True)
        return None

    def _continue(self, url):
        import requests

        start = self.partial.stat().st_size if self.partial.exists() else 0
        mark = self.tag.read_text("ascii") if self.tag.exists() else ""
        # Without an entity tag the bytes so far may belong to another version of the file.
        start = start if mark else 0
        headers = {"Accept-Encoding": "identity"}
        if start:
            headers |= {"Range": f"bytes={start}-", "If-Range": mark}
        with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                # Nothing is left to send, or the file shrank: start again.
                self.partial.unlink()
                self.tag.unlink()
                raise requests.ConnectionError("the server cannot continue from there")
            response.raise_for_status()
            start = start if response.status_code == requests.codes.partial_content else 0
            self._note_version(response)
            self._write(response, start)

    def _note_version(self, response):
        # A weak tag (W/"...") does not promise the same bytes, and servers refuse it in If-Range.
        mark = response.headers.get("ETag", "")
        mark = mark if not mark.startswith("W/") else ""
        mark = mark or response.headers.get("Last-Modified", "")
        self.tag.write_text(mark, "ascii")

    def _write(self, response, start):
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        with (
            self.partial.open("ab" if start else "wb") as stream,
            progress_bar(
                total=total,
                initial=start,
                unit="B",
                unit_scale=True,
                desc=self.partial.name.removesuffix(".part"),
                disable=self.quiet,
            ) as bar,
        ):
            for block in response.iter_content(BLOCK):
                stream.write(block)
                bar.update(len(block))
            done = stream.tell()
        if total is not None and done != total:
            import requests

            raise requests.ConnectionError(f"received {done} of {total} bytes")


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
        If the connection keeps breaking; the bytes received are kept for the next attempt.
    ImportError
        If pooch, requests or tqdm is not installed.
    """
    with extra("fetch", "a download needs pooch, requests and tqdm"):
        import pooch
        import requests  # noqa: F401
        import tqdm  # noqa: F401
    folder.mkdir(parents=True, exist_ok=True)
    known_hash = remote.known_hash or lock.read().get(remote.filename, {}).get("hash")
    downloader = ResumingDownloader(folder / f"{remote.filename}.part", quiet=quiet)
    path = pooch.retrieve(
        remote.url, known_hash, fname=remote.filename, path=folder, downloader=downloader
    )
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
