"""Odd models are exported to ONNX: the runtime agrees with cwboost, or export says why it refuses.

Odd are models of odd data (few or constant values, missing ones, extreme numbers, categories,
labels of any type) and those that mutated model files hold.
"""

from functools import partial
from random import Random

import numpy as np
from attack import Strike
from attack_models import loaded_or_none, scratch
from models import CLASSIFIERS
from mutations import mutated, prepared

from cwboost import CWBoostClassifier, to_onnx

FAMILIES = ["stump", "tree", "projection", ["stump", "tree"], ["tree", "projection"]]
COLUMNS = [
    lambda draw, n: draw.normal(size=n),
    lambda draw, n: draw.integers(0, 3, n),
    lambda draw, n: np.full(n, draw.normal()),
    lambda draw, n: draw.normal(size=n) * 10.0 ** draw.integers(-40, 37, n),
    lambda draw, n: np.float32(1) + np.spacing(np.float32(1)) * draw.integers(-2, 3, n),
    lambda draw, n: 1.0 + np.spacing(1.0) * draw.integers(-2, 3, n),
    lambda draw, n: draw.choice([0.0, -0.0, 5e-324, -5e-324, 1e-45], n),
]
LABELS = [
    lambda y: y,
    lambda y: y.astype(np.uint8),
    lambda y: -2.0 * y,
    lambda y: np.array(["", "\u00e9 ", "b", "c", "d", "e"])[y],
    lambda y: np.array(["x", "y", "z", "a", "b", "c"], dtype=object)[y],
    lambda y: y > 0,
]


def odd_data(draw, missing):
    """Return examples of every kind of column, and labels of some classes."""
    n = int(draw.integers(6, 40))
    columns = [COLUMNS[k](draw, n) for k in draw.integers(0, len(COLUMNS), draw.integers(1, 6))]
    X = np.column_stack(columns).astype(draw.choice([np.float64, np.float64, np.float32]))
    if missing:
        X[draw.random(X.shape) < 0.2] = np.nan
    y = np.concatenate([[0, 1], draw.integers(0, draw.integers(2, 7), n - 2)])
    return X, LABELS[draw.integers(len(LABELS))](np.unique(y, return_inverse=True)[1])


def odd_model(rng, draw):
    """Return a trained classifier and examples for it."""
    family = rng.choice(FAMILIES)
    X, y = odd_data(draw, missing=family == "tree" or (family == "stump" and rng.random() < 0.5))
    params = {"weak_learner": family, "n_estimators": rng.choice((1, 3, 12)), "random_state": 0}
    classifier = rng.choice([CWBoostClassifier, CWBoostClassifier, *CLASSIFIERS])
    if classifier is CWBoostClassifier:
        params |= {
            "C": rng.choice((1e-3, 10.0, 1e6)),
            "correction": rng.choice(("total", "stagewise")),
        }
    if family in ("stump", "tree") and rng.random() < 0.3:
        X[:, 0] = draw.integers(0, 9, len(X))
        params["categorical_features"] = [0]
    return classifier(**params).fit(X, y), X


def refused_or_equal(clf, X, n_estimators, input_dtype):
    """Compare the runtime's answers with the classifier's, unless export is refused."""
    import onnxruntime

    try:
        model = to_onnx(clf, n_estimators=n_estimators, input_dtype=input_dtype)
    except (NotImplementedError, TypeError, ValueError) as error:
        assert len(str(error)) > 20, error
        return "refused"
    X = X.astype(input_dtype)  # a copy
    with np.errstate(all="ignore"):
        scores = clf._scores(X, n_estimators)
        labels, probabilities = clf.predict(X, n_estimators), clf.predict_proba(X, n_estimators)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    for place, known in getattr(clf, "categories_", {}).items():
        X[:, place] = np.argmax(known == X[:, [place]], axis=1)  # the model takes codes
    label, given, chances = session.run(None, {"X": X})
    size = max(1.0, np.abs(scores).max(initial=0.0))
    known = steady(clf, X, scores, n_estimators)
    np.testing.assert_allclose(given[known], scores[known], rtol=1e-9, atol=1e-11 * size)
    np.testing.assert_allclose(chances[known], probabilities[known], rtol=1e-6, atol=1e-9)
    best = np.sort(scores, axis=1)
    sure = known & (best[:, -1] - best[:, -2] > 1e-10 * size)
    np.testing.assert_array_equal(label[sure], labels[sure])
    return "exported"


def steady(clf, X, scores, n_estimators):
    """Return the examples whose projections are not within rounding of a threshold.

    The runtime adds the products of a projection in another order, so that its value is rounded
    by the size of the largest, and projections of float32 by its precision.
    """
    known = np.ones(len(X), dtype=bool)
    if "projection" not in str(clf.weak_learner):
        return known
    X = X.astype(np.float64)  # float32 would lose the noise
    noise = 1e-6 * np.abs(X).max(axis=0, initial=0.0)
    for seed in range(8):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], X.shape)
        with np.errstate(all="ignore"):
            moved = clf._scores(X + signs * noise, n_estimators)
        known &= (moved == scores).all(axis=1)
    return known


def exports(times, seed):
    """Export a model for every 25 strikes, which takes as long as a mutated file each."""
    rng, draw = Random(seed), np.random.default_rng(seed)
    with scratch() as folder:
        path = folder / "model.cwb"
        for number in range(max(1, times // 25)):
            clf, X = odd_model(rng, draw)
            clf.save(path)
            if number % 3 == 0:
                mutated(rng, path, prepared(clf, path), within="ensemble")
                clf = loaded_or_none(path)
            rounds, dtype = rng.choice((None, None, 0, 1)), rng.choice(("float64", "float32"))
            if clf is not None:
                yield Strike(partial(refused_or_equal, clf, X, rounds, dtype), path)


ATTACKS = {"onnx": exports}
