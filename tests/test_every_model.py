"""Whatever reads a model, on every kind of model: a table of methods times kinds, by rule."""

import inspect
import json
import pickle

import numpy as np
import pytest
from derived_families import Means
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from cwboost import (
    CWBoostClassifier,
    MixedFamily,
    SklearnFamily,
    load_model,
    register_family,
    to_onnx,
)
from cwboost.cli import main
from cwboost.estimator.base import BoostingClassifier
from cwboost.families.discovery import _registry

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4))
X[:, 3] = rng.integers(0, 6, 240)
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 3] > 3)]
GAPS = np.where(rng.random(X.shape) < 0.05, np.nan, X)
CATEGORIES = {"categorical_features": [3]}
FEW = {"n_estimators": 6, "random_state": 0}

KINDS = {
    "default": lambda: CWBoostClassifier(random_state=0).fit(X, Y),
    "gaps": lambda: CWBoostClassifier(**FEW).fit(GAPS, Y),
    "categories": lambda: CWBoostClassifier(**FEW, **CATEGORIES).fit(X, Y),
    "subsets": lambda: (
        CWBoostClassifier("tree", **FEW, **CATEGORIES)
        .set_params(weak_learner__categories="subsets")
        .fit(X, Y)
    ),
    "stumps": lambda: CWBoostClassifier("stump", **FEW).fit(X, Y),
    "mixed": lambda: CWBoostClassifier(["stump", "tree", "projection"], **FEW).fit(X, Y),
    "drawn": lambda: CWBoostClassifier(
        MixedFamily(["stump", "tree"], selection="random"), **FEW
    ).fit(X, Y),
    "scikit-learn": lambda: CWBoostClassifier(SklearnFamily(), **FEW).fit(X, Y),
    "linear": lambda: CWBoostClassifier(SklearnFamily(RidgeClassifier()), **FEW).fit(X, Y),
    "derived": lambda: CWBoostClassifier(Means(), **FEW).fit(X, Y),
    "logistic": lambda: CWBoostClassifier("stump", init=LogisticRegression(), **FEW).fit(X, Y),
    "thinned": lambda: CWBoostClassifier(**FEW).fit(X, Y).thin(X, Y, C=1e4),
    "stopped": lambda: CWBoostClassifier(early_stopping=True, **FEW).fit(X, Y),
    "two classes": lambda: CWBoostClassifier(**FEW).fit(X, Y == "a"),
}


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_registry, "_registered", dict(_registry._registered))
        register_family(Means)
        yield KINDS[request.param]()


def check_explanation(model, found):
    total = found.base + found.init + found.values.sum(axis=1)
    scores = model.model_.scores(model._check_predict(X))
    np.testing.assert_allclose(total, scores, atol=1e-8)
    assert (model.init_ is None) == (not found.init.any())


CHECKS = {
    "predict": lambda m: set(m.predict(X)) <= set(m.classes_),
    "predict_proba": lambda m: np.allclose(m.predict_proba(X).sum(axis=1), 1),
    "predict_log_proba": lambda m: np.isfinite(m.predict_log_proba(X)).all(),
    "decision_function": lambda m: np.isfinite(m.decision_function(X)).all(),
    "score": lambda m: m.score(X, m.predict(X)) == 1,
    "staged_predict": lambda m: (list(m.staged_predict(X))[-1] == m.predict(X)).all(),
    "staged_predict_proba": lambda m: np.allclose(
        list(m.staged_predict_proba(X))[-1], m.predict_proba(X)
    ),
    "staged_decision_function": lambda m: np.allclose(
        list(m.staged_decision_function(X))[-1], m.decision_function(X)
    ),
    "predict_set": lambda m: (
        m.model_.conformity is None
        or m.predict_set(X, 0.2).sum()
        <= m.predict_set(X, 0.01).sum()
        <= X.shape[0] * len(m.classes_)
    ),
    "explain": lambda m: check_explanation(m, m.explain(X)),
    "shap_values": lambda m: check_explanation(m, m.shap_values(X, X[:50])),
    "feature_importances_": lambda m: m.init_ is None or m.feature_importances_.sum() > 0.99,
    "class_columns": lambda m: len(m.class_columns(m.classes_[0]).coef) >= 0,
    "to_frame": lambda m: len(m.to_frame()) > 0,
    "to_json": lambda m: json.loads(m.to_json())["features"] == [f"feature {k}" for k in range(4)],
    "strongest": lambda m: len(m.strongest()) > 0,
    "ensemble_": lambda m: m.ensemble_.n_rounds == m.best_iteration_,
    "init_": lambda m: m.init_ is m.model_.base,
    "probability_scale_": lambda m: m.probability_scale_ > 0,
    "get_params": lambda m: "init" in m.get_params(),
    "set_params": lambda m: m.set_params(verbose=0) is m,
    "thin": lambda m: (
        m.thin(X, m.predict(X), C=1e5).n_iter_ == 1
        if len(set(m.predict(X))) == len(m.classes_)
        else None
    ),
}
ELSEWHERE = {"save", "fit", "calibrate"}


def test_the_table_has_every_public_method():
    own = {
        name
        for cls in (CWBoostClassifier, BoostingClassifier)
        for name, member in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }
    assert own <= set(CHECKS) | ELSEWHERE, own - set(CHECKS) - ELSEWHERE


@pytest.mark.parametrize("method", CHECKS)
def test_method(model, method):
    base = model.init_
    is_silent = base is not None and base.fitted.feature_shares(4) is None
    if is_silent and method == "feature_importances_":
        with pytest.raises(AttributeError, match="does not report"):
            _ = model.feature_importances_
        assert not hasattr(model, method)
        return
    assert CHECKS[method](model) is not False


def test_a_file_gives_the_same_model_and_inspect_reads_it(model, tmp_path, capsys):
    path = tmp_path / "model.cwb"
    model.save(path)
    loaded = load_model(path)
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    np.testing.assert_equal(loaded.model_.base_share, model.model_.base_share)
    assert main(["inspect", str(path)]) == 0
    assert "stopped by" in capsys.readouterr().out
    assert main(["inspect", str(path), "--json", "--top", "3"]) == 0
    strongest = json.loads(capsys.readouterr().out)["strongest"]
    assert strongest and all(entry["plus_one_if"] for entry in strongest)
    assert b"sklearn." not in path.read_bytes()  # no import path


def test_onnx_gives_the_same_scores(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    codes = model._check_predict(X).astype(np.float64)
    _, scores, probabilities = session.run(None, {"X": codes})
    np.testing.assert_allclose(scores, model.model_.scores(codes), atol=1e-9)
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-9)
