"""Saving of classifiers: what a file leaves out, and clear errors for what it cannot hold."""

import copy
import json

import numpy as np
import pytest
from attack_plugins import init_model
from models import paper
from mutations import header_of
from reference_family import ReferenceStump
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sources import ROOT

from cwboost import CWBoostClassifier, ModelFileError, load_model
from cwboost.model_file import container, saving

X, Y = load_iris(return_X_y=True)


def trained(reference, **params):
    params = {"n_estimators": 12, "C": 100.0, "random_state": 3} | params
    return paper(reference(share=0.3), **params).fit(X, Y)


@pytest.fixture(scope="module")
def model(reference):
    return trained(reference)


def test_a_file_holds_at_most_so_many_classes(model, path, monkeypatch):
    model.save(path)
    monkeypatch.setattr(saving, "MAX_CLASSES", 3)
    model.save(path)
    assert len(load_model(path).classes_) == 3
    monkeypatch.setattr(saving, "MAX_CLASSES", 2)
    with pytest.raises(ValueError, match="at most 2 classes"):
        model.save(path)
    with pytest.raises(ModelFileError, match="at most 2 labels, got 3"):
        load_model(path)


@pytest.mark.parametrize("value", [-0.5, 1e300, 1, None])
def test_a_factor_of_base_scores_that_no_fit_gives_is_refused(path, value):
    CWBoostClassifier("stump", init="linear", n_estimators=2).fit(X, Y).save(path)
    header, arrays = container.read(path)
    container.write(path, header | {"init": header["init"] | {"factor": value}}, arrays)
    with pytest.raises(ModelFileError, match="init: factor must"):
        load_model(path)


def test_generators_and_callbacks_are_not_stored(reference, path):
    clf = trained(reference, random_state=np.random.RandomState(0), callbacks=[])
    with pytest.warns(UserWarning, match="random_state is a generator object"):
        clf.save(path)
    assert load_model(path).random_state is None and load_model(path).callbacks is None


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda state: state["pairs"]["weights"].__imul__(2.0), "the weights of the state must be"),
        (lambda state: state["pairs"]["scores"].fill(np.nan), "the scores of the state must be"),
        (lambda state: state.pop("data"), "training_state must have the fields"),
        (lambda state: state.update(precision=[0.1, None, False]), "must have the fields"),
        (lambda state: state.update(best_bound=1e9), "best_bound must not lie above the objective"),
        (lambda state: state["generator"].pop("state"), "not a state of a generator"),
        (lambda state: state.update(early_stopping={"best": 0.0}), "must have the fields"),
    ],
)
def test_a_training_state_that_is_not_the_models_is_refused(reference, path, spoil, message):
    """Training would go on from other weights than those of the coefficients."""
    clf = trained(reference, n_estimators=3, warm_start=True)
    spoil(clf._state)
    clf.save(path, training_state=True)
    with pytest.raises(ValueError, match=message):
        load_model(path).set_params(n_estimators=5).fit(X, Y)


@pytest.mark.parametrize("best", [-1, 0, 4])
def test_a_best_round_that_the_file_does_not_hold_is_refused(reference, path, best):
    clf = trained(reference, n_estimators=3, warm_start=True)
    clf.best_iteration_ = best
    clf.save(path, training_state=True)
    with pytest.raises(ValueError, match=rf"best_iteration_ must lie in 1\.\.3, got {best}"):
        load_model(path)


def test_the_header_is_json_that_names_no_code(model, path):
    model.save(path)
    header = header_of(path)
    text = json.dumps(header)
    assert not any(name in text for name in ("cwboost.", "reference_family", "ReferenceStump"))
    assert header["family"]["name"] == "reference_stump" and header["family"]["api_version"] == 1


# ---------------------------------------------------------------------------- what cannot be saved


class Unknown(ReferenceStump):
    name = "nobody-has-it"


class Impostor(ReferenceStump):
    name = "reference_stump"


class Subclass(CWBoostClassifier):
    pass


def with_labels(model, labels):
    clf = copy.copy(model)
    clf.classes_ = np.array(labels)
    return clf


def with_parameter(model, **parameter):
    return copy.copy(model).set_params(**parameter)


def fitted(family="stump", classifier=CWBoostClassifier, **params):
    return classifier(family, n_estimators=2, **params).fit(X, Y)


DEEP = json.loads("[" * 30 + "1" + "]" * 30)
TUPLES = np.array([(1,), (2,), (3, 4)], dtype=object)
UNSAVED = [
    (lambda model: paper(), NotFittedError, "not fitted"),
    (lambda model: with_labels(model, TUPLES), TypeError, "fitted.classes_ holds a tuple"),
    (lambda model: with_labels(model, [b"a", b"b", b"c"]), TypeError, "classes_ is an array of dt"),
    (lambda model: with_parameter(model, verbose=1j), TypeError, "params.verbose is a complex, wh"),
    (lambda model: with_parameter(model, C=DEEP), ValueError, "params.C.* nested more than 24 dee"),
    *(
        (lambda model, key=key: with_parameter(model, class_weight={key: 1}), TypeError, "class_we")
        for key in (b"x", ("a", 1), np.inf, object())
    ),
    (lambda model: fitted(classifier=Subclass), TypeError, "one of cwboost, got .*Subclass"),
    (lambda model: with_labels(model, ["\ud83d\ude00", "a", "b"]), ValueError, "surrogates not al"),
    (lambda model: fitted(Unknown()), ValueError, "'nobody-has-it' must be registered"),
    (lambda model: fitted(Impostor()), ValueError, "is registered for another class"),
    (lambda model: fitted(init=GaussianNB()), TypeError, "init.*GaussianNB"),
    (lambda model: fitted(init=init_model()), ValueError, "the init model .* must be registered"),
]


@pytest.mark.parametrize("make, error, message", UNSAVED)
def test_what_cannot_be_saved(model, path, make, error, message):
    with pytest.raises(error, match=message):
        make(model).save(path)
    assert not path.exists()


def test_a_training_state_needs_the_stages(model, path):
    with pytest.raises(ValueError, match="training_state=True requires staged=True"):
        model.save(path, staged=False, training_state=True)
    with pytest.raises(ValueError, match=r"training_state must be False .* got True"):
        model.save(path, training_state=True)


FILES = sorted((ROOT / "tests/model_files").glob("*/*.cwb"))


def test_files_are_kept():
    assert {"default", "stumps", "trees", "projections", "cluster"} <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_predicts_as_the_version_that_wrote_it(path):
    with np.load(path.parent / "predictions.npz", allow_pickle=False) as known:
        X, scores, chances, labels = (
            known[f"{path.stem}: {name}"] for name in ("X", "scores", "chances", "labels")
        )
    if path.stem == "named-categories":
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame({"size": X[:, 0].astype(float), "colour": pandas.Categorical(X[:, 1])})
    model = load_model(path)
    # The last digits of matrix products and of the exponential are those of other libraries.
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), chances, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), labels)
