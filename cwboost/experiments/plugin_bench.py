"""A plugin beside the default and the shipped plugins of its kind, on bundled data."""

from collections.abc import Iterator
from numbers import Integral
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from cwboost import CWBoostClassifier
from cwboost.datasets import load_annealing, load_pendigits, load_vowel
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.init_contract import InitModel
from cwboost.families.init_models import resolve_init
from cwboost.support.checks import check_number
from cwboost.support.columns import aligned

SETS = {
    "ANNEALING": load_annealing,
    "DIGITS": load_digits,
    "PENDIGITS": load_pendigits,
    "VOWEL": load_vowel,
}

MOST_ROWS = 1_500
"""Most examples of a set, for training and test together."""

N_SPLITS = 3

Plugin = WeakLearnerFamily | InitModel


def bench_plugin(plugin: Plugin, rounds: int, init: str | None = None) -> Iterator[str]:
    """Yield per bundled set a title, and after some time a table: errors, log losses, times.

    Every model but the default, which chooses its own, does the given `rounds` and starts from
    `init`; for an init model, this is what it is compared with instead. Numbers are means over
    `N_SPLITS` splits, with the standard error of the difference from the default. Seconds are
    processor time of a fit on one thread; the last line compares the plugin's bits at two threads.
    A set that the plugin refuses has its message instead.
    """
    check_number("rounds", rounds, Integral, 1)
    resolve_init(init)  # else the plugin would seem to refuse the name
    for name, load in SETS.items():
        bunch = load()
        rows = np.random.default_rng(0).permutation(len(bunch.target))[:MOST_ROWS]
        X, y = bunch.data[rows], bunch.target[rows]
        categorical = np.flatnonzero(bunch.get("is_categorical", [])).tolist()
        title = f"{name}: {len(y):,} examples, a quarter of them for the test, {N_SPLITS} splits"
        if not _takes_gaps(plugin) and np.isnan(np.sum(X)):
            X = SimpleImputer(strategy="most_frequent", keep_empty_features=True).fit_transform(X)
            title += "; gaps are filled by the most frequent value, since the plugin takes none"
        models = _models(plugin, rounds, init)
        for model in models.values():
            model.set_params(categorical_features=categorical)
        yield title
        try:
            yield f"{_table(models, X, y)}\n"
        except ValueError as error:
            yield f"{plugin!r} refuses: {error}\n"


def _takes_gaps(plugin: Plugin) -> bool:
    return not isinstance(plugin, WeakLearnerFamily) or plugin.capabilities.missing_values


def _models(plugin: Plugin, rounds: int, init: str | None) -> dict[str, CWBoostClassifier]:
    """Return the plugin's model first, the default second, by name."""
    if isinstance(plugin, WeakLearnerFamily):
        learners = {plugin.name: plugin, "stump": "stump", "tree": "tree"}
        parts = {
            name: {"weak_learner": learner, "init": init} for name, learner in learners.items()
        }
    else:
        inits = {plugin.name: plugin, "no init": None, init or "kernel": init or "kernel"}
        parts = {name: {"weak_learner": "tree", "init": start} for name, start in inits.items()}
    (plugin_name, part), *others = parts.items()
    made = {plugin_name: part, "default": {}} | dict(others)
    return {
        name: CWBoostClassifier(**part, n_estimators=rounds) if part else CWBoostClassifier()
        for name, part in made.items()
    }


def _table(models: dict[str, CWBoostClassifier], X, y) -> str:
    """Train every model on the same splits; the first, which may refuse them, goes first."""
    results: dict[str, list] = {name: [] for name in models}
    bits = ""
    for seed in range(N_SPLITS):
        split = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
        for name, model in models.items():
            results[name].append(_measure(model.set_params(random_state=seed, n_jobs=1), *split))
            bits = bits or _compare_bits(model, *split)
    measured = {name: np.array(values) for name, values in results.items()}
    rows = [["model", "error, %", "less that of the default", "log loss", "seconds"]]
    for name, values in measured.items():
        error, loss, seconds = values.mean(axis=0)
        difference = values[:, 0] - measured["default"][:, 0]
        noise = difference.std(ddof=1) / np.sqrt(N_SPLITS)
        less = "" if name == "default" else f"{difference.mean():+.2f} ± {noise:.2f}"
        rows.append([name, f"{error:.2f}", less, f"{loss:.3f}", f"{seconds:.2f}"])
    return f"{aligned(rows, right=range(1, 5))}\n{bits}"


def _measure(model: CWBoostClassifier, X, X_test, y, y_test) -> tuple[float, float, float]:
    """Fit; return error in percent, log loss and seconds."""
    with threadpool_limits(1):  # of BLAS: processor times are those of one thread
        start = process_time()
        model.fit(X, y)
        seconds = process_time() - start
    probabilities = model.predict_proba(X_test)
    error = 100 * float(np.mean(model.classes_[probabilities.argmax(axis=1)] != y_test))
    return error, float(log_loss(y_test, probabilities, labels=model.classes_)), seconds


def _compare_bits(model: CWBoostClassifier, X, X_test, y, y_test) -> str:
    """Return whether a fit on two threads gives the bits of the fitted model, as a sentence."""
    again = clone(model).set_params(n_jobs=2).fit(X, y)
    same = np.array_equal(model.decision_function(X_test), again.decision_function(X_test))
    return f"One and two threads give {'the same' if same else 'other'} bits."
