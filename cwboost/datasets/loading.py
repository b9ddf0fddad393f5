"""Loading of a data set from a folder, in any of its formats, with checks."""

import math
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from cwboost.datasets.bundled import load_pendigits, load_vowel
from cwboost.datasets.catalogue import DataSet, find
from cwboost.datasets.formats.npz import read_npz

BUNDLED = {"VOWEL": load_vowel, "PENDIGITS": load_pendigits}

SMALLEST_SIDE = 32
"""Of square images of another size than the source's; features need some pixels."""


class DataAbsent(FileNotFoundError):
    """None of a data set's files exists; the message has their names and where to get them."""


def load(name, data_dir=None, *, check=True):
    """Load a data set of the paper from a folder.

    Parameters
    ----------
    name : str
        VOWEL, PENDIGITS, ISOLET, USPS, MNIST, CIFAR10, GTSRB, SCENE15, SUN, LABELME or PASCAL07;
        case is ignored.
    data_dir : str or path-like or None, default=None
        Folder with the files, or with a subfolder named as the set that has them: one ``.npz``
        file, or the official format. VOWEL and PENDIGITS are bundled and need none.
    check : bool, default=True
        Compare counts and statistics with those of the source. Turn it off only for a subset that
        you made yourself.

    Returns
    -------
    sklearn.utils.Bunch
        ``X_train, y_train, X_test, y_test`` if the source has a split, else ``X, y``; labels are
        int64 from 0. Also ``name``, ``format`` (the files read), ``image_shape`` or None, and
        ``target_names``.

    Raises
    ------
    DataAbsent
        If none of the set's files exists; a subclass of FileNotFoundError.
    ValueError
        For an unknown name, damaged or incomplete files, or figures that differ from the source's.
    """
    dataset = name if isinstance(name, DataSet) else find(name)
    arrays, used = _read(dataset, data_dir)
    shape = _image_shape(dataset, arrays)
    about = {"name": dataset.name, "format": used, "image_shape": shape}
    bunch = Bunch(**arrays | about)
    n_classes = 0
    for part in ("",) if "X" in bunch else ("_train", "_test"):
        labels = _checked_labels(bunch, part)
        bunch[f"y{part}"] = labels
        n_classes = max(n_classes, int(labels.max()) + 1)
    bunch.setdefault("target_names", np.array([str(c) for c in range(n_classes)]))
    if check:
        _check_figures(dataset, bunch)
    return bunch


def _read(dataset: DataSet, data_dir):
    if dataset.name in BUNDLED:
        return _bundled(BUNDLED[dataset.name]), "bundled"
    if data_dir is not None:
        folder = Path(data_dir).expanduser()
        if not folder.is_dir():
            raise DataAbsent(f"data_dir must be a folder that exists, got {str(folder)!r}")
        for place in (folder, folder / dataset.name, folder / dataset.name.lower()):
            path = place / f"{dataset.name}.npz"
            if path.exists():
                return read_npz(path), path.name
            if dataset.official is not None and place.is_dir():
                files, reader = dataset.official
                arrays = reader(place)
                if arrays is not None:
                    return arrays, files
    raise DataAbsent(_absent_message(dataset, data_dir))


def _image_shape(dataset: DataSet, arrays) -> tuple[int, ...] | None:
    """Return the shape of the images: that of the source, or another square of grey values."""
    shape = dataset.image_shape
    X = arrays.get("X", arrays.get("X_train"))
    if shape is None or X.ndim != 2 or X.shape[1] == math.prod(shape):
        return shape
    side = math.isqrt(X.shape[1])
    if len(shape) == 2 and side**2 == X.shape[1] and side >= SMALLEST_SIDE:
        return side, side
    pixels = " x ".join(map(str, shape))
    others = f", or of other squares from {SMALLEST_SIDE} x {SMALLEST_SIDE} on"
    raise ValueError(
        f"{dataset.name} must have rows of {pixels} pixels ({math.prod(shape):,} columns)"
        f"{others if len(shape) == 2 else ''}, got {X.shape[1]:,} columns"
    )


def _bundled(loader):
    arrays = {}
    for part in ("train", "test"):
        arrays[f"X_{part}"], arrays[f"y_{part}"] = loader(subset=part, return_X_y=True)
    return arrays


def _absent_message(dataset: DataSet, data_dir) -> str:
    where = "data_dir was not given" if data_dir is None else f"none of its files is in {data_dir}"
    files = [f"{dataset.name}.npz", *(dataset.official or ())[:1]]
    names = "".join(f"\n  - {name}" for name in files)
    fetch = f"\nor let cwboost download it: cwboost datasets fetch {dataset.name}"
    return (
        f"{dataset.name} ({dataset.title}): {where}. Looked for any of:{names}\n"
        f"Get it from {dataset.get_it}{fetch if dataset.remote else ''}"
    )


def _checked_labels(bunch, part: str) -> np.ndarray:
    """Check the arrays of a part and return its labels as int64."""
    X, y = bunch[f"X{part}"], bunch[f"y{part}"]
    if X.ndim != 2 or y.shape != (len(X),):
        raise ValueError(
            f"{bunch.name}: X{part} must be 2-d with one label per row, got shapes {X.shape} "
            f"and {y.shape}"
        )
    width = (X if part == "" else bunch.X_train).shape[1]
    if X.shape[1] != width:
        raise ValueError(f"{bunch.name}: X{part} must have {width} columns, got {X.shape[1]}")
    if not (y.size and y.dtype.kind in "biuf" and (y >= 0).all() and (y == np.floor(y)).all()):
        raise ValueError(
            f"{bunch.name}: y{part} must hold whole labels from 0, got {y[:5].tolist()}"
        )
    return y.astype(np.int64)


def _check_figures(dataset: DataSet, bunch) -> None:
    """Compare with the known figures of the source; see `cwboost.datasets.catalogue`."""
    X = bunch.X if "X" in bunch else bunch.X_train
    if dataset.n_features not in (None, X.shape[1]):
        raise ValueError(
            f"{dataset.name} must have {dataset.n_features} features, got {X.shape[1]}"
        )
    if not dataset.test_counts and "X_train" in bunch:
        # The files split the set; the source has no split.
        y = np.concatenate([bunch.y_train, bunch.y_test])
        _expect_counts(dataset, "examples per class", dataset.counts, y)
        return
    _expect_counts(
        dataset, "training examples per class", dataset.counts, bunch.get("y_train", bunch.get("y"))
    )
    if "y_test" in bunch:
        _expect_counts(dataset, "test examples per class", dataset.test_counts, bunch.y_test)
    if dataset.moments is not None:
        moments = (X.mean(dtype=np.float64), X.std(dtype=np.float64))
        # The known figures have six decimals; float32 copies differ by rounding.
        if not np.allclose(moments, dataset.moments, rtol=1e-5, atol=2e-6):
            raise ValueError(
                f"{dataset.name} must have training values of mean {dataset.moments[0]:.6f} and "
                f"standard deviation {dataset.moments[1]:.6f}, got {moments[0]:.6f} and "
                f"{moments[1]:.6f}: other data, or modified data"
            )


def _expect_counts(dataset, what, known, y):
    if not known:
        return
    counts = np.bincount(y, minlength=len(known))
    if not np.array_equal(counts, known):
        raise ValueError(
            f"{dataset.name} must have {sum(known)} {what} as {list(known)}, got {counts.sum()} as "
            f"{counts.tolist()}"
        )
