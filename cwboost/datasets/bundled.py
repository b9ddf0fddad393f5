"""Three small real data sets that ship with the package, for trials and tests."""

from importlib import resources

import numpy as np
from sklearn.utils import Bunch

from cwboost.support.extras import extra

_SUBSETS = ("all", "train", "test")


def load_annealing(*, as_frame=False, return_X_y=False):
    """Load the bundled ANNEALING table: 898 examples, 25 categories, 6 numbers, 5 classes.

    Parameters
    ----------
    as_frame : bool, default=False
        Return the data as a pandas frame whose categories have the dtype "category".
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the Bunch.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (898, 31), a frame or float64 with codes of categories; gaps are NaN; ``target``
        (898,) int64 in 0..4; ``target_names``; ``feature_names``; ``is_categorical`` (31,) bool;
        ``categories``, a dict of the names of a column's categories in the order of their codes;
        ``DESCR``, which names the source and its licence.

    Raises
    ------
    ImportError
        For `as_frame` without pandas.

    Examples
    --------
    >>> from cwboost.datasets import load_annealing
    >>> table = load_annealing()
    >>> table.data.shape, int(table.is_categorical.sum())
    ((898, 31), 25)
    """
    stored = _read("annealing.npz")
    data, names = stored["X"], stored["feature_names"]
    coded = {j: stored.get(f"categories_{j}") for j in range(len(names))}
    if as_frame:
        with extra("frames", "as_frame=True needs pandas"):
            import pandas as pd
        columns = [
            data[:, j]
            if known is None
            else pd.Categorical.from_codes(np.nan_to_num(data[:, j], nan=-1).astype(int), known)
            for j, known in coded.items()
        ]
        data = pd.DataFrame(dict(zip(names.tolist(), columns)))
    y = stored["y"].astype(np.int64)
    if return_X_y:
        return data, y
    return Bunch(
        data=data,
        target=y,
        target_names=stored["target_names"],
        feature_names=names.tolist(),
        is_categorical=np.array([known is not None for known in coded.values()]),
        categories={names[j]: known for j, known in coded.items() if known is not None},
        DESCR=_description("annealing.npz"),
    )


def load_vowel(*, subset="all", return_X_y=False):
    """Load the bundled VOWEL set: 990 examples, 10 features, 11 classes.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" and "test" are the source's split by speaker (528 and 462 examples); "all" is
        "train" followed by "test".
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the Bunch.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n_samples, 10) float64 and ``target`` (n_samples,) int64 in 0..10;
        ``target_names``; ``feature_names``; ``is_test`` (n_samples,) bool, True for the rows of
        the source's test part; ``DESCR``, which names the source and its licence.

    Raises
    ------
    ValueError
        For an unknown `subset`.

    Examples
    --------
    >>> from cwboost.datasets import load_vowel
    >>> X, y = load_vowel(return_X_y=True)
    >>> X.shape
    (990, 10)
    """
    stored = _read("vowel.npz")
    return _bunch(
        {part: stored[f"thousandths_{part}"] / 1000.0 for part in ("train", "test")},
        stored,
        subset,
        return_X_y,
        target_names=["hid", "hId", "hEd", "hAd", "hYd", "had", "hOd", "hod", "hUd", "hud", "hed"],
        feature_names=[f"log_area_ratio_{j}" for j in range(10)],
        DESCR=_description("vowel.npz"),
    )


def load_pendigits(*, subset="all", return_X_y=False):
    """Load the bundled PENDIGITS set: 10,992 examples, 16 features, 10 classes.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        "train" and "test" are the source's split by writer (7,494 and 3,498 examples); "all" is
        "train" followed by "test".
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of the Bunch.

    Returns
    -------
    sklearn.utils.Bunch
        ``data`` (n_samples, 16) uint8 in 0..100 and ``target`` (n_samples,) int64 in 0..9;
        ``target_names``; ``feature_names``; ``is_test`` (n_samples,) bool, True for the rows of
        the source's test part; ``DESCR``, which names the source and its licence.

    Raises
    ------
    ValueError
        For an unknown `subset`.

    Examples
    --------
    >>> from cwboost.datasets import load_pendigits
    >>> X_test, y_test = load_pendigits(subset="test", return_X_y=True)
    >>> X_test.shape
    (3498, 16)
    """
    stored = _read("pendigits.npz")
    return _bunch(
        {part: stored[f"X_{part}"] for part in ("train", "test")},
        stored,
        subset,
        return_X_y,
        target_names=[str(digit) for digit in range(10)],
        feature_names=[f"{axis}{point}" for point in range(8) for axis in "xy"],
        DESCR=_description("pendigits.npz"),
    )


def _description(name) -> str:
    """Return the part of ATTRIBUTION.md about a file, and the licence."""
    text = resources.files("cwboost.datasets.data").joinpath("ATTRIBUTION.md").read_text("utf-8")
    licence, *parts = text.split("\n## ")
    (notice,) = (part for part in parts if part.startswith(name))
    return notice.partition("\n")[2].strip() + "\n" + licence.partition("\n")[2]


def _read(name):
    file = resources.files("cwboost.datasets.data").joinpath(name)
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def _bunch(data, stored, subset, return_X_y, *, target_names, **about):
    if subset not in _SUBSETS:
        raise ValueError(f"subset must be one of {', '.join(_SUBSETS)}, got {subset!r}")
    parts = ("train", "test") if subset == "all" else (subset,)
    X = np.concatenate([data[part] for part in parts])
    y = np.concatenate([stored[f"y_{part}"] for part in parts]).astype(np.int64)
    if return_X_y:
        return X, y
    is_test = np.concatenate([np.full(len(data[part]), part == "test") for part in parts])
    return Bunch(data=X, target=y, is_test=is_test, target_names=np.array(target_names), **about)
