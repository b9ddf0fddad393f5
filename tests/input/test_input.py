"""Frames as users have them: numbers, bools, categories, text, gaps; and what is refused."""

import sys

import numpy as np
import pytest
from models import CLASSIFIERS, paper
from scipy import sparse

from cwboost import CWBoostClassifier

pd = pytest.importorskip("pandas")
N = 300
RNG = np.random.default_rng(0)
CITY = RNG.integers(0, 9, N)
Y = np.where(RNG.random(N) < 0.9, CITY % 3, 0)


def frame(n=N):
    table = pd.DataFrame(
        {
            "size": np.linspace(-1, 1, N),
            "city": pd.Categorical([f"city {c}" for c in CITY]),
            "owner": CITY % 2 == 0,
            "rooms": pd.array(CITY % 4, dtype="Int64"),
        }
    )
    table.loc[::7, "city"] = np.nan
    table.loc[::5, "rooms"] = pd.NA
    return table[:n]


def small(weak_learner="stump", **parameters):
    return paper(weak_learner, **{"n_estimators": 12} | parameters)


class Stream:
    """A table of a library that nobody knows, which hands on Arrow data."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def polars(X, dtype):
    pl = pytest.importorskip("polars")
    columns = {name: X[name].astype(object).where(X[name].notna(), None).tolist() for name in X}
    return pl.DataFrame(columns).with_columns(pl.col("city").cast(dtype(pl)))


def arrow(X):
    return pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False)


FRAMES = {
    "nullable": lambda X: X.astype({"size": "Float64", "rooms": "Int64"}),
    "text": lambda X: X.assign(city=X["city"].astype(object)),
    "array": lambda X: X.assign(rooms=X["rooms"].astype(float)).to_numpy(dtype=object),
    "categories of polars": lambda X: polars(X, lambda pl: pl.Categorical),
    "an enumeration of polars": lambda X: polars(X, lambda pl: pl.Enum(X["city"].cat.categories)),
    "Arrow's table": arrow,
    "Arrow's batch": lambda X: arrow(X).to_batches()[0],
    "Arrow in pandas": lambda X: arrow(X).to_pandas(types_mapper=pd.ArrowDtype),
    "stream": lambda X: Stream(arrow(X)),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_every_kind_give_one_model(kind):
    X = frame()
    given, clf = FRAMES[kind](X), small().fit(X, Y)
    assert {place: len(known) for place, known in clf.categories_.items()} == {1: 9, 2: 2}
    scores = clf.decision_function(X)
    assert clf.score(X, Y) > 0.8
    if kind == "array":  # of which a parameter says where categories are
        for places in ([1, 2], [False, True, True, False]):
            again = small(categorical_features=places).fit(given, Y)
            np.testing.assert_array_equal(again.decision_function(given), scores)
        return
    again = small().fit(given, Y)
    assert list(again.feature_names_in_) == list(X.columns)
    for other in (given, X):
        np.testing.assert_array_equal(again.decision_function(other), scores)


def small_of(classifier):
    return classifier(weak_learner="stump", n_estimators=3, random_state=0)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_stream_need_not_be_read_twice(classifier):
    table = arrow(frame())
    scores = small_of(classifier).fit(table, Y).decision_function(table)
    clf = small_of(classifier).fit(table.to_reader(), Y)
    np.testing.assert_array_equal(clf.decision_function(table.to_reader()), scores)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_refit_forgets_columns(classifier):
    clf = small_of(classifier).fit(frame(), Y).fit(np.column_stack([CITY, CITY]), Y)
    assert clf.n_features_in_ == 2
    assert not hasattr(clf, "feature_names_in_") and not hasattr(clf, "categories_")


def test_arrow_data_of_other_libraries_needs_pyarrow(monkeypatch):
    table = Stream(pytest.importorskip("pyarrow").table({"size": np.arange(N)}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="Stream of Arrow data, needs pyarrow: pip install"):
        small().fit(table, Y)


def test_unseen_categories_count_as_missing():
    X = frame()
    clf = small().fit(X, Y)
    new = X.assign(city=pd.Categorical(["elsewhere"] * N))
    lost = X.assign(city=pd.Categorical([None] * N, categories=["city 1"]))
    np.testing.assert_array_equal(clf.decision_function(new), clf.decision_function(lost))


def of_text(values, codes=("1", "20", "x")):
    """Return scores of a model of text and bools for other values of its columns."""
    rows = np.arange(60)
    X = pd.DataFrame({"code": np.array(codes)[rows % 3], "is_new": rows % 2 == 0})
    clf = small().fit(X, np.where(X["is_new"], "new", X["code"]))
    return clf.decision_function(pd.DataFrame({"code": codes, "is_new": True}).assign(**values))


def test_text_and_bools_meet_numbers_that_pandas_reads_them_as():
    expected = of_text({"code": ["1", "20", None]})
    for codes in ([1, 20, None], [1.0, 20.0, np.nan], pd.array([1, 20, None], dtype="Int64")):
        np.testing.assert_array_equal(of_text({"code": codes, "is_new": 1}), expected)
    assert np.array_equal(of_text({"code": [3] * 3}), of_text({"code": [None] * 3}))  # not known
    for values, codes, message in (
        (
            {"code": 1.5},
            ["1", "20", "x"],
            "kind text, as in fit, got numbers in column 'code' such as",
        ),
        ({"code": 1}, ["01", "20", "x"], r"such as 1, which may be '01': read it as text"),
        ({"code": 1}, ["1", "1.0", "x"], r"such as 1, which may be '1', '1.0': read it as text"),
        (
            {"is_new": 2},
            ["1", "20", "x"],
            "true and false, as in fit, got numbers in column 'is_new'",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            of_text(values, codes)


def test_text_that_hardly_repeats_is_named_in_a_warning():
    X = frame().assign(name=[f"name {row}" for row in range(N)])
    with pytest.warns(UserWarning, match="column 'name' of X has 300 different texts in 300 rows"):
        small(n_estimators=1).fit(X, Y)
    for quiet in (X.astype({"name": "category"}), X.assign(name=X["name"].str[:7])):
        small(n_estimators=1).fit(quiet, Y)


def with_column(values):
    return lambda: frame().assign(new=values)


def lazy():
    return pytest.importorskip("polars").DataFrame({"size": np.arange(N)}).lazy()


TEXT = np.array(["a", "b", "c"] * (N // 3), dtype=object)
IS_2D = r"Expected (2D array|a 2-dimensional)"
# What gives X, how it is trained on, and what is said.
REFUSED = [
    (frame, {"categorical_features": [True, False]}, "mask of 4 bools, one per column, got 2"),
    (frame, {"categorical_features": ["town"]}, "got 'town'; X has the columns 'size', 'ci"),
    (frame, {"categorical_features": [7]}, "places from 0 to 3, got 7"),
    (frame, {"categorical_features": "all"}, "must be 'from_dtype', None, or a list"),
    (frame, {"categorical_features": [1.5]}, "names of columns of X, or places .* got 1.5"),
    (frame, {"categorical_features": ["size", "size"]}, "got text in column 'city'"),
    (frame, {"categorical_features": None}, "got text in column 'city'"),
    (with_column(TEXT), {"categorical_features": ["city"]}, "got text in column 'new'"),
    (with_column(pd.Categorical([1, "a", "b"] * (N // 3))), {}, "must hold .*got int and str"),
    (with_column(pd.Categorical([2.0**60, 1.0] * (N // 2))), {}, r"2\*\*53 .* column 'new'"),
    (lambda: np.array([["1", "a"], ["2", "b"]], dtype=object), {}, "got text in column 1"),
    (lambda: sparse.csr_array(np.eye(4)), {"categorical_features": [0]}, "needs a dense X"),
    (lambda: frame().rename(columns={"size": "city"}), {}, "a name of its own for each column"),
    (lazy, {}, "in memory, got a lazy frame .*LazyFrame.: collect"),
    (lambda: pytest.importorskip("pyarrow").chunked_array([np.arange(N)]), {}, IS_2D),
    (lambda: pytest.importorskip("polars").Series(np.arange(N)), {}, IS_2D),
    (lambda: pd.Series(range(N)), {}, IS_2D),
]  # fmt: skip


@pytest.mark.parametrize("make, params, message", REFUSED)
def test_what_is_refused_is_named(make, params, message):
    X = make()
    n = getattr(X, "shape", (N,))[0]
    with pytest.raises((TypeError, ValueError), match=message):
        small(**params).fit(X, np.arange(n) % 2)


DAYS = np.arange(N // 2).repeat(2)
UNFIT = {
    "dates": (np.datetime64("2020-01-01") + DAYS, "got dates or times in column"),
    "times to a second": (np.datetime64("2020-01-01", "s") + DAYS, "got dates or times in column"),
    "durations": (DAYS.astype("m8[ms]"), "got dates or times in column"),
    "missing times": (np.full(N, np.datetime64("NaT", "ns")), "got dates or times in column"),
    "complex numbers": (DAYS * 1j, "got complex numbers in column"),
}
CONTAINERS = {
    "frame": lambda column: pd.DataFrame({"a": column, "b": column}),
    "frame of objects": lambda column: pd.DataFrame({"a": column, "b": column}).astype(object),
    "array": lambda column: np.stack([column, column], axis=1),
    "array in Fortran order": lambda column: np.stack([column, column]).T,
    "array of objects": lambda column: np.stack([column, column], axis=1).astype(object),
    "array of NumPy's scalars": lambda column: objects(list(column)),
    "array of pandas objects": lambda column: objects(pd.Series(column).tolist()),
    "list of rows": lambda column: [[value, value] for value in column],
    "polars": lambda column: as_polars(column),
    "Arrow": lambda column: as_polars(column).to_arrow(),
    "stream of Arrow data": lambda column: Stream(as_polars(column).to_arrow()),
}


def objects(values):
    table = np.empty((len(values), 2), dtype=object)
    table[:, 0] = np.arange(len(values)) / 2  # the first column is fine
    for row, value in enumerate(values):  # which keeps the type of each
        table[row, 1] = value
    return table


def as_polars(column):
    if column.dtype.kind == "c":
        pytest.skip("polars has no complex numbers")
    if column.dtype.kind == "M":
        column = column.astype("M8[ms]")
    return pytest.importorskip("polars").DataFrame({"a": column, "b": column})


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", UNFIT)
def test_what_one_container_refuses_all_refuse(kind, container):
    """Arrays of times were numbers, whatever their unit: fitted on ns and scored on s."""
    column, message = UNFIT[kind]
    given = CONTAINERS[container](column)
    if kind == "missing times" and ("object" in container or "scalars" in container):
        pytest.skip("missing objects have no kind")
    model = small().fit(np.arange(2.0 * N).reshape(N, 2), Y)
    for use in (lambda: small().fit(given, Y), lambda: model.predict(given)):
        with pytest.raises((TypeError, ValueError), match=message):
            use()
    with pytest.raises((TypeError, ValueError), match=rf"{message}|must hold categories"):
        small(categorical_features=[0, 1]).fit(given, Y)


def test_a_column_that_changed_after_fit_is_named():
    X = frame()
    clf = small().fit(X, Y)
    with pytest.raises(ValueError, match="got numbers in column 'city'"):
        clf.predict(X.assign(city=1.5))
    with pytest.raises(ValueError, match=r"numbers in column 'size', .* text such as 'large'"):
        clf.predict(X.assign(size="large"))
    with pytest.raises(ValueError, match="numbers in column 'size', as in fit, got"):
        clf.predict(X.assign(size=X["size"].astype("category")))
    warm = small(warm_start=True).fit(X, Y).set_params(n_estimators=14)
    with pytest.raises(ValueError, match="got others in column 'city'"):
        warm.fit(X.assign(city=X["city"].cat.remove_categories("city 3")), Y)
    other = X.assign(city=X["city"].cat.reorder_categories(X["city"].cat.categories[::-1]))
    np.testing.assert_array_equal(
        warm.fit(other, Y).decision_function(X),
        small(n_estimators=14).fit(X, Y).decision_function(X),
    )


def test_columns_of_missing_categories_and_of_any_number_of_them_train():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=400), "lost": [None] * 400})
    frame["lost"] = frame["lost"].astype("category")
    frame["caller"] = pd.Series(rng.integers(0, 350, 400).astype(str), dtype="category")
    y = (frame["number"] > 0).astype(int) + (frame["caller"].astype(int) % 5 == 0)
    clf = CWBoostClassifier(n_estimators=5, random_state=0).fit(frame, y)
    assert clf.score(frame, y) > 0.7
    assert len(clf.categories_[2]) > 200 and len(clf.categories_[1]) == 0
    counts = frame["caller"].value_counts()
    assert (np.diff([counts[name] for name in clf.categories_[2]]) <= 0).all()
    clf.set_params(warm_start=True, n_estimators=7).fit(frame[::-1], y[::-1])
    assert clf.n_iter_ == 7
