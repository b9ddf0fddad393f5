import subprocess
import sys

import numpy as np
import pandas
import pytest
from cwboost_text import FittedTfidf, TextScores, TfidfInit
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import cwboost

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


SCORES = """
import sys
import cwboost, numpy as np
from scipy import sparse
model = cwboost.load_model(sys.argv[1])
np.save(sys.argv[3], model.decision_function(sparse.load_npz(sys.argv[2])))
"""


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_saved_model_scores_the_same_in_a_fresh_process(counted, n_classes, tmp_path):
    X, y = counted
    known = y != "none" if n_classes == 2 else np.full(len(y), True)
    X, y = X[known], y[known]
    model = cwboost.CWBoostClassifier(init="tfidf", n_estimators=5, random_state=0).fit(X, y)
    assert isinstance(model.init_.model, TfidfInit)
    assert model.score(X, y) > 0.99
    model.save(tmp_path / "model.cwb")
    sparse.save_npz(tmp_path / "X.npz", X)
    paths = [tmp_path / name for name in ("model.cwb", "X.npz", "scores.npy")]
    subprocess.run([sys.executable, "-c", SCORES, *paths], check=True)
    np.testing.assert_array_equal(np.load(paths[2]), model.decision_function(X))


def test_the_command_line_trains_it(counted, tmp_path):
    X, y = counted
    data, model = tmp_path / "counts.npz", tmp_path / "model.cwb"
    np.savez(data, X=X.toarray(), y=y)
    command = [sys.executable, "-m", "cwboost", "fit", data, model, "--set", "init=tfidf"]
    subprocess.run([*command, "--rounds", "5", "--held-out", "0"], check=True)
    assert cwboost.load_model(model).init_.model.name == "tfidf"


def test_training_scores_have_not_seen_their_labels():
    rng = np.random.default_rng(0)
    noise, y = rng.integers(2, size=(300, 60)), rng.integers(3, size=300)
    context = cwboost.InitContext(n_classes=3, weight=np.ones(len(y)))
    fitted, scores = TfidfInit(C=1e3).fit(noise, y, context)
    assert np.mean(fitted.scores(noise).argmax(axis=1) == y) > 0.6
    assert np.mean(scores.argmax(axis=1) == y) < 0.4


def test_scores_do_not_depend_on_how_rows_are_cut(counted):
    X, y = counted
    codes = np.unique(y, return_inverse=True)[1]
    context = cwboost.InitContext(n_classes=3, weight=np.ones(len(y)))
    fitted, _ = TfidfInit().fit(X, codes, context)
    parts = [fitted.scores(X[rows]) for rows in (slice(7), slice(7, None))]
    np.testing.assert_array_equal(np.vstack(parts), fitted.scores(X))
    np.testing.assert_array_equal(fitted.scores(X.toarray()), fitted.scores(X))
    assert fitted.feature_shares(X.shape[1]).sum() == pytest.approx(1)


def test_damaged_arrays_are_refused():
    arrays = {"idf": np.ones(4), "coef": np.ones((4, 3)), "intercept": np.ones(3)}
    FittedTfidf.from_arrays(arrays, 4, 3)
    for name in arrays:
        for wrong in (np.full_like(arrays[name], np.nan), arrays[name][1:]):
            with pytest.raises(ValueError, match=name):
                FittedTfidf.from_arrays({**arrays, name: wrong}, 4, 3)


def test_numbers_that_are_not_counts_are_refused(counted):
    X, y = counted
    with pytest.raises(ValueError, match="expects counts of terms"):
        cwboost.CWBoostClassifier(init="tfidf", n_estimators=2).fit(-X.toarray(), y)


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
    with pytest.raises(ValueError, match="column: expected a name of X's columns, got 'remark'"):
        TextScores("remark").fit(frame, y)
    with pytest.raises(TypeError, match="column 'height' must hold text"):
        TextScores("height").fit(frame, y)
    with pytest.raises(ValueError, match="each class needs two examples"):
        TextScores("remarks").fit(frame, ["one", *y[1:]])
    frame.loc[0, "remarks"] = None
    TextScores("remarks").fit(frame, y)
