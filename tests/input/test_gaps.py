"""A gap is a gap, in every spelling and container; what holds no numbers is refused by name."""

from decimal import Decimal

import numpy as np
import pytest
from models import paper
from scipy import sparse

from cwboost import CWBoostClassifier, get_family
from cwboost.input.schema import InputSchema, read_columns

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 3
NUMBERS = (RNG.normal(size=N).round(2) + Y).tolist()
INTEGERS = [int(number) for number in np.floor(NUMBERS)]
BOOLS = [number > 1 for number in NUMBERS]
WORDS = [f"word {y}" if u < 0.8 else "other" for y, u in zip(Y, RNG.random(N))]
AT = RNG.random(N) < 0.3
COLUMNS = {"numbers": NUMBERS, "integers": INTEGERS, "bools": BOOLS, "words": WORDS}
GAPS = {
    "None": None,
    "NaN": np.nan,
    "NaN of float32": np.float32("nan"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "NaT of NumPy": np.datetime64("NaT"),
    "NaN of decimals": Decimal("NaN"),
}
NULLABLE = {"numbers": "Float64", "integers": "Int64", "bools": "boolean", "words": "string"}


def gapped(values, gap):
    """Return an array of objects with gaps."""
    found = np.empty(N, dtype=object)
    found[:] = [gap if at else value for at, value in zip(AT, values)]
    return found


def arrow(values):
    return pa.array(gapped(values, None))


def dictionary(values):
    """Return a dictionary of Arrow whose gap is one of its values."""
    known = sorted(set(values))
    codes = [len(known) if at else known.index(value) for at, value in zip(AT, values)]
    return pa.DictionaryArray.from_arrays(codes, [*known, None])


def masked(kind):
    values = np.array([*zip(COLUMNS[kind], INTEGERS)], dtype=np.float64)
    return np.ma.array(values, mask=np.column_stack([AT, np.zeros(N, dtype=bool)]))


def frame(column):
    return pd.DataFrame({"a": column, "whole": INTEGERS})


# What holds the column of a kind, with gaps, beside one without.
CONTAINERS = {
    **{
        f"{name} among objects": lambda kind, gap=gap: frame(gapped(COLUMNS[kind], gap))
        for name, gap in GAPS.items()
    },
    **{
        f"{name} in an array": lambda kind, gap=gap: frame(gapped(COLUMNS[kind], gap)).to_numpy()
        for name, gap in GAPS.items()
    },
    "nullable": lambda kind: frame(pd.Series(gapped(COLUMNS[kind], None), dtype=NULLABLE[kind])),
    "Arrow in pandas": lambda kind: frame(
        pd.Series(arrow(COLUMNS[kind]), dtype=pd.ArrowDtype(arrow(COLUMNS[kind]).type))
    ),
    "Arrow": lambda kind: pa.table({"a": arrow(COLUMNS[kind]), "whole": INTEGERS}),
    "polars": lambda kind: pl.DataFrame(
        {"a": gapped(COLUMNS[kind], None).tolist(), "whole": INTEGERS}
    ),
    "masked": masked,
    "sparse column": lambda kind: frame(pd.arrays.SparseArray(floats(kind))),
    "sparse frame": lambda kind: frame(floats(kind)).astype(pd.SparseDtype(float)),
    "zeros left out": lambda kind: frame(floats(kind)).astype(pd.SparseDtype(float, 0.0)),
    "decimals": lambda kind: pa.table(
        {"a": pa.array([None if at else Decimal(str(v)) for at, v in zip(AT, COLUMNS[kind])]),
         "whole": INTEGERS}
    ),
}  # fmt: skip
CATEGORIES = {
    **{f"{name} among objects": CONTAINERS[f"{name} among objects"] for name in GAPS},
    **{f"{name} in an array": CONTAINERS[f"{name} in an array"] for name in GAPS},
    **{name: CONTAINERS[name] for name in ("nullable", "Arrow in pandas", "Arrow", "polars")},
    "categories of pandas": lambda kind: frame(pd.Categorical(gapped(COLUMNS[kind], None))),
    "dictionary": lambda kind: pa.table(
        {"a": arrow(COLUMNS[kind]).dictionary_encode(), "whole": INTEGERS}
    ),
    "null in a dictionary": lambda kind: pa.table(
        {"a": dictionary(COLUMNS[kind]), "whole": INTEGERS}
    ),
    "null in a dictionary in pandas": lambda kind: pa.table(
        {"a": dictionary(COLUMNS[kind]), "whole": INTEGERS}
    ).to_pandas(types_mapper=pd.ArrowDtype),
}


def floats(kind):
    return np.where(AT, np.nan, np.array(COLUMNS[kind], dtype=np.float64))


def matrix(X, categorical_features="from_dtype"):
    """Return the matrix of numbers that weak learners read."""
    schema = InputSchema.learn(read_columns(X), None, get_family("stump")(), categorical_features)
    return schema.encode(X, CWBoostClassifier)


CASES = [
    (kind, name)
    for name in CONTAINERS
    for kind in ("numbers", "integers", "bools")
    if (name, kind) != ("decimals", "bools")
]


ERRORS = TypeError, ValueError  # of objects, as scikit-learn wants it, and of other dtypes


@pytest.mark.parametrize("kind, name", CASES, ids=str)
def test_numbers_with_gaps_are_one_matrix(kind, name):
    expected = np.column_stack([floats(kind), INTEGERS])
    found = matrix(CONTAINERS[name](kind))
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["integers", "bools", "words"])
def test_masked_categories_keep_their_kind(kind):
    values = np.array(COLUMNS[kind])[:, None]
    given = np.ma.array(values, mask=AT[:, None])
    schema = InputSchema.learn(read_columns(given), None, get_family("stump")(), [0])
    expected = InputSchema.learn(values[~AT], None, get_family("stump")(), [0])
    np.testing.assert_array_equal(schema.categories[0], expected.categories[0], strict=True)
    found = expected.encode(values, CWBoostClassifier)
    found[AT] = np.nan
    np.testing.assert_array_equal(schema.encode(given, CWBoostClassifier), found)


@pytest.mark.parametrize("kind", ["integers", "bools", "words"])
@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_with_gaps_are_one_matrix(kind, name):
    expected = matrix(frame(pd.Categorical(gapped(COLUMNS[kind], None))))
    assert np.isnan(expected[:, 0]).sum() == AT.sum()
    np.testing.assert_array_equal(matrix(CATEGORIES[name](kind), [0]), expected)


ODD = {
    "bytes": [b"a"] * N,
    "lists": [[1, 2]] * N,
    "arrays": [np.zeros(2)] * N,
    "records": [{"a": 1}] * N,
    "sets": [{1}] * N,
    "intervals": list(pd.interval_range(0, N)),
    "anything": [object()] * N,
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "with gaps"])
@pytest.mark.parametrize("kind", ODD)
def test_what_holds_no_numbers_is_refused_by_name(kind, gaps):
    values = np.empty(N, dtype=object)
    values[:] = ODD[kind]
    values[0] = None if gaps else values[0]
    given = {
        "column 't'": pd.DataFrame({"whole": INTEGERS, "t": values}),
        "column 1": np.column_stack([np.array(INTEGERS, dtype=object), values]),
    }
    for name, X in given.items():
        with pytest.raises(ERRORS, match=f"^X must hold numbers or categories, got .* {name}"):
            paper().fit(X, Y)
        clf = paper(n_estimators=1).fit(np.ones((N, 2)) * Y[:, None], Y)
        with pytest.raises(ERRORS, match=f"^X must hold numbers or categories, got .* {name}"):
            clf.predict(X)


@pytest.mark.parametrize(
    "column",
    [
        lambda: pl.Series("t", [object()] * N, dtype=pl.Object),
        lambda: pd.Series(pd.interval_range(0, N)),
        lambda: pd.Series(pd.period_range("2020", periods=N, freq="D")),
        lambda: pa.array([(1, 2, 3)] * N, pa.month_day_nano_interval()),
        lambda: pa.array([[1, 2]] * N),
        lambda: pa.array([{"a": 1}] * N),
        lambda: pl.Series("t", [b"a"] * N),
    ],
    ids=["objects", "intervals", "periods", "intervals of Arrow", "lists", "records", "bytes"],
)
def test_dtypes_without_numbers_are_refused_by_name(column):
    column = column()
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    X = make[type(column).__module__.partition(".")[0]]({"t": column})
    with pytest.raises(ERRORS, match=r"^X must hold numbers or categories, got .*column 't'"):
        paper().fit(X, Y)


EMPTY = {
    "pandas": lambda n: pd.DataFrame(index=range(n)),
    "pandas, no rows": lambda n: pd.DataFrame({"a": [], "b": []}, dtype=object),
    "polars": lambda n: pl.DataFrame(),
    "polars, no rows": lambda n: pl.DataFrame({"a": [], "b": []}),
    "Arrow": lambda n: pa.table({}),
    "Arrow, no rows": lambda n: pa.table({"a": [], "b": []}),
    "array": lambda n: np.empty((n, 0)),
    "array, no rows": lambda n: np.empty((0, 2)),
}


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", EMPTY)
def test_what_is_empty_is_an_error_of_X(name):
    X = EMPTY[name](N)
    clf = paper(n_estimators=1).fit(np.ones((N, 2)) * Y[:, None], Y)
    for use in [lambda: paper().fit(X, Y), lambda: clf.predict(X)][: 1 + (X.shape[1] > 0)]:
        with pytest.raises(ValueError, match=r"^X must have rows and columns, got 0 "):
            use()


@pytest.mark.parametrize("place", [0, 1])
def test_a_number_that_is_a_place_and_another_name_is_refused(place):
    X = pd.DataFrame({1: INTEGERS, 0: NUMBERS, 2: NUMBERS})
    with pytest.raises(ValueError, match="either the place of a column or a name"):
        paper(categorical_features=[place]).fit(X, Y)
    assert list(paper(categorical_features=[2]).fit(X, Y).categories_) == [2]
