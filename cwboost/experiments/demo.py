"""The demonstration: the default beside two classifiers of scikit-learn, on the bundled data."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from cwboost import CWBoostClassifier
from cwboost.datasets import load_annealing, load_pendigits, load_vowel
from cwboost.support.columns import aligned
from cwboost.support.extras import extra
from cwboost.support.files import replacing

SETS = {
    "ANNEALING": (load_annealing, "grades of steel: 25 categories, 6 numbers, gaps"),
    "PENDIGITS": (load_pendigits, "written digits: 16 coordinates"),
    "VOWEL": (load_vowel, "vowels: 10 measures of sound"),
}
"""Loader and description of each data set."""

STUMP_ROUNDS = 200


@dataclass(frozen=True)
class Split:
    """A bundled data set, three quarters for training and one for the test, by class."""

    dataset: str
    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray
    categorical: list[int]


@dataclass(frozen=True)
class Trained:
    """A fitted classifier, its test error and log loss, and seconds of wall time."""

    dataset: str
    name: str
    model: ClassifierMixin
    error: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float


def make_split(dataset: str, seed: int = 0) -> Split:
    """Load and split one of `SETS`."""
    bunch = SETS[dataset][0]()
    categorical = np.flatnonzero(bunch.get("is_categorical", [])).tolist()
    parts = train_test_split(
        bunch.data, bunch.target, test_size=0.25, stratify=bunch.target, random_state=seed
    )
    return Split(dataset, *parts, categorical)


def classifiers(categorical: list[int], seed: int, n_jobs: int) -> dict:
    """Return the default of cwboost and its peers by name; each handles categories and gaps."""
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categorical),
        remainder=SimpleImputer(),
    )
    return {
        "cwboost": CWBoostClassifier(
            categorical_features=categorical, random_state=seed, n_jobs=n_jobs
        ),
        "HistGradientBoosting": HistGradientBoostingClassifier(
            categorical_features=categorical, random_state=seed
        ),
        "RandomForest": make_pipeline(
            one_hot, RandomForestClassifier(random_state=seed, n_jobs=n_jobs)
        ),
    }


def train(split: Split, seed: int = 0, n_jobs: int = 1):
    """Train each classifier on a split, measure it, and yield it as `Trained`."""
    for name, model in classifiers(split.categorical, seed, n_jobs).items():
        with threadpool_limits(n_jobs):
            start = time.perf_counter()
            model.fit(split.X_train, split.y_train)
            fit_seconds, start = time.perf_counter() - start, time.perf_counter()
            probabilities = model.predict_proba(split.X_test)
            predict_seconds = time.perf_counter() - start
        predicted = model.classes_[probabilities.argmax(axis=1)]
        yield Trained(
            split.dataset,
            name,
            model,
            float(np.mean(predicted != split.y_test)),
            float(log_loss(split.y_test, probabilities, labels=model.classes_)),
            fit_seconds,
            predict_seconds,
        )


def table(trained: list[Trained]) -> str:
    """Return a text table of errors, log losses and times."""
    rows = [["data set", "classifier", "error %", "log loss", "fit s", "predict s"]]
    rows += [
        [
            result.dataset,
            result.name,
            f"{100 * result.error:.1f}",
            f"{result.log_loss:.3f}",
            f"{result.fit_seconds:.2f}",
            f"{result.predict_seconds:.3f}",
        ]
        for result in trained
    ]
    return aligned(rows, right=range(2, 6))


def certificate(split: Split, seed: int = 0, n_jobs: int = 1) -> str:
    """Train stumps with total correction and print how far their objective is from the optimum."""
    model = CWBoostClassifier(
        "stump",
        correction="total",
        C=1e4,
        n_estimators=STUMP_ROUNDS,
        random_state=seed,
        n_jobs=n_jobs,
    ).fit(split.X_train, split.y_train)
    objective, bound = (model.history_[name][-1] for name in ("objective", "dual_bound"))
    return (
        f"{model.n_iter_} rounds of stumps on {split.dataset} end at an objective of "
        f"{objective:.1f};\nno model of stumps, whatever its size, can go below {bound:.1f}, "
        f"so the gap is at most {1 - bound / objective:.1%}."
    )


def draw(trained: list[Trained], path: Path) -> None:
    """Draw test errors and log losses as bars, one column of panels per data set."""
    with extra("plot", "the figure needs matplotlib"):
        from matplotlib.figure import Figure
    sets = list(dict.fromkeys(result.dataset for result in trained))
    figure = Figure(figsize=(3.9 * len(sets), 4.6), layout="constrained")
    panels = figure.subplots(2, len(sets), squeeze=False)
    for k, dataset in enumerate(sets):
        results = [result for result in trained if result.dataset == dataset]
        names = [result.name for result in results]
        colours = ["#b2182b" if name == "cwboost" else "#9aa5b1" for name in names]
        measures = [
            ("test error, %", "%.1f", [100 * result.error for result in results]),
            ("log loss of the probabilities", "%.3f", [result.log_loss for result in results]),
        ]
        for panel, (label, form, values) in zip(panels[:, k], measures):
            bars = panel.barh(names, values, color=colours)
            panel.bar_label(bars, fmt=form, padding=3)
            panel.set(xlabel=label, xlim=(0, 1.25 * max(*values, 1e-3)))
            panel.invert_yaxis()
            panel.spines[["top", "right"]].set_visible(False)
            panel.tick_params(axis="y", length=0, labelleft=k == 0)
        panels[0, k].set_title(f"{dataset}\n{SETS[dataset][1]}", fontsize=10)
    figure.suptitle("Shorter bars are better: default settings, one test per data set")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:] or None, dpi=130)
