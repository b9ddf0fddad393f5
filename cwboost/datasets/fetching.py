"""Fetching of a data set: download its files, unpack them, compare them with the known figures."""

from __future__ import annotations

import shutil
from pathlib import Path

from cwboost.datasets.catalogue import CATALOGUE, DataSet, find
from cwboost.datasets.download import LockFile, download, unpack
from cwboost.datasets.loading import BUNDLED, load

__all__ = ["fetch"]

LOCK_NAME = "checksums.json"


def fetch(name, data_dir, *, quiet=False) -> Path:
    """Download a data set into ``data_dir/NAME`` and check it.

    A file with a published checksum is compared with it. The content of the other files is
    compared with the known figures of the data set (counts, moments); if they agree, the file's
    checksum is recorded in ``data_dir/checksums.json``, and later downloads are compared with it.

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
        For an unknown name, a set without a stable public address (the message says where to get
        it), a wrong checksum or content that differs from the known figures.
    ConnectionError
        If the server cannot be reached or the connection breaks. Files that are complete are
        kept for the next call.
    ImportError
        If pooch, requests or tqdm is not installed, which the extra ``cwboost[fetch]`` installs.
    """
    dataset = name if isinstance(name, DataSet) else find(name)
    if not dataset.remote:
        raise ValueError(
            f"{dataset.name} has no stable public address to fetch from; get it from "
            f"{dataset.get_it}"
        )
    data_dir = Path(data_dir).expanduser()
    folder = data_dir / dataset.name
    lock = LockFile(data_dir / LOCK_NAME)
    existed = folder.exists()
    files = [download(remote, folder, lock=lock, quiet=quiet) for remote in dataset.remote]
    written = []
    try:
        for remote, path in zip(dataset.remote, files):
            if remote.members:
                written += unpack(path, remote.members, folder)
        load(dataset, data_dir)
    except ValueError:
        # The next load must not find files that are not the data set.
        for path in [*files, *written]:
            path.unlink(missing_ok=True)
        if not existed:
            shutil.rmtree(folder)
        raise
    import pooch

    for remote, path in zip(dataset.remote, files):
        if remote.known_hash is None:
            lock.record(remote, "sha256:" + pooch.file_hash(path))
    return folder


def overview(data_dir=None) -> list[tuple[str, str, str, str]]:
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
        rows.append((dataset.name, dataset.title, state, origin))
    return rows
