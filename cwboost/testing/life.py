"""The check of a classifier's whole life with the plugin."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

from cwboost.classifier import CWBoostClassifier
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.registry import FamilyError, registry_of
from cwboost.model_file.saving import load_model
from cwboost.onnx_export import to_onnx
from cwboost.testing.check import check
from cwboost.testing.material import pixels


@check("Let a model in use answer as one from a file, and as one whose training went on.")
def check_life_of_a_classifier(plugin):
    """Check fit, predict, save, load, resume, clone, pickle and export of a classifier.

    Files are tried if the plugin is registered; one that refuses to be saved says so with a
    NotImplementedError or ValueError. Export to ONNX gives the same scores up to rounding, or
    refuses with a NotImplementedError that says why; it is tried if onnx and onnxruntime are
    installed.

    Six rounds in one go, and three rounds continued by three, give the same scores bit for bit,
    unless a family is not deterministic. An init model is tried with stumps.
    """
    X = pixels(90, 4)
    y = np.random.default_rng(0).integers(0, 3, size=90)
    is_family = isinstance(plugin, WeakLearnerFamily)
    params = {"correction": "total", "C": 1e4, "n_estimators": 6, "tol": 0, "random_state": 0}
    params |= {} if is_family else {"init": clone(plugin)}
    classifier = CWBoostClassifier(clone(plugin) if is_family else "stump", **params)
    scores = classifier.fit(X, y).decision_function(X)
    assert scores.shape == (90, 3) and np.isfinite(scores).all(), "scores must be finite"
    *_, staged = classifier.staged_decision_function(X)
    assert np.allclose(staged, scores, atol=1e-9), "staged scores end elsewhere than scores"
    stored = _stored_scores(classifier, plugin, X, scores)
    assert np.array_equal(stored, scores), "a loaded classifier predicts differently"
    if not is_family or plugin.capabilities.deterministic:
        again = clone(classifier).fit(X, y).decision_function(X)
        assert np.array_equal(again, scores), "a clone fits differently"
        resumed = clone(classifier).set_params(n_estimators=3, warm_start=True).fit(X, y)
        resumed = resumed.set_params(n_estimators=6).fit(X, y).decision_function(X)
        assert np.array_equal(resumed, scores), "3 rounds and 3 more differ from 6 rounds"
    exported, slack = _exported_scores(classifier, X), 1e-6 * np.abs(scores).max()
    assert exported is None or np.allclose(exported, scores, rtol=0, atol=slack), (
        "the classifier exported to ONNX predicts differently"
    )
    restored = pickle.loads(pickle.dumps(classifier)).decision_function(X)
    assert np.array_equal(restored, scores), "a pickled classifier predicts differently"


def _stored_scores(classifier, plugin, X, scores):
    """Scores of the classifier from a file; those given if it has none."""
    try:
        if registry_of(type(plugin)).get(plugin.name) is not type(plugin):
            return scores
    except FamilyError:
        return scores
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cwb"
        try:
            classifier.save(path)
        except (NotImplementedError, ValueError):
            return scores
        return load_model(path).decision_function(X)


def _exported_scores(classifier, X):
    """Scores from the classifier as an ONNX model; None if there is none."""
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError:
        return None
    try:
        model = to_onnx(classifier)
    except NotImplementedError as error:
        assert str(error), "export to ONNX must be refused with a reason"
        return None
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(["scores"], {"X": X.astype(np.float64)})[0]
