"""Labels keep their type and identity, in every container and on every road."""

import numpy as np
import pytest

from cwboost import CWBoostClassifier, load_model
from cwboost.input.labels import encode_labels, read_labels

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

AT = np.random.default_rng(0).permutation(np.repeat(np.arange(3), 30))
X = np.random.default_rng(1).normal(size=(90, 2)) + AT[:, None]

LABELS = {
    "bools": [False, True, True],
    "integers": [0, 1, 2],
    "identifiers": [5, 2**60, 2**60 + 1],
    "unsigned": [5, 2**63, 2**63 + 1],
    "text": ["a", "b", "longer"],
}
NULLABLE = {"bools": "boolean", "integers": "Int64", "identifiers": "Int64", "unsigned": "UInt64"}
ARRAYS = {"text": np.dtypes.StringDType(), "unsigned": np.uint64}


def objects(labels):
    return np.array(labels, dtype=object)


# What makes a container of a list of labels of some kind.
CONTAINERS = {
    "list": lambda labels, kind: labels,
    "tuple": lambda labels, kind: tuple(labels),
    "array": lambda labels, kind: np.array(labels, ARRAYS.get(kind)),
    "array of objects": lambda labels, kind: objects(labels),
    "column of objects": lambda labels, kind: pd.Series(objects(labels)),
    "index": lambda labels, kind: pd.Index(labels),
    "frame of one column": lambda labels, kind: pd.DataFrame({"y": labels}),
    "nullable": lambda labels, kind: pd.Series(labels, dtype=NULLABLE.get(kind, "string")),
    "nullable array": lambda labels, kind: pd.array(labels, dtype=NULLABLE.get(kind, "string")),
    "categories of pandas": lambda labels, kind: pd.Series(pd.Categorical(labels)),
    "Arrow in pandas": lambda labels, kind: pd.Series(
        labels, dtype=pd.ArrowDtype(arrow(labels).type)
    ),
    "Arrow": lambda labels, kind: arrow(labels),
    "chunks of Arrow": lambda labels, kind: pa.chunked_array(
        [arrow(labels)[:9], arrow(labels)[9:]]
    ),
    "dictionary of Arrow": lambda labels, kind: arrow(labels).dictionary_encode(),
    "polars": lambda labels, kind: pl.Series(
        labels, dtype=pl.UInt64 if kind == "unsigned" else None
    ),
}


def arrow(labels):
    return pa.array(labels, type=pa.uint64() if 2**63 in labels else None)


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_as_they_were_given(kind, container, tmp_path):
    classes = sorted(set(LABELS[kind]))
    given = [LABELS[kind][at] for at in AT]
    y = CONTAINERS[container](given, kind)
    clf = CWBoostClassifier("stump", n_estimators=6, random_state=0).fit(X, y, X_val=X, y_val=y)
    clf.save(tmp_path / "model.cwb")
    for model in (clf, load_model(tmp_path / "model.cwb")):
        for found, expected in ((model.classes_, classes), (model.predict(X), given)):
            assert {type(label) for label in found.tolist()} == {type(classes[0])}
            assert np.mean([a == b for a, b in zip(found.tolist(), expected, strict=True)]) > 0.7
        assert model.classes_.tolist() == classes
    assert clf.score(X, y) > 0.7 and clf.calibrate(X, y).class_columns(classes[-1]) is not None


WITH_GAPS = [
    np.ma.array([1, 0, 1], mask=[False, True, False]),
    pd.Series([1, None, 0], dtype="Int64"),
    pd.Series([True, None, False], dtype="boolean"),
    pd.Categorical(["a", None, "b"]),
    pl.Series(["a", None, "b"]),
    pa.array([True, None, False]),
    pa.DictionaryArray.from_arrays([0, 1, 2], ["a", None, "b"]),
    [1.0, np.inf, 0.0],
]
for gap in (None, np.nan, pd.NA, pd.NaT, np.float32("nan")):
    WITH_GAPS += [["a", gap, "b"], objects([1, gap, 0])]


@pytest.mark.parametrize(
    "y, match",
    [
        *((y, r"^y must hold class labels, got .* for example 1$") for y in WITH_GAPS),
        ([1.5, 2.5], "y must hold class labels. "),
        (objects([1, True, 0]), "y must hold labels of one type, got bool and int"),
        (["a", 1], "y must hold labels of one type, got int and str"),
        ([2**64, 1], "y must hold integers of at most 64 bits, got larger"),
        ([2**63, -1], "y must hold integers of at most 64 bits, got larger"),
        (objects([2**60 + 1, 0.0]), "y must hold labels of one type, got float and int"),
        ([b"a", b"b"], "y must hold class labels, which are .*, got objects of the type bytes"),
        (np.array(["2026-01-31"], "M8[D]"), r"y must hold class .*, got datetime64\[D\]"),
    ],
    ids=str,
)
def test_what_is_no_label_is_an_error_of_y(y, match):
    with pytest.raises(ValueError, match=match):
        read_labels(y)


@pytest.mark.parametrize(
    "classes, y",
    [
        ([0, 1], [2]),
        ([2**60, 2**60 + 1], [2**60 + 2]),
        ([0, 1], ["a"]),
        (["a", "b"], [0]),
        (["a", "b"], ["ab"]),
        ([False, True], [2]),
        ([2**63, 2**63 + 1], [-1]),
    ],
    ids=str,
)
def test_unknown_labels_are_named(classes, y):
    with pytest.raises(ValueError, match=r"^y_val must hold only training labels, got "):
        encode_labels(y, read_labels(classes), "y_val")


@pytest.mark.parametrize("dtype", [float, "uint8", object, "Int64"])
def test_equal_labels_of_another_type_are_known(dtype):
    y = pd.Series([1, 0, 1]).astype(dtype)
    assert encode_labels(y, np.array([0, 1])).tolist() == [1, 0, 1]
