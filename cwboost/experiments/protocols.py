"""The paper's experiments as data: data set, features, split and methods of each."""

from dataclasses import dataclass

import numpy as np
from joblib import Memory

from cwboost.experiments.features import image_features as features


@dataclass(frozen=True)
class Split:
    """Training part and test part of one run."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True)
class Share:
    """Split that pools all examples and trains on a random fraction of them."""

    share: float

    def __call__(self, bunch, run: int, rng) -> Split:
        X, y = _pooled(bunch)
        order = rng.permutation(len(y))
        train, test = np.split(order, [round(self.share * len(y))])
        return Split(X[train], y[train], X[test], y[test])


@dataclass(frozen=True)
class PerClass:
    """Split that trains on `n` examples per class; the test is the source's, or all others."""

    n: int
    original_test: bool

    def __call__(self, bunch, run: int, rng) -> Split:
        X, y = (bunch.X_train, bunch.y_train) if self.original_test else _pooled(bunch)
        chosen = np.zeros(len(y), dtype=bool)
        for label in np.unique(y):
            members = np.flatnonzero(y == label)
            if len(members) < self.n:
                raise ValueError(f"class {label} must have {self.n} examples, got {len(members)}")
            chosen[rng.choice(members, self.n, replace=False)] = True
        train = rng.permutation(np.flatnonzero(chosen))
        if self.original_test:
            return Split(X[train], y[train], bunch.X_test, bunch.y_test)
        return Split(X[train], y[train], X[~chosen], y[~chosen])


@dataclass(frozen=True)
class Batch:
    """Split whose run r trains on batch r of the source and tests on its whole test part."""

    rows: int = 10_000

    def __call__(self, bunch, run: int, rng) -> Split | None:
        rows = slice(run * self.rows, (run + 1) * self.rows)
        if rows.stop > len(bunch.X_train):
            return None
        return Split(bunch.X_train[rows], bunch.y_train[rows], bunch.X_test, bunch.y_test)


@dataclass(frozen=True)
class Protocol:
    """One data set of one figure of the paper.

    `more_methods` are the methods besides those that run everywhere. AdaBoost.MO: on the sets on
    which the paper ran it. Its code of all splits of the classes: of these, with at most 11
    classes. MultiBoost with L-BFGS-B, the paper's solver: on small sets.
    """

    name: str  # in results and figures
    dataset: str  # for `cwboost.datasets.load`
    figure: str
    split: Share | PerClass | Batch
    features: str | None = None  # "hog", "gist" or "codebook" of images; None takes the values
    more_methods: tuple[str, ...] = ()


_MO, _CODES = ("Ada.MO",), ("Ada.MO", "Ada.MO-all")
_SMALL = ("MultiBoost-LBFGSB", *_CODES)


_TABLE = (
    Protocol("VOWEL", "VOWEL", "uci", Share(0.75), None, _SMALL),
    Protocol("ISOLET", "ISOLET", "uci", Share(0.75), None, _MO),
    Protocol("USPS", "USPS", "digits", Share(0.75), None, _CODES),
    Protocol("PENDIGITS", "PENDIGITS", "digits", Share(0.75), None, _SMALL),
    Protocol("MNIST", "MNIST", "digits", PerClass(1000, original_test=True), None, _CODES),
    Protocol("PASCAL07", "PASCAL07", "images", Share(0.7)),
    Protocol("LABELME", "LABELME", "images", Share(0.7), "gist"),
    Protocol("CIFAR10-GIST", "CIFAR10", "images", Batch(), "gist"),
    Protocol("CIFAR10-PIXELS", "CIFAR10", "images", Batch()),
    Protocol("SCENE15", "SCENE15", "scenes", PerClass(100, original_test=False), "codebook"),
    Protocol("SUN", "SUN", "scenes", Share(0.8), "hog"),
    Protocol("GTSRB", "GTSRB", "traffic", PerClass(100, original_test=True), "hog"),
)

PROTOCOLS = {protocol.name: protocol for protocol in _TABLE}
FIGURES = {
    figure: tuple(p.name for p in _TABLE if p.figure == figure)
    for figure in ("uci", "digits", "images", "scenes", "traffic")
}


def prepare(protocol: Protocol, bunch, run: int, *, seed: int = 0, memory: Memory) -> Split | None:
    """Return the features, which `memory` keeps, and labels of a run, None if there is no such."""
    split = protocol.split(bunch, run, np.random.default_rng([seed, run]))
    if protocol.features is None or split is None:
        return split
    shape = bunch.image_shape
    if protocol.features == "codebook":
        compute = memory.cache(features.codebook_features)
        X_train, X_test = compute(split.X_train, split.X_test, shape, seed)
    else:
        compute = memory.cache({"hog": features.hog, "gist": features.gist}[protocol.features])
        X_train, X_test = compute(split.X_train, shape), compute(split.X_test, shape)
    return Split(X_train, split.y_train, X_test, split.y_test)


def _pooled(bunch):
    if "X" in bunch:
        return bunch.X, bunch.y
    return (
        np.concatenate([bunch.X_train, bunch.X_test]),
        np.concatenate([bunch.y_train, bunch.y_test]),
    )
