"""Fetching of a data set: download its files, unpack them, compare them with the known figures."""

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from cwboost.datasets.catalogue import CATALOGUE, DataSet, find
from cwboost.datasets.loading import BUNDLED, load
from cwboost.support.extras import extra


def fetch(name, data_dir, *, quiet=False) -> Path:
    """Download a data set into ``data_dir/NAME``, unless it is there, and check it.

    The folder appears when its files are complete, agree with their published checksums and have
    the known figures of the data set (counts, moments).

    Parameters
    ----------
    name : str or DataSet
        A name as for `cwboost.datasets.load`, or an entry like those of the catalogue.
    data_dir : str or path-like
        Folder of the data sets; `load` finds the set there.
    quiet : bool, default=False
        Do not show progress bars.

    Returns
    -------
    Path
        The folder of the data set.

    Raises
    ------
    ValueError
        For an unknown name, a set without a stable public address (the message has where to get
        it), a wrong checksum, a damaged archive, or content that differs from the known figures.
    OSError
        If the server cannot be reached or refuses, or the connection breaks.
    ImportError
        If pooch, requests or tqdm is not installed.
    """
    dataset = name if isinstance(name, DataSet) else find(name)
    if not dataset.remote:
        raise ValueError(
            f"name must be a set with a stable public address, got {dataset.name}; get it from "
            f"{dataset.get_it}"
        )
    data_dir = Path(data_dir).expanduser()
    folder = data_dir / dataset.name
    if folder.exists():
        load(dataset, folder)
        return folder
    data_dir.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{dataset.name}.", dir=data_dir))
    try:
        for url, known_hash in dataset.remote.items():
            _download(url, known_hash, new, quiet)
        load(dataset, new)
        new.chmod(0o755)  # mkdtemp keeps others out
        os.replace(new, folder)
    except BaseException:
        shutil.rmtree(new)
        raise
    return folder


def _download(url: str, known_hash: str | None, folder: Path, quiet: bool) -> None:
    """Download a file, and replace a ZIP or TAR archive by what it holds."""
    with extra("fetch", "a download needs pooch, requests and tqdm"):
        import pooch
        import requests  # noqa: F401
        import tqdm  # noqa: F401
    name = url.rpartition("/")[2]
    try:
        pooch.retrieve(url, known_hash, name, folder, progressbar=not quiet)
    except OSError as error:  # those of requests included
        raise OSError(f"{url}: the download failed: {error}") from error
    if name.endswith((".zip", ".tar.gz")):
        archive = folder / name
        try:
            if archive.suffix == ".zip":
                shutil.unpack_archive(archive, folder)
            else:
                _unpack_tar(archive, folder)
        except Exception as error:  # zipfile and tarfile raise a dozen kinds for damaged files
            raise ValueError(f"{url}: the archive cannot be unpacked: {error}") from error
        archive.unlink()


def _unpack_tar(archive: Path, folder: Path) -> None:
    """Unpack the files of a TAR archive. Up to 3.11.3, Python has no filter that checks them."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        files = list(filter(tarfile.TarInfo.isfile, opened))
        for member in files:
            if not (folder / member.name).resolve().is_relative_to(folder.resolve()):
                raise ValueError(f"it has a file outside its folder, {member.name!r}")
        opened.extractall(folder, files)


def overview(data_dir) -> list[tuple[str, str, str, str]]:
    """Return name, title, state and origin of every data set, for the command line."""
    rows = []
    for dataset in CATALOGUE.values():
        by_hand = "bundled" if dataset.name in BUNDLED else "by hand"
        origin = "fetch" if dataset.remote else by_hand
        try:
            state = load(dataset, data_dir).format
        except FileNotFoundError:
            state = "absent"
        except ValueError as error:
            state = f"damaged: {error}"
        except ImportError as error:  # the names of its files are known, not what they hold
            state = f"not read: {error}"
        rows.append((dataset.name, dataset.title, state, origin))
    return rows
