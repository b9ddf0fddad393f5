"""Saving and loading of classifiers: exact round trips, clear errors for unsupported values."""

import copy
import json
import os
import stat

import numpy as np
import pytest
from models import paper
from mutations import header_of
from reference_family import ReferenceStump
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from cwboost import CWBoostClassifier, load_model

X, Y = load_iris(return_X_y=True)


def trained(reference, y=Y, **params):
    params = {"correction": "total", "n_estimators": 12, "C": 100.0, "random_state": 3, **params}
    return CWBoostClassifier(reference(share=0.3), **params).fit(X, y)


@pytest.fixture(scope="module")
def model(reference):
    return trained(reference)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cwb"


def assert_equal_models(ours, theirs, data=X):
    np.testing.assert_array_equal(ours.decision_function(data), theirs.decision_function(data))
    np.testing.assert_array_equal(ours.predict(data), theirs.predict(data))
    assert ours.predict(data).dtype == theirs.predict(data).dtype
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert ours.n_features_in_ == theirs.n_features_in_
    assert ours.history_.keys() == theirs.history_.keys()
    for name, values in ours.history_.items():
        np.testing.assert_array_equal(values, theirs.history_[name])


def test_labels_that_need_pickle_are_refused(path, model):
    clf = copy.copy(model)
    clf.classes_ = np.array([(1,), (2,), (3, 4)], dtype=object)
    with pytest.raises(TypeError, match=r"fitted.classes_ holds a tuple"):
        clf.save(path)
    clf.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(TypeError, match=r"fitted.classes_ is an array of dtype"):
        clf.save(path)
    assert not path.exists()


def test_without_stages(reference, path):
    clf = trained(reference, n_estimators=40)
    clf.save(path)
    whole = path.stat().st_size
    clf.save(path, staged=False)
    assert path.stat().st_size < whole
    loaded = load_model(path)
    assert_equal_models(loaded, clf)
    with pytest.raises(ValueError, match="staged=True"):
        loaded.predict(X, n_estimators=3)
    assert clf.ensemble_.path.staged
    clf.predict(X, n_estimators=3)


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
        (lambda state: state.pop("q"), "training_state must have the fields"),
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
    header, _ = header_of(path)
    text = json.dumps({key: header[key] for key in header if key != "arrays"})
    assert (
        "cwboost." not in text and "reference_family" not in text and "ReferenceStump" not in text
    )
    assert header["family"]["name"] == "reference_stump" and header["family"]["api_version"] == 1


# ---------------------------------------------------------------------------- what cannot be saved


def test_what_cannot_be_saved(reference, path, model):
    with pytest.raises(NotFittedError):
        paper(reference()).save(path)
    with pytest.raises(ValueError, match="training_state=True requires staged=True"):
        model.save(path, staged=False, training_state=True)

    class Subclass(CWBoostClassifier):
        pass

    clf = Subclass(reference(), n_estimators=2).fit(X, Y)
    with pytest.raises(TypeError, match=r"classifier must be one of cwboost, got .*Subclass"):
        clf.save(path)
    clf = copy.copy(model).set_params(verbose={1, 2})
    with pytest.raises(TypeError, match=r"params.verbose is a set, which a model file cannot"):
        clf.save(path)
    assert not path.exists()


def test_a_family_that_is_not_registered(reference, path):
    class Unknown(ReferenceStump):
        name = "nobody-has-it"

    clf = paper(Unknown(), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="'nobody-has-it' must be registered"):
        clf.save(path)

    class Impostor(ReferenceStump):
        name = "reference_stump"

    clf = paper(Impostor(), n_estimators=2).fit(X, Y)
    with pytest.raises(ValueError, match="is registered for another class"):
        clf.save(path)


def test_where_a_model_cannot_be_saved(model, tmp_path):
    """The message names what the caller gave, and nothing is replaced."""
    places = (tmp_path / "no" / "model.cwb", tmp_path, f"{tmp_path}{os.sep}new{os.sep}", "")
    for place, message in zip(places, ["No such file", *["not the name of a regular file"] * 3]):
        with pytest.raises(OSError, match=message) as caught:
            model.save(place)
        assert caught.value.filename == str(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_special_file_is_not_replaced(model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (pipe, os.devnull):
        kind = stat.S_IFMT(os.stat(target).st_mode)
        with pytest.raises(OSError, match=f"not the name of a regular file.*{target}"):
            model.save(target)
        assert stat.S_IFMT(os.stat(target).st_mode) == kind


def test_names_as_long_as_they_may_be_and_links(model, tmp_path):
    path = tmp_path / ("m" * 255)
    model.save(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    path.write_bytes(b"old")
    model.save(link)
    assert link.is_symlink()
    assert load_model(path).predict(X[:3]).tolist() == model.predict(X[:3]).tolist()
