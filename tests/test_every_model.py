"""Whatever reads a model, on every kind of model: a table of methods times kinds, by rule."""

import inspect
import json
import pickle
from functools import partial

import numpy as np
import pytest
from derived_families import Means
from models import CLASSIFIERS
from scipy.special import softmax
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier

from cwboost import (
    AdaBoostMOClassifier,
    CWBoostClassifier,
    MultiBoostClassifier,
    SklearnFamily,
    TreeFamily,
    get_init,
    load_model,
    register_family,
    to_onnx,
)
from cwboost.base import BoostingClassifier
from cwboost.cli import main
from cwboost.ensemble.inspection import is_additive
from cwboost.families.registry import WEAK_LEARNERS

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4))
X[:, 3] = rng.integers(0, 12, 240)
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 3] > 7)]
GAPS = np.where(rng.random(X.shape) < 0.05, np.nan, X)
CATEGORIES = {"categorical_features": [3]}
SHARES = CATEGORIES | {"category_encoding": "target"}


def fitted(weak_learner="auto", X=X, y=Y, classifier=CWBoostClassifier, **params):
    if classifier is CWBoostClassifier and weak_learner != "auto":
        params = {"init": None} | params
    params = {"n_estimators": 6, "random_state": 0} | params
    return classifier(weak_learner=weak_learner, **params).fit(X, y)


KINDS = {
    "default": partial(fitted, n_estimators="auto"),
    "gaps": partial(fitted, X=GAPS),
    "categories": partial(fitted, **CATEGORIES),
    "shares": partial(fitted, **SHARES),
    "shares, from the kernel": partial(fitted, init="kernel", X=GAPS, **SHARES),
    "shares, two classes": partial(fitted, "stump", y=Y == "a", **SHARES),
    "shares, thinned": lambda: fitted(**SHARES).thin(X, Y, C=1e4),
    "shares, refitted": lambda: fitted(**SHARES).refit(X[::2], Y[::2]),
    "shares, stopped": partial(fitted, early_stopping=True, **SHARES),
    "stumps": partial(fitted, "stump"),
    "certified": partial(fitted, "stump", X=GAPS, n_estimators="auto", correction="total"),
    "certified pairs, shares": partial(
        fitted, TreeFamily(max_depth=2), correction="total", C=30.0, **SHARES
    ),
    "certified, two classes": partial(
        fitted, "stump", y=Y == "a", correction="total", max_columns=4, **CATEGORIES
    ),
    "mixed": partial(fitted, ["stump", "tree", "projection"]),
    "scikit-learn": partial(fitted, SklearnFamily()),
    "linear": partial(fitted, SklearnFamily(RidgeClassifier())),
    "derived": partial(fitted, Means()),
    "kernel": partial(fitted, "stump", init=get_init("kernel")(max_landmarks=60)),
    "linear start": partial(fitted, init="linear", X=GAPS),
    "linear start, two classes": partial(fitted, "stump", y=Y == "a", init="linear"),
    "thinned": lambda: fitted().thin(X, Y, C=1e4),
    "refitted": lambda: fitted().refit(X[::2], Y[::2]),
    "continued": lambda: fitted(warm_start=True).set_params(n_estimators=9).fit(X[::2], Y[::2]),
    "stopped": partial(fitted, early_stopping=True),
    "two classes": partial(fitted, y=Y == "a"),
    "exhaustive code": partial(fitted, "stump", classifier=AdaBoostMOClassifier, code="exhaustive"),
}
for other, family in zip(CLASSIFIERS[1:], ("stump", "tree", "projection", "stump")):
    KINDS[other.__name__] = partial(fitted, family, classifier=other)
    KINDS[f"{other.__name__}, two classes"] = partial(KINDS[other.__name__], y=Y == "a")


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WEAK_LEARNERS, "_registered", dict(WEAK_LEARNERS._registered))
        register_family(Means)
        yield KINDS[request.param]()


def rounds_of(model):
    """The first round, some and all."""
    return sorted({1, (model.ensemble_.n_rounds + 1) // 2, model.ensemble_.n_rounds})


def by_class(scores):
    """Return a column per class; of two classes, `decision_function` has one."""
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def check_labels(model):
    for n in rounds_of(model):
        largest = by_class(model.decision_function(X, n)).argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X, n), model.classes_[largest])


def check_probabilities(model):
    for n in rounds_of(model):
        chances, labels = model.predict_proba(X, n), model.predict(X, n)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        # Scores that differ in the last bit may give equal probabilities.
        own = chances[np.arange(len(X)), np.searchsorted(model.classes_, labels)]
        np.testing.assert_array_equal(own, chances.max(axis=1))


def check_logarithms(model):
    for n in rounds_of(model):
        logarithms = np.exp(model.predict_log_proba(X, n))
        np.testing.assert_allclose(logarithms, model.predict_proba(X, n), rtol=1e-9)


def check_stages(model, method):
    stages = list(getattr(model, f"staged_{method}")(X))
    assert len(stages) == model.ensemble_.n_rounds
    for n in rounds_of(model) if method != "predict" else [len(stages)]:  # labels may tie
        whole = getattr(model, method)(X, n)
        if method == "predict":
            np.testing.assert_array_equal(stages[n - 1], whole)
        else:
            np.testing.assert_allclose(stages[n - 1], whole, rtol=1e-9, atol=1e-9)


def splits_nothing(base, background=None):
    return base.shapley_values(X[:1], background) is None


def check_sums(model, explain, background=None):
    explain = partial(explain, background=background)
    for n in rounds_of(model):
        found = explain(X, n_estimators=n)
        total = found.base + found.init + found.values.sum(axis=1)
        if len(model.classes_) == 2:
            total = total[:, 1] - total[:, 0]
        np.testing.assert_allclose(total, model.decision_function(X, n), atol=1e-8)
        whole = model.init_ is not None and splits_nothing(model.init_, background)
        assert found.init.any() == whole
        alone = explain(X[3:4], n_estimators=n)
        np.testing.assert_allclose(alone.values, found.values[3:4], rtol=0, atol=1e-12)


def check_sets(model):
    if model.model_.conformity is not None:
        small, large = model.predict_set(X, 0.2), model.predict_set(X, 0.001)
        assert (small <= large).all() and small.sum() < large.sum()
        some = small.any(axis=1)
        predicted = np.searchsorted(model.classes_, model.predict(X))
        assert small[some, predicted[some]].all()


def check_scorecard(model):
    """It gives the probabilities, or says what forbids one."""
    flat = model.ensemble_.learners.flat_form()
    try:
        card = model.scorecard()
    except TypeError:
        if isinstance(model, AdaBoostMOClassifier):
            raise
        is_softmax = getattr(type(model)._logits, "export_rule", None) in ("scaled", "scores")
        assert not (is_softmax and model.init_ is None and flat is not None) or (
            flat.directions is not None
        )
        return
    except ValueError as error:
        assert "at most two features per row" in str(error) and np.diff(flat.offsets).max() > 5
        return
    np.testing.assert_allclose(card.predict_proba(X), model.predict_proba(X), atol=1e-9)


CHECKS = {
    "predict": check_labels,
    "predict_proba": check_probabilities,
    "predict_log_proba": check_logarithms,
    "decision_function": lambda m: np.isfinite(m.decision_function(X)).all(),
    "score": lambda m: m.score(X, m.predict(X)) == 1,
    "staged_predict": partial(check_stages, method="predict"),
    "staged_predict_proba": partial(check_stages, method="predict_proba"),
    "staged_decision_function": partial(check_stages, method="decision_function"),
    "predict_set": check_sets,
    "explain": lambda m: check_sums(m, m.explain, None if is_additive(m.ensemble_) else X[:50]),
    "shap_values": lambda m: check_sums(m, m.shap_values, X[:50]),
    "feature_importances_": lambda m: abs(m.feature_importances_.sum() - 1) < 1e-9,
    "class_columns": lambda m: len(m.class_columns(m.classes_[0]).coef) >= 0,
    "scorecard": check_scorecard,
    "to_frame": lambda m: len(m.to_frame()) > 0,
    "strongest": lambda m: len(m.strongest()) > 0,
    "ensemble_": lambda m: m.ensemble_.n_rounds == getattr(m, "best_iteration_", m.n_iter_),
    "init_": lambda m: m.init_ is m.model_.base,
    "probability_scale_": lambda m: np.allclose(
        softmax(m.probability_scale_ * m._scores(X), axis=1), m.predict_proba(X)
    ),
    "get_params": lambda m: "init" in m.get_params() or type(m) is not CWBoostClassifier,
    "set_params": lambda m: m.set_params(verbose=0) is m,
    "thin": lambda m: (
        m.thin(X, m.predict(X), C=1e5).n_iter_ == 1
        if len(set(m.predict(X))) == len(m.classes_)
        else None
    ),
}
ELSEWHERE = {"save", "fit", "refit", "calibrate"}


def test_the_table_has_every_public_method():
    own = {
        name
        for cls in (CWBoostClassifier, BoostingClassifier)
        for name, member in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }
    assert own <= set(CHECKS) | ELSEWHERE, own - set(CHECKS) - ELSEWHERE


def refusal(model, method):
    """Return the error of a method that this kind of model lacks, and its words; None if none."""
    of_votes = not isinstance(model, AdaBoostMOClassifier)
    base = model.init_
    if method == "feature_importances_":
        silent = base is not None and splits_nothing(base, X)
        return (AttributeError, "SHAP values of all of its scores") if silent else None
    if method == "probability_scale_":
        has = isinstance(model, CWBoostClassifier | MultiBoostClassifier)
        return None if has else (AttributeError, "without a scale")
    if method == "thin":
        has = isinstance(model, CWBoostClassifier)
        return None if has else (AttributeError, "no attribute 'thin'")
    votes = "explain", "shap_values", "class_columns", "strongest", "scorecard"
    if method in votes and not of_votes:
        return TypeError, "sums of votes for classes, got AdaBoostMOClassifier"
    return None


@pytest.mark.parametrize("method", CHECKS)
def test_method(model, method):
    if (expected := refusal(model, method)) is not None:
        error, message = expected
        with pytest.raises(error, match=message):
            CHECKS[method](model)
        assert hasattr(model, method) == (error is not AttributeError)
        return
    assert CHECKS[method](model) is not False


OF_FITTED = [
    name
    for name in (set(CHECKS) | ELSEWHERE) - {"fit", "get_params", "set_params"}
    if inspect.isfunction(getattr(CWBoostClassifier, name))
]


@pytest.mark.parametrize("method", sorted(OF_FITTED))
def test_without_a_fit(method):
    function = getattr(CWBoostClassifier, method)
    known = {"self": CWBoostClassifier(), "X": X, "y": Y, "label": "a", "path": "m"}
    given = {name: known[name] for name in inspect.signature(function).parameters if name in known}
    with pytest.raises(NotFittedError):
        list(function(**given))


def by_skops(model):
    """Return the model as skops stores it, which may load our types and those of the tests."""
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    ours = [name for name in types if name.startswith(("cwboost.", "derived_families."))]
    return skops.loads(data, trusted=ours)


def test_a_file_gives_the_same_model_and_inspect_reads_it(model, tmp_path, capsys):
    path = tmp_path / "model.cwb"
    model.save(path)
    loaded = load_model(path)
    for other in (loaded, pickle.loads(pickle.dumps(model)), by_skops(model)):
        assert repr(other) == repr(model) and other.get_params().keys() == model.get_params().keys()
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.predict(X).dtype == model.predict(X).dtype
        for one, same in zip(
            other.staged_decision_function(X), model.staged_decision_function(X), strict=True
        ):
            np.testing.assert_array_equal(one, same)
        np.testing.assert_equal(other.history_, model.history_)
        assert (other.n_iter_, other.stop_reason_) == (model.n_iter_, model.stop_reason_)
        if model.model_.conformity is not None:
            np.testing.assert_array_equal(other.predict_set(X), model.predict_set(X))
    np.testing.assert_equal(loaded.model_.importances, model.model_.settled().importances)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    model.save(tmp_path / "last", staged=False)
    last = load_model(tmp_path / "last")
    np.testing.assert_array_equal(last.predict_proba(X), model.predict_proba(X))
    for n in rounds_of(model)[:-1]:
        for method in ("predict", "predict_proba", "decision_function", "to_frame"):
            with pytest.raises(ValueError, match="staged=True"):
                getattr(last, method)(*[X][: method != "to_frame"], n_estimators=n)
    assert main(["inspect", str(path)]) == 0
    assert "stopped by" in capsys.readouterr().out
    assert main(["inspect", str(path), "--json", "--top", "3"]) == 0
    strongest = json.loads(capsys.readouterr().out)["strongest"]
    assert strongest and all(entry["votes +1 if"] for entry in strongest)
    of_bits = {str(entry["class"]).startswith("bit ") for entry in strongest}
    assert of_bits == {isinstance(model, AdaBoostMOClassifier)}
    assert b"sklearn." not in path.read_bytes()  # no import path


@pytest.mark.parametrize("C", [None, 4.0])
def test_a_model_without_a_round_answers(C, tmp_path, capsys):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 3, 120)
    with pytest.warns(UserWarning, match="no weak learner lowers the objective"):
        model = CWBoostClassifier("stump", correction="total", C=C, random_state=0).fit(X, y)
    assert model.n_iter_ == 0
    shares = np.tile(np.bincount(y) / len(y), (len(X), 1))
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=0.03)
    np.testing.assert_array_equal(model.feature_importances_, 0)
    assert not len(model.to_frame()) and not len(model.strongest())
    model.save(tmp_path / "model.cwb")
    loaded = load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert main(["inspect", str(tmp_path / "model.cwb")]) == 0
    assert "stopped by" in capsys.readouterr().out


def test_onnx_gives_the_same_answers(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    codes = model._encoded(X).astype(np.float64)
    for n in rounds_of(model):
        session = onnxruntime.InferenceSession(
            to_onnx(model, n_estimators=n).SerializeToString(), providers=["CPUExecutionProvider"]
        )
        labels, scores, probabilities = session.run(None, {"X": codes})
        wanted = model._scores(X, n)
        np.testing.assert_allclose(scores, wanted, atol=1e-9)
        # Code words at equal distance from the bits tie, up to the order of summation.
        best = np.sort(wanted, axis=1)
        sure = best[:, -1] - best[:, -2] > 1e-12
        sure |= not isinstance(model, AdaBoostMOClassifier)
        np.testing.assert_array_equal(labels[sure], model.predict(X, n)[sure])
        np.testing.assert_allclose(probabilities, model.predict_proba(X, n), atol=1e-9)
