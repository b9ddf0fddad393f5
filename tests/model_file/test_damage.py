"""Loading of damaged, hostile or too new files: clear errors and no side effects."""

import gc
import resource
from itertools import product
from pathlib import Path

import attack_models
import numpy as np
import pytest
from attack import carried_out
from models import CLASSIFIERS, paper
from mutations import header_of
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier, ModelFileError, StumpFamily, load_model
from cwboost.model_file import container

X, Y = load_iris(return_X_y=True)
MEGABYTE = 2**20


@pytest.fixture(scope="module")
def model(reference):
    clf = paper(reference(share=0.3), n_estimators=12, C=100.0, random_state=3)
    return clf.fit(X, Y)


def test_an_absent_family_is_named(model, path, monkeypatch):
    model.save(path)
    monkeypatch.setenv("CWBOOST_PLUGINS", "0")
    message = (
        "needs the weak learner 'reference_stump', which is not available: .* It was saved with "
        r"the distribution reference-stumps 3\.1\."
    )
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


NONE = object()


def edited(model, path, changes):
    """Save, change contents by place (to NONE: delete), write them with valid checksums.

    A place is a path in the header, or the name of an array with a dot.
    """
    model.save(path)
    header, arrays = container.read(path)
    for place, value in changes.items():
        *above, key = place.split()
        holder = arrays if "." in place else header
        *above, key = (int(name) if name.isdigit() else name for name in (*above, key))
        for name in above:
            holder = holder[name]
        holder[key] = value
        if value is NONE:
            del holder[key]
    container.write(path, header, arrays)
    return path


def owned_by(name, version="1.0"):
    return {"family distribution": name, "family version": version}


def test_a_name_that_belongs_to_another_distribution_is_refused(model, path):
    """Its code would read arrays that another package has written."""
    message = (
        "weak learner 'reference_stump' of the distribution other-stumps 1.0; here the name "
        r"belongs to another one, reference-stumps 3\.1: install other-stumps, or turn "
        "reference-stumps off"
    )
    with pytest.raises(ModelFileError, match=message):
        load_model(edited(model, path, owned_by("other-stumps")))
    for same in ("reference-stumps", "Reference.Stumps"):  # of any version, in any spelling
        load_model(edited(model, path, owned_by(same, "99")))
    load_model(edited(model, path, owned_by(NONE, NONE)))  # as older versions wrote


def test_the_distribution_of_members_of_a_mixture_is_kept_too(reference, path):
    clf = CWBoostClassifier(["stump", reference()], init=None, n_estimators=2).fit(X, Y)
    place = "family params families items 1 distribution"
    with pytest.raises(ModelFileError, match=r"of the distribution other-stumps 3\.1"):
        load_model(edited(clf, path, {place: "other-stumps"}))
    assert header_of(path)["family"]["distribution"] == "cwboost"


def test_a_class_registered_at_run_time_has_no_distribution(path, register):
    @register
    class OfTheProgram(StumpFamily):
        name = "of_the_program"

    clf = CWBoostClassifier(OfTheProgram(), init=None, n_estimators=2).fit(X, Y)
    clf.save(path)
    assert not {"distribution", "version"} & set(header_of(path)["family"])
    load_model(path)
    load_model(edited(clf, path, owned_by("some-plugin")))  # the program knows what it registers


EMPTY = {"$": "list", "items": []}


def dict_of(item):
    return {"$": "dict", "items": [item]}


# A place in the header, or an array by its name with a dot; values there; what is said of each.
HOSTILE = [
    ("fitted n_features_in_", [2], "feature must lie"),
    ("fitted n_features_in_", [0, 2**40], "n_features_in_ must lie"),
    ("fitted n_features_in_", [True], "must be of type int"),
    ("examples", ["1", True], "examples must be an integer"),
    ("fitted predict", [1], "must have the attributes"),
    ("fitted", [{}], "must have the attributes"),
    ("fitted", [[]], "no object 'fitted'"),
    ("fitted stop_reason_", [None], "stop_reason_ must be of type str"),
    ("fitted history_", [dict_of(["a", 1])], "history_"),
    ("params n_jobs", [2.0, 0], "n_jobs"),
    ("params C", [{"$": "exec"}], "unknown kind of value 'exec'"),
    ("params C", [[1]], "not a value"),
    ("params C", [{"$": "float", "value": "1"}], "nan, inf"),
    ("params C", [dict_of(1), dict_of([[], 1]), dict_of([EMPTY, 1])], "list of pairs"),
    ("params C", [{"$": "array", "name": "no"}], "does not have its array"),
    ("family distribution", [3, "a\nb"], "distribution of a plugin must be"),
    ("family version", [None], "version of a plugin must be"),
    ("ensemble n_scores", [4], "4 scores for 3 classes"),
    ("ensemble n_scores", [2], "score_index must lie"),
    ("ensemble n_scores", ["3", 0, 2**16 + 1], r"ensemble must have n_scores in 1\.\."),
    ("ensemble staged", [1], "and a bool staged"),
    ("classifier", [["CWBoostClassifier"], "QuantumBoost"], "classifier must be one of .*CWBoost"),
    ("params momentum", [0.9], r"CWBoostClassifier of cwboost .* has no parameter 'momentum'"),
    ("family params depth", [3], "weak learner 'reference_stump' has no parameter 'depth'"),
    ("family api_version", [7], "'reference_stump' of API version 7.*installed one has version 1"),
    ("training_state", [3], "training_state must be a dict"),
    ("fitted.classes_", [np.array([0, 1, 1]), np.array([0.0, 1, np.nan])], "sorted and distinct"),
    ("fitted.classes_", [np.array([2]), np.zeros((3, 3))], "at least two labels"),
    ("ensemble.learners.polarity", [np.zeros(3, np.int8)], "polarity has another length"),
]


@pytest.mark.parametrize(
    "place, value, message",
    [(place, value, message) for place, values, message in HOSTILE for value in values],
)
def test_hostile_contents(model, path, place, value, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(edited(model, path, {place: value}))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_hostile_categories_of_every_classifier(path, classifier):
    clf = classifier("stump", n_estimators=2, categorical_features=[3]).fit(np.round(X), Y)
    with pytest.raises(ModelFileError, match="categories_ must have places from 0 to 3, got 77"):
        load_model(edited(clf, path, {"fitted categories_ items 0 0": 77}))


@pytest.mark.parametrize(
    "name, values, message",
    [
        ("stage_scales", [0.0, -1.0, np.nan, np.inf], "stage_scales must be positive and at most"),
        ("importances", [-0.1, 1.1, np.nan], "importances must hold numbers from 0 to 1"),
    ],
)
def test_hostile_numbers_of_the_whole_model(path, name, values, message):
    clf = CWBoostClassifier("tree", init=None, random_state=0).fit(X, Y)
    for value in values:
        numbers = np.full_like(getattr(clf.model_.settled(), name), value)
        with pytest.raises(ModelFileError, match=message):
            load_model(edited(clf, path, {f"model.{name}": numbers}))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("family", ["stump", "projection", "auto"])
def test_hostile_but_finite_numbers_are_refused_or_predict_without_a_warning(path, family):
    """Of every array of numbers: thresholds, directions, landmarks' coefficients, offsets.

    Coefficients are refused for their size alone.
    """
    clf = CWBoostClassifier(family, init=None, n_estimators=20, random_state=0).fit(X, Y)
    clf.save(path)
    header, stored = container.read(path)
    numbers = [name for name, array in stored.items() if array.dtype == float]
    assert len(numbers) >= 2
    for name, value in product(numbers, [5e-324, -1e-310, 1e-300, -1e100, 1e100, 1e300, 0.0]):
        container.write(path, header, stored | {name: np.full_like(stored[name], value)})
        try:
            loaded = load_model(path)
        except ModelFileError:
            assert name != "ensemble.value" or abs(value) > 1e100
            continue
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            assert np.isfinite(loaded.predict_proba(X)).all(), (name, value)
            assert all(np.isfinite(scores).all() for scores in loaded.staged_decision_function(X))
            assert loaded.predict_set(X).shape == (len(X), 3)


# ---------------------------------------------------------------------------- attacks


@pytest.fixture
def confined():
    """Limit the process to 256 MB beyond its present memory."""
    gc.collect()
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 256 * MEGABYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


on_linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


@on_linux
def test_the_confinement_confines(confined):
    with pytest.raises(MemoryError):
        np.ones(1024 * MEGABYTE, np.uint8)


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("kind", attack_models.MODELS)
def test_a_short_attack_by_mutated_models(kind, confined, register):
    outcomes = carried_out(kind, attack_models.ATTACKS[f"models/{kind}"], 40, seed=7)
    assert outcomes.keys() == {"accepted", "refused"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_short_attack_by_checkpoints():
    assert "accepted" in carried_out("checkpoints", attack_models.checkpoints, 40, seed=7)
