"""Frames as users have them: numbers, bools, categories, text, gaps; and what is refused."""

import datetime
import re
import sys

import numpy as np
import pytest
from models import CLASSIFIERS, paper

from cwboost import CWBoostClassifier, load_model
from cwboost.cli import main

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


def test_pandas_polars_names_masks_and_arrays_give_one_model(tmp_path):
    X = frame()
    clf = small().fit(X, Y)
    assert list(clf.categories_) == [1] and len(clf.categories_[1]) == 9
    scores = clf.decision_function(X)
    assert clf.score(X, Y) > 0.8
    text = X.assign(city=X["city"].astype(object))
    for given in (["city"], [1], [False, True, False, False]):
        again = small(categorical_features=given).fit(text, Y)
        np.testing.assert_array_equal(again.decision_function(X), scores)
    array = text.assign(rooms=X["rooms"].astype(float)).to_numpy(dtype=object)
    again = small(categorical_features=[1]).fit(array, Y)
    np.testing.assert_array_equal(again.decision_function(array), scores)
    clf.save(tmp_path / "model.cwb")
    loaded = load_model(tmp_path / "model.cwb")
    np.testing.assert_array_equal(loaded.decision_function(X), scores)
    np.testing.assert_array_equal(loaded.categories_[1], clf.categories_[1])
    constant, parts, _ = clf.explain(X)
    np.testing.assert_allclose(constant + parts.sum(axis=1), scores, atol=1e-12)


def test_polars():
    pl = pytest.importorskip("polars")
    X = frame()
    columns = {name: X[name].astype(object).where(X[name].notna(), None).tolist() for name in X}
    for dtype in (pl.Categorical, pl.Enum([f"city {c}" for c in range(9)])):
        table = pl.DataFrame(columns).with_columns(pl.col("city").cast(dtype))
        clf = small().fit(table, Y)
        np.testing.assert_array_equal(
            clf.decision_function(table), small().fit(X, Y).decision_function(X)
        )
    with pytest.raises(ValueError, match="column 'city' holds text"):
        small().fit(pl.DataFrame(columns), Y)


class Stream:
    """A table of a library that nobody knows, which hands on Arrow data."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_frames_of_every_kind_give_one_model():
    pa = pytest.importorskip("pyarrow")
    X = frame()
    nullable = X.assign(size=X["size"].astype("Float64"), rooms=X["rooms"].astype("Int64"))
    table = pa.Table.from_pandas(X, preserve_index=False)
    arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert arrow["city"].dtype.pyarrow_dtype == table.schema.field("city").type
    scores = small().fit(X, Y).decision_function(X)
    for kind in (nullable, table, arrow, Stream(table), table.to_batches()[0]):
        clf = small().fit(kind, Y)
        assert list(clf.feature_names_in_) == list(X.columns)
        for other in (kind, X):
            np.testing.assert_array_equal(clf.decision_function(other), scores)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a"] * N, "text"),
        ([datetime.date(2020, 1, 1)] * N, "dates or times"),
        ([datetime.timedelta(1)] * N, "dates or times"),
        ([[1, 2]] * N, "lists, records or bytes"),
        ([{"a": 1}] * N, "lists, records or bytes"),
        ([b"a"] * N, "lists, records or bytes"),
    ],
)
@pytest.mark.parametrize("kind_of_frame", ["pyarrow", "polars", "pandas", "stream"])
def test_one_gate_refuses_columns_of_every_kind_of_frame(values, kind, kind_of_frame):
    table = pytest.importorskip("pyarrow").table({"size": np.arange(N), "odd": values})
    X = {
        "pyarrow": lambda: table,
        "polars": lambda: pytest.importorskip("polars").from_arrow(table),
        "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "stream": lambda: Stream(table),
    }[kind_of_frame]()
    with pytest.raises(ValueError, match=f"column 'odd' holds {kind}"):
        small().fit(X, Y)


def test_lazy_frames_are_refused():
    X = pytest.importorskip("polars").DataFrame({"size": np.arange(N)}).lazy()
    with pytest.raises(TypeError, match=r"in memory, got a lazy frame .*LazyFrame.: collect"):
        small().fit(X, Y)


def test_arrow_data_of_other_libraries_needs_pyarrow(monkeypatch):
    table = Stream(pytest.importorskip("pyarrow").table({"size": np.arange(N)}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r"Stream of Arrow data, needs pyarrow: .*cwboost\[tables"
    ):
        small().fit(table, Y)


def test_one_column_of_arrow_data_is_no_matrix():
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for column in (pa.chunked_array([np.arange(N)]), pl.Series(np.arange(N)), pd.Series(range(N))):
        with pytest.raises(ValueError, match=r"Expected (2D array|a 2-dimensional)"):
            small().fit(column, Y)


def test_unseen_categories_count_as_missing():
    X = frame()
    clf = small().fit(X, Y)
    new = X.assign(city=pd.Categorical(["elsewhere"] * N))
    lost = X.assign(city=pd.Categorical([None] * N, categories=["city 1"]))
    np.testing.assert_array_equal(clf.decision_function(new), clf.decision_function(lost))


@pytest.mark.parametrize("classifier", CLASSIFIERS[1:])
def test_the_other_classifiers(classifier):
    X = frame()
    clf = classifier(weak_learner="stump", n_estimators=12, random_state=0).fit(X, Y)
    assert clf.score(X, Y) > 0.8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True, False], "mask of 4 bools, one per column, got 2; it ends before column 'owner'"),
        (["town"], "no column 'town'; its columns are size, city, owner, rooms"),
        ([7], "places from 0 to 3, got 7"),
        ("all", "must be 'from_dtype', None, or a list"),
        ([1.5], "only bools, only ints or only names"),
        (["size", "size"], "column 'city' holds text"),
        (None, "column 'city' holds text"),
    ],
)
def test_a_wrong_parameter_is_named(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        small(categorical_features=given).fit(frame(), Y)


def test_columns_that_are_no_features_are_named():
    X = frame()
    for column, message in (
        (np.array(["a", "b", "c"] * (N // 3), dtype=object), "column 'new' holds text"),
        (pd.Categorical([1, "a", "b"] * (N // 3)), "column 'new' must hold .*got int and str"),
        (pd.Categorical([2.0**60, 1.0] * (N // 2)), r"column 'new' .*2\*\*53"),
    ):
        with pytest.raises(ValueError, match=message):
            small().fit(X.assign(new=column), Y)
    with pytest.raises(ValueError, match="column 1 holds text"):
        small().fit(np.array([["1", "a"], ["2", "b"]], dtype=object), [0, 1])


DAYS = np.arange(N // 2).repeat(2)
UNFIT = {
    "dates": (np.datetime64("2020-01-01") + DAYS, "holds dates or times"),
    "times to the second": (np.datetime64("2020-01-01", "s") + DAYS, "holds dates or times"),
    "durations": (DAYS.astype("m8[ms]"), "holds dates or times"),
    "missing times": (np.full(N, np.datetime64("NaT", "ns")), "holds dates or times"),
    "complex numbers": (DAYS * 1j, "holds complex numbers"),
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
}


def objects(values):
    table = np.empty((len(values), 2), dtype=object)
    table[:, 0] = np.arange(len(values)) / 2  # the first column is fine
    for row, value in enumerate(values):  # which keeps the type of each
        table[row, 1] = value
    return table


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


def as_polars(column):
    return pytest.importorskip("polars").DataFrame({"a": column, "b": column})


@pytest.mark.parametrize("kind", [kind for kind in UNFIT if kind != "missing times"])
def test_files_and_other_libraries_refuse_it_too(kind, tmp_path, capsys):
    column, message = UNFIT[kind]
    if kind != "complex numbers":  # polars has none
        with pytest.raises((TypeError, ValueError), match=message):
            small().fit(as_polars(column.astype(column.dtype.str.split("[")[0] + "[ms]")), Y)
    np.savez(tmp_path / "t.npz", X=np.stack([column, column], axis=1), y=Y)
    files = [tmp_path / "t.npz"]
    table = pd.DataFrame({"a": column, "b": column, "label": Y})
    if kind != "complex numbers":  # Parquet has none
        table.to_parquet(tmp_path / "t.parquet")
        files.append(tmp_path / "t.parquet")
    if column.dtype.kind == "M":  # the others are words of a CSV file
        table.to_csv(tmp_path / "t.csv", index=False)
        files.append(tmp_path / "t.csv")
    for path in files:
        assert main(["fit", str(path), str(tmp_path / "m.cwb"), "--quiet"]) not in (0, None), path
        assert re.search("dates|times|complex|must hold numbers", capsys.readouterr().err), path
        assert not (tmp_path / "m.cwb").exists()


def test_missing_times_among_categories_are_missing():
    cities = np.array(["a", "b", pd.NaT] * (N // 3), dtype=object)
    frame = pd.DataFrame({"city": cities})
    clf = small(categorical_features=["city"]).fit(frame, Y)
    assert clf.categories_[0].tolist() == ["a", "b"]


def test_a_column_that_changed_after_fit_is_named():
    X = frame()
    clf = small().fit(X, Y)
    with pytest.raises(ValueError, match="column 'city' held categories of the kind text in fit"):
        clf.predict(X.assign(city=1.5))
    with pytest.raises(ValueError, match="column 'size' holds text"):
        clf.predict(X.assign(size="large"))
    with pytest.raises(ValueError, match="column 'size' held numbers in fit, got categories"):
        clf.predict(X.assign(size=X["size"].astype("category")))
    warm = small(warm_start=True).fit(X, Y).set_params(n_estimators=14)
    with pytest.raises(ValueError, match="column 'city' must have the categories of the fitted"):
        warm.fit(X.assign(city=X["city"].cat.remove_categories("city 3")), Y)
    np.testing.assert_array_equal(
        warm.fit(X, Y).decision_function(X), small(n_estimators=14).fit(X, Y).decision_function(X)
    )


def test_families_that_know_no_categories_refuse_them_by_name():
    for weak_learner in ("projection", ["stump", "projection"]):
        with pytest.raises(ValueError, match=r"lacks a capability: .*'city'.*OneHotEncoder"):
            small(weak_learner=weak_learner).fit(frame(), Y)
    many = pd.DataFrame({"id": pd.Categorical(np.arange(2**16 + 1))})
    with pytest.raises(ValueError, match=r"column 'id' has 65537 categories, .*at most 65536"):
        small().fit(many, np.arange(2**16 + 1) % 2)
    sparse = pytest.importorskip("scipy.sparse").csr_array(np.eye(4))
    with pytest.raises(ValueError, match="categorical_features needs a dense X"):
        small(categorical_features=[0]).fit(sparse, [0, 1, 0, 1])


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
