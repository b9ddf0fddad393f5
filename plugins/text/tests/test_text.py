import runpy
import sys

import numpy as np
import pandas
import pytest
from cwboost_text import TextScores, TfidfInit
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import cwboost
from cwboost.testing import parametrize_with_plugin_checks

WORDS = {"gulls": ["gull", "sea", "white wing"], "deer": ["deer", "fence", "dark runway"]}


def frame_of(n, seed=0):
    """A frame of a text, a number and a category, each of which says something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.choice([*WORDS, "none"], size=n)
    own = [WORDS.get(label, ["nothing", "engine"]) for label in y]
    texts = [f"{rng.choice(words)} near {rng.choice(['gate', 'tower'])}" for words in own]
    height = np.where(y == "gulls", 100, 10) + rng.normal(0, 60, size=n)
    sky = np.where(rng.random(n) < 0.5, "dark", "clear")
    height[::7] = np.nan
    return pandas.DataFrame({"remarks": texts, "height": height, "sky": pandas.Categorical(sky)}), y


@pytest.fixture(scope="module")
def counted():
    frame, y = frame_of(300)
    return CountVectorizer(ngram_range=(1, 2)).fit_transform(frame["remarks"]), y


def test_a_saved_model_scores_the_same(counted, tmp_path):
    X, y = counted
    model = cwboost.CWBoostClassifier(init="tfidf", n_estimators=5, random_state=0)
    two = model.fit(X[y != "none"], y[y != "none"])
    assert two.init_(X).shape == (len(y), 2) and two.score(X[y != "none"], y[y != "none"]) > 0.99
    model.fit(X, y)
    assert isinstance(model.init_.model, TfidfInit)
    assert model.score(X, y) > 0.99
    model.save(tmp_path / "model.cwb")
    loaded = cwboost.load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.fixture
def cwboost_command(monkeypatch):
    """The command line in this process; returns its exit status."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cwboost", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            runpy.run_module("cwboost", run_name="__main__")
        return caught.value.code

    return run


def test_the_command_line_trains_it(counted, cwboost_command, tmp_path):
    X, y = counted
    data, model = tmp_path / "counts.csv", tmp_path / "model.cwb"
    frame = pandas.DataFrame(X.toarray(), columns=[f"word{j}" for j in range(X.shape[1])])
    frame.assign(label=y).to_csv(data, index=False)
    options = ["--set", "init=tfidf", "--rounds", "5", "--held-out", "0"]
    assert cwboost_command("fit", data, model, *options) == 0
    assert cwboost.load_model(model).init_.model.name == "tfidf"


def counts(model, n_samples, rng):
    return rng.poisson(0.3, size=(n_samples, 40))


@parametrize_with_plugin_checks([TfidfInit()], make_X=counts)
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_what_is_not_counts_is_refused(counted):
    X, y = counted
    with pytest.raises(ValueError, match=r"must be counts .*, got other numbers"):
        cwboost.CWBoostClassifier(init="tfidf", n_estimators=2).fit(-X.toarray(), y)


def test_the_command_line_says_what_a_text_column_needs(cwboost_command, tmp_path, capsys):
    frame, y = frame_of(60)
    data = tmp_path / "reports.csv"
    frame[["remarks"]].assign(y=y).to_csv(data, index=False)
    assert cwboost_command("fit", data, tmp_path / "model.cwb", "--set", "init=tfidf") == 1
    error = capsys.readouterr().err
    assert "counts of terms for the init model 'tfidf', got text or categories" in error
    assert "CountVectorizer" in error and "TextScores" in error


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_text_helps_beside_numbers_and_categories(library):
    frame, y = frame_of(400)
    frame.index = frame.index[::-1]
    other = frame_of(200, seed=1)[0].assign(remarks=lambda own: own["remarks"] + " unheard-of")
    y_other = frame_of(200, seed=1)[1]
    if library == "polars":
        polars = pytest.importorskip("polars")  # without PyArrow, which its from_pandas needs
        frame, other = (
            polars.DataFrame(own.to_dict("list"), schema_overrides={"sky": polars.Categorical})
            for own in (frame, other)
        )
    model = make_pipeline(TextScores("remarks"), cwboost.CWBoostClassifier(n_estimators=20))
    found = model.fit(frame, y)[:-1].transform(other)
    assert list(found.columns)[:3] == ["height", "sky", "remarks: deer"]
    assert list(model[-1].categories_) == [1]
    without = cwboost.CWBoostClassifier(n_estimators=20).fit(frame[["height", "sky"]], y)
    errors = [1 - model.score(other, y_other), 1 - without.score(other[["height", "sky"]], y_other)]
    assert errors[0] < 0.2 * errors[1]


def test_mistakes_are_named():
    frame, y = frame_of(40)
    with pytest.raises(ValueError, match="column must be a name of X's columns, got 'remark'"):
        TextScores("remark").fit(frame, y)
    with pytest.raises(TypeError, match="column 'height' must hold text"):
        TextScores("height").fit(frame, y)
    with pytest.raises(ValueError, match="must have two examples of each class"):
        TextScores("remarks").fit(frame, ["one", *y[1:]])


@pytest.mark.parametrize("dtype", [object, "string", "category"])
@pytest.mark.parametrize("gap", [None, np.nan, pandas.NA])
def test_a_missing_text_is_an_empty_one(dtype, gap):
    frame, y = frame_of(40)
    words = frame["remarks"].tolist()
    columns = ["", *words[1:]], pandas.Series([gap, *words[1:]], dtype=dtype)
    of_text, of_gap = (
        TextScores("remarks").fit_transform(frame.assign(remarks=own), y) for own in columns
    )
    assert of_gap.equals(of_text)
