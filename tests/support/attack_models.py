"""Mutated model files: refused with the documented error, or loaded and harmless, and soon."""

import contextlib
import random
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from attack import Strike
from models import objective
from mutations import every_field, mutated, prepared, soon, write_field
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from wave_family import Waves

from cwboost import CWBoostClassifier, ModelFileError, SklearnFamily, load_model, register_family

MODELS = {
    "stump": {"weak_learner": "stump"},
    "tree": {"weak_learner": "tree"},
    "projection": {"weak_learner": "projection"},
    "mixture": {"weak_learner": ["stump", "tree", "projection"]},
    "auto": {"init": "kernel"},
    "default": {"correction": "stagewise", "n_estimators": 20},
    "tree of scikit-learn": {"weak_learner": SklearnFamily(DecisionTreeClassifier(max_depth=2))},
    "linear model of scikit-learn": {"weak_learner": SklearnFamily(LogisticRegression())},
    "third party": {"weak_learner": Waves(10)},
}
X, Y = load_iris(return_X_y=True)


@contextlib.contextmanager
def scratch():
    """A folder in memory if there is one, so that thousands of files do not wait for a disk."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


def trained(**params):
    few = {"correction": "total", "C": 1e4, "n_estimators": 8, "random_state": 0}
    few["warm_start"] = True
    return CWBoostClassifier(**few | params).fit(X, Y)


def models(kind, times, seed):
    """Load mutated files of a model.

    Every other mutation puts an odd value into a field of the header, until each field has had each
    value; the others are drawn.
    """
    if kind == "third party":
        register_family(Waves)
    rng = random.Random(seed)
    with scratch() as folder:
        path = folder / "model.cwb"
        model_file = prepared(trained(**MODELS[kind]), path)
        fields = every_field(rng, model_file)
        for number in range(times):
            if number % 2 and fields:
                write_field(path, model_file, *fields.pop())
            else:
                mutated(rng, path, model_file)
            yield Strike(partial(refused_or_harmless, path), path)


def refused_or_harmless(path):
    """Load a file and predict if it loads; allow only documented errors, within a time limit."""
    loaded = soon(lambda: loaded_or_none(path))
    if loaded is None:
        return "refused"
    with contextlib.suppress(TypeError, ValueError):
        loaded.predict(X[:5])
    return "accepted"


def loaded_or_none(path):
    try:
        return load_model(path)
    except ModelFileError as error:
        assert not isinstance(error.__cause__, MemoryError)
        return None


def checkpoints(times, seed):
    """Continue training from mutated training states."""
    rng = random.Random(seed)
    with scratch() as folder:
        path = folder / "checkpoint.cwb"
        model_file = prepared(trained(weak_learner="stump", C=100.0, n_estimators=3), path)
        for _ in range(times):
            mutated(rng, path, model_file, within="training_state")
            yield Strike(partial(refused_or_continued, path), path)


def refused_or_continued(path):
    """Train another round; the objective must be that of the coefficients, the bound below it."""
    try:
        clf = load_model(path)
        clf.set_params(n_estimators=clf.n_iter_ + 1).fit(X, Y)
    except ValueError:
        return "refused"
    value, bound = objective(clf, X, Y), clf.history_["dual_bound"][-1]
    np.testing.assert_allclose(clf.history_["objective"][-1], value, rtol=1e-6)
    assert np.isnan(bound) or bound <= value * (1 + 1e-6)
    return "accepted"


ATTACKS = {"checkpoints": checkpoints}
ATTACKS |= {f"models/{kind}": partial(models, kind) for kind in MODELS}
