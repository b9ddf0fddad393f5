"""Reading of files of examples: what is found out, and what is refused."""

import bz2
import datetime
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from cwboost.commands._tables.options import Trained
from cwboost.commands._tables.reading import read_table

pd = pytest.importorskip("pandas")


@pytest.fixture
def read(tmp_path):
    """Write a text file and read it."""

    def write_and_read(text, name="a.csv", stored="utf-8", **options):
        (tmp_path / name).write_bytes(text.encode(stored))
        needs_labels = options.get("label") is not None
        return read_table(tmp_path / name, needs_labels=needs_labels, **options)

    return write_and_read


AB, XY, VALUES = ["a", "b"], ["x", "y"], [[1, 2], [3, 4]]
LAST, KIND, B, C = ({"label": label} for label in ("-1", "kind", "b", "c"))
NO_LABEL = ["", "?", "NA", "na", "null", "NaN", " N/A "]
MISSING = "kind,size,weight\nx,1,2.5\ny,,nan\nx,?,-1e3\n"
NUMBERS = "1,2,a\n3,4,b\n5,6,c\n"
# A text, how it is read, and the names, features and labels that are found.
READ = [
    (MISSING, KIND, ["size", "weight"], [[1, 2.5], [None] * 2, [None, -1000]], "xyx"),
    (MISSING, {"label": "0", "drop": ["weight"]}, ["size"], [[1], [None], [None]], "xyx"),
    ("1,2,7\n3,4,-7\n", LAST, None, VALUES, [7, -7]),
    ("1,2\n3,4\n", {}, None, VALUES, None),
    (NUMBERS, LAST | {"header": True}, ["1", "2"], [[3, 4], [5, 6]], "bc"),
    (NUMBERS, LAST | {"header": False}, None, [[1, 2], [3, 4], [5, 6]], "abc"),
    *((f"a{sep}b{sep}c\n1{sep}2{sep}x\n3{sep}4{sep}y\n", LAST, AB, VALUES, XY)
      for sep in (";", "\t", "|", ",", ", ", " ,")),
    ("1,5:2:x\n3:4,25:x\n", LAST | {"sep": ":", "decimal": ","}, None, [[1.5, 2], [3, 4.25]], "xx"),
    ("1\t2\n", {"sep": "tab", "name": "a.txt"}, None, [[1, 2]], None),
    ("True,01\nfalse,10\n", LAST, None, [[1], [0]], ["01", "10"]),
    ("1,True\n2,True\n", LAST, None, [[1], [2]], ["True", "True"]),
    (",a,b,c\n0,1,2,x\n1,3,4,y\n", C, AB, VALUES, XY),
    ("Unnamed: 0,a,b,c\n7,1,2,x\n9,3,4,y\n", C, AB, VALUES, XY),
    ("länge,art\n1,é\n2,è\n", LAST | {"stored": "latin-1", "encoding": "latin-1"}, ["länge"],
     [[1], [2]], "éè"),
    ("\ufeffa,b\n1,2\n", {}, AB, [[1, 2]], None),
    ("a,b,a\n1,x,2\n3,y,4\n", B, ["a", "a.1"], VALUES, XY),
    ("a,a,a.1,a\n1,2,3,4\n", {}, ["a", "a.1", "a.1.1", "a.2"], [[1, 2, 3, 4]], None),
    ("a,b\n1,none\n2, None\n", B, ["a"], [[1], [2]], ["none", "None"]),
    (f"a,b\n{10**30},x\n-1,y\n", B, ["a"], [[1e30], [-1]], XY),
    *((f"a,b\n{gap},x\n2,y\n", B, ["a"], [[None], [2]], XY)
      for word in [*NO_LABEL, "None"] for gap in (word, f" {word}", f"{word} ")),
    *((f"a,b\n1,x\n2,{gap}\n3,y\n", LAST | {"drop_unlabelled": True}, ["a"], [[1], [3]], XY)
      for gap in NO_LABEL),
    *((f"a,b\n1,0\n2,{gap}\n3,1\n", LAST | {"drop_unlabelled": True}, ["a"], [[1], [3]], [0, 1])
      for gap in NO_LABEL),
    ('a,b\n" ",x\n" ",y\n', B, ["a"], [[None], [None]], XY),
    ("400.5,401.0\n1,2\n", {"trained": Trained(2, ["401.0", "400.5"])}, ["401.0", "400.5"],
     [[2, 1]], None),
    ("400.5,401.0\n1,2\n", {"trained": Trained(2)}, None, [[400.5, 401], [1, 2]], None),
    ("a,b\n1,2\n", {"name": "A.CSV"}, AB, [[1, 2]], None),
    (f"a,b\n1,{'y' * 2**21}\n", {"drop": ["b"]}, ["a"], [[1]], None),
]  # fmt: skip


@pytest.mark.parametrize("text, options, names, X, y", READ)
def test_what_is_read(text, options, names, X, y, read):
    """Labels stay as they are written; truth values are numbers."""
    table = read(text, **options)
    assert table.names == names
    np.testing.assert_array_equal(np.asarray(table.X, dtype=float), np.array(X, dtype=float))
    assert (None if table.y is None else table.y.tolist()) == (y and list(y))
    notes = "; ".join(table.notes)
    assert ("is left out as an index" in notes) == text.startswith((",", "Unnamed"))
    assert ("repeated names are numbered" in notes) == ("a.1" in (names or ()))


HEADERS = {
    "numbers, and a label that occurs again": ("3,1,a\n.5,1,a\n.1,2,b\n", False),
    "numbers alone": ("3,1,2,1\n.5,1,2,0\n.1,2,3,1\n", False),
    "missing values": (",?,1,a\n.5,1,2,b\n.1,2,3,a\n", False),
    "words alone": ("size,kind\nbig,a\nsmall,b\n", True),
    "words that occur again": ("red,big,a\nblue,small,b\nred,small,a\n", False),
    "numbers and a name of numbers": ("7,1,label\n.5,1,0\n.1,2,1\n", True),
    "numbered features after an index": (",0,1,2,species\n0,.5,1,2,a\n1,.1,2,3,b\n", True),
    "the label is numbered as well": ("0,1,2,3\n.5,1,2,0\n.1,2,3,1\n", True),
    "wavelengths": ("400.5,401.0,class\n.5,1,a\n.1,2,b\n", True),
}


@pytest.mark.parametrize("case", HEADERS)
def test_header_lines_are_found(case, read):
    text, header = HEADERS[case]
    table = read(text, label="-1")
    assert len(table.X) == text.count("\n") - header and bool(table.names) == header
    assert any(("as header" if header else "no header") in note for note in table.notes)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="the system has no /dev/fd")
def test_pipes_and_the_standard_input_hold_text():
    standard_input = os.dup(0)
    try:
        for path in ("/dev/fd/{}", "-", "/dev/stdin"):
            reader, writer = os.pipe()
            os.write(writer, b"a,b\n1,x\n")
            os.close(writer)
            os.dup2(reader, 0)
            assert read_table(path.format(reader), label="b").names == ["a"]
            os.close(reader)
    finally:
        os.dup2(standard_input, 0)
        os.close(standard_input)


@pytest.mark.parametrize("module, name", [(gzip, "b.tsv.gz"), (bz2, "b.txt.bz2")])
def test_compressed_text(module, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(module.compress(b"p\tq\n1\t0\n0\t1\n"))
    assert np.array_equal(read_table(path).X, np.eye(2))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=f"{name} must be text"):
        read_table(path)


LONG, SHOWN = "z" * 5000, r"'z{47}\.\.\.z{48}'"
MANY = ",".join(f"n{k}" for k in range(98))
DATES = r"a\.csv, column 'a' must hold numbers or words, got words such as '{}' \(--dates a makes"
ERRORS = [
    ("", {}, "a.csv must be text in utf-8 with ',' between .*Empty"),
    ("a,b\n", {}, "a.csv must have examples, got a header line"),
    ("a,b\n1,x\n2,\n3,y\n", LAST, r"row 3, column 'b' must have a label, got none \(1 of 3"),
    ("1,2\n3\n4,5\n", {}, r"Row #2: Expected 2 columns, got 1: 3 \(--encoding and --sep set"),
    ("1,2\n3,4,5\n", {}, "Row #2: Expected 2 columns, got 3"),
    ('a,b\n1,x\n2,"y\n3,x\n', B, "got a quotation mark without its second"),
    ("1,2\n\n3,red\n", {"label": "0"}, "row 2, column 1 must hold numbers, as in .* got 'red'"),
    ("a,b\n1_000,x\n3,y\n", B, "row 2, column 'a' must hold numbers, .* got '1_000'"),
    ("a,b\n1,x\n\u0663,y\n", B, "row 3, column 'a' must hold numbers, .* got '\u0663'"),
    ("a;b\n3;x\n35,000;y\n", B, "row 3, column 'a' must hold numbers, .* got '35,000'"),
    ("a;b\n-1,5;x\n-2,5;y\n", B, r"got '-1,5' \(--decimal sets"),
    ("a;b\n1,5;x\n1.200;y\n", B | {"decimal": ","}, "row 3, column 'a' .* got '1.200'"),
    ("a,b\ntrue,x\n3,y\n", B, "column 'a' must hold numbers, .* got 'true'"),
    (f"a,{LONG}\n3,4\n5,z{LONG}\n", {"label": "a"}, f"column {SHOWN} must .* got {SHOWN}"),
    *((f"a,b\n{date},x\n?,y\n", B, DATES.format(date)) for date in (
        "2026-01-31", "31.1.2026 9:30", "1/31/26", "Jan 5 2024", "5-Mar-24", "9:30")),
    ("a,b\n3,1\n", C, r"--label must be .* got 'c'; its columns are \['a', 'b'\]"),
    (f"a,{LONG},{MANY}\n{'3,' * 99}3\n", B, rf"columns are \['a', {SHOWN}, .* and 50 more\]"),
    ("3,1\n", LAST | {"drop": ["c"]}, "got 'c'; it has no header line"),
    ("3,1\n", {"label": "2"}, r"--label must be a name or in -2\.\.1, got '2'"),
    ("a,b\n1,2\n", {"drop": ["z"]}, "--drop must be a name or in .*, got 'z'"),
    ("x\ny\nx\n", {"label": "0"}, "must have 1 feature or more, got 0 .*--sep sets the separator"),
    *(("1,2,3\n", LAST | left_out, "column 2 must not be left out: it is the label")
      for left_out in ({"drop": ["2"]}, {"groups": "2"}, {"time": "2"})),
    ("a,a_hour,b\n1,2,3\n", B | {"dates": ["a"]}, r"must make new names for .*, got \['a_hour'\]"),
    ("1,2\n", LAST | {"dates": ["0"]}, "must have a header line for --dates"),
    ("a,b\n1,2\n", LAST | {"dates": ["b"]}, "'b' must be a feature for --dates, got one"),
    ("a\n", {"sep": "ab"}, "--sep must be one character"),
    ("a\n", {"encoding": "klingon"}, r"in klingon, got unknown encoding: klingon \(--enc"),
    *(("é\n", {"stored": stored}, r"must be text in utf-8 .*\(--encoding")
      for stored in ("latin-1", "utf-16")),
]  # fmt: skip


@pytest.mark.parametrize("text, options, message", ERRORS)
def test_what_is_refused(text, options, message, read):
    with pytest.raises(ValueError, match=message):
        read(text, **options)


@pytest.mark.parametrize(
    "amount",
    ["$1,200", "12%", "1 200.50", "€ 5", "-3 EUR", "(1'000)", "A$5", "5 kg", "CHF 5", "7\xa0000"],
)
def test_amounts_that_become_categories_are_named(amount, read):
    with pytest.warns(UserWarning, match=r"column 'a' is read as categories .* write amounts as"):
        table = read(f"a;b\n{amount};x\n{amount};y\n", label="b")
    assert list(table.categories) == [0]


TIMES = {
    "numbers": ["10.5", "9.5", "10"],
    "with a comma": ["10,5", "9,5", "10"],
    "days first": ["01.02.2026", "31.12.2025", "31.01.2026"],
    "years first": ["2026-02-01", "2025-12-31", "2026-01-31"],
}


@pytest.mark.parametrize("dtype", [None, "category"])
@pytest.mark.parametrize("kind", TIMES)
def test_rows_are_in_the_order_of_time(kind, dtype, tmp_path):
    table = pd.DataFrame({"t": TIMES[kind], "a": [1, 2, 3], "b": list("xyz")})
    options = {"label": "b", "time": "t", "decimal": "," if "comma" in kind else "."}
    table.to_csv(tmp_path / "a.csv", index=False)
    table.astype({"t": dtype or str}).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        assert read_table(tmp_path / name, **options).y.tolist() == ["y", "z", "x"]


@pytest.mark.parametrize(
    "dates", ["13/02/2026 05/02/2026", "26-01-31 26-01-01", "01.31.26 02.05.26"]
)
def test_the_order_of_day_and_month_does_not_depend_on_other_rows(dates, read):
    first, second = dates.split()
    with pytest.raises(ValueError, match=f"row 2, column 'when' must hold dates .*'{first}'"):
        read(f"when;y\n{first};0\n{second};1\n", label="y", dates=["when"])


@pytest.mark.parametrize("write", [pd.DataFrame.to_csv, pd.DataFrame.to_parquet])
def test_numbers_are_dates_if_they_have_the_digits_of_one(write, tmp_path):
    path = tmp_path / ("a.csv" if write is pd.DataFrame.to_csv else "a.parquet")
    write(pd.DataFrame({"day": [20260131, 20251231], "b": ["x", "y"]}), path, index=False)
    table = read_table(path, label="b", dates=["day"])
    assert table.X["day_year"].tolist() == [2026, 2025]
    write(pd.DataFrame({"day": [1.5, 2.5], "b": ["x", "y"]}), path, index=False)
    with pytest.raises(ValueError, match="column 'day' must hold dates of one form"):
        read_table(path, label="b", dates=["day"])


@pytest.mark.parametrize(
    "dates",
    [
        ["2026-01-31", "2026-02-01T06:30", "NA "],
        ["31.01.2026", "01.02.2026", ""],
        ["Jan 31, 2026", "Feb 1, 2026", "?"],
    ],
)
def test_dates_become_numbers(dates, read):
    rows = "".join(f"{date};{at}\n" for at, date in enumerate(dates))
    table = read(f"when;y\n{rows}", label="y", dates=["when"])
    parts = ["year", "month", "weekday", "hour", "total_seconds"]
    assert table.names == [f"when_{part}" for part in parts]
    start = datetime.datetime(2026, 1, 31, tzinfo=datetime.timezone.utc).timestamp()
    wanted = np.array([[2026, 1, 5, 0, start], [2026, 2, 6, 0, start + 86400], [np.nan] * 5])
    if "T" in dates[1]:
        wanted[1, 3:] += 6, 6.5 * 3600
    np.testing.assert_array_equal(table.X.to_numpy(dtype=float), wanted)
    # A model with such features needs the column, and no option; all of them, not one of that name.
    with pytest.raises(ValueError, match=r"lacks \['when_year'\]"):
        read(f"when;z\n{rows}", trained=Trained(1, ["when_year"]))
    other = read(f"when;z\n{rows}", trained=Trained(5, table.names))
    np.testing.assert_array_equal(other.X.to_numpy(dtype=float), wanted)
    for odd in ("9:30", "soon"):
        with pytest.raises(ValueError, match=rf"row 2, column 'when' must hold dates.*'{odd}'"):
            read(f"when;y\n{odd};0\n2026-01-01;1\n", label="y", dates=["when"])


def test_npz(tmp_path):
    path, X, y = tmp_path / "a.npz", np.eye(3), np.array(["a", "b", "c"])
    np.savez(path, X_train=X, y_train=y, X_test=X[:1], y_test=y[:1])
    assert read_table(path).y.tolist() == ["a", "b", "c"]
    assert read_table(path, part="test").y.tolist() == ["a"]
    columns = {"drop": ["0"]}, {"dates": ["0"]}, {"groups": "0"}, {"time": "0"}
    for option in (*columns, {"drop_unlabelled": True}):
        with pytest.raises(ValueError, match="must be a table of named columns for --"):
            read_table(path, **option)
    for arrays, message in (
        ({"X": X[0], "y": y}, r"must have a matrix X of numbers, got shape \(3,\)"),
        ({"X": X[:0], "y": y[:0]}, r"must have a matrix X .* got shape \(0, 3\)"),
        ({"X": X, "y": np.full(3, 2**31, ">u4").view(">U1")}, "must be an NPZ file of numbers"),
        ({"X": X, "y": y[:2]}, r"must have .* in y per row of X \(3\), got shape \(2,\)"),
        ({"X": X, "y": y.astype(object)}, "must be an NPZ file of numbers and text"),
        ({"X": X, "y": np.zeros(3, "M8[s]")}, "must have a number or text in y"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=rf"a\.npz {message}"):
            read_table(path)


def patched(at, value):
    """Replace two bytes after the first entry of a ZIP file's directory begins."""

    def patch(data):
        start = data.index(b"PK\1\2") + at
        return data[:start] + value.to_bytes(2, "little") + data[start + 2 :]

    return patch


DAMAGE = {
    "cut": lambda data: data[:-30],
    "prefix": lambda data: b"." + data,  # zipfile finds the archive all the same
    "encrypted": patched(8, 1),
    "compression": patched(10, 99),
    "offset": patched(44, 0xFFFF),  # begins before the file
    "header": lambda data: data.replace(b"{'descr'", b"{{{{{{{{"),
    "shape": lambda data: data.replace(b"(3, 3)", b"(3**2)"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_npz_file(tmp_path, damage):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(3))
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.raises(ValueError, match=r"a\.npz must be an NPZ file"):
        read_table(path)


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"

    def write(index=None, **columns):
        pd.DataFrame(columns, index).to_parquet(path)

    write(size=[1, None, 3], wide=[True, False, True], kind=["x", "y", "x"])
    table = read_table(path, label="kind")
    assert table.names == ["size", "wide"] and table.y.tolist() == ["x", "y", "x"]
    assert np.array_equal(table.X.astype(float), [[1, 1], [np.nan, 0], [3, 1]], equal_nan=True)
    with pytest.raises(
        ValueError, match=r"a\.parquet, column 'kind' must hold numbers or words, g"
    ):
        read_table(path, trained=Trained(3))
    table = read_table(path, label="size", drop_unlabelled=True)
    assert list(table.categories) == [1] and table.X.values.tolist() == [[True, "x"]] * 2
    write(size=[1, 2, 3], kind=[7, None, 8])
    assert read_table(path, label="kind", drop_unlabelled=True).y.tolist() == [7, 8]
    assert read_table(path, label="kind", drop_unlabelled=True).y.dtype == np.int64
    write(size=[1, 2, 3], kind=["x", None, "z"], __index_level_0__=[4, 5, 6])
    with pytest.raises(ValueError, match="row 2, column 'kind' must have a label"):
        read_table(path, label="kind", needs_labels=True)
    table = read_table(path, label="kind", drop_unlabelled=True)
    assert table.X.values.tolist() == [[1], [3]] and table.y.tolist() == ["x", "z"]
    for odd, got in ((datetime.date(2026, 1, 31), "date"), (datetime.timedelta(1), "timedelta")):
        write(day=[odd], kind=["x"])
        with pytest.raises(ValueError, match=f"'day' must hold numbers or words, got {got}"):
            read_table(path, label="kind")
    write(day=[datetime.date(2026, 1, 31), None], kind=["x", "y"])
    assert read_table(path, label="kind", dates=["day"]).X["day_year"].tolist()[0] == 2026
    path.write_text("no")
    with pytest.raises(ValueError, match="must be a Parquet file"):
        read_table(path)


@pytest.mark.parametrize("index", ["size", "kind", None])
def test_an_index_with_a_name_is_a_column_in_every_file(index, tmp_path):
    frame = pd.DataFrame({"size": [3, 1, 2], "sky": ["a", "b", "a"], "kind": ["x", "y", "x"]})
    frame = frame.sample(frac=1, random_state=0) if index is None else frame.set_index(index)
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    text, table = (read_table(tmp_path / f"a.{end}", label="kind") for end in ("csv", "parquet"))
    assert text.names == table.names == ["size", "sky"]
    assert text.y.tolist() == table.y.tolist()
    assert text.X.astype(str).equals(table.X.astype(str))
    assert (f"index '{index}' read as a column" in table.notes) == (index is not None)


@pytest.mark.parametrize(
    "name, package", [("a.csv", "pandas"), ("a.csv", "pyarrow"), ("a.parquet", "pyarrow")]
)
def test_files_without_the_extra(name, package, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ImportError, match="pip install pandas pyarrow"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("label", [None, "-1"])
def test_a_row_of_categories_is_no_header_line(label, read):
    known = {0: np.array(["red", "blue"]), 1: np.array(["big"])}
    rows = "red,big,x\nblue,big,y\n" if label else "red,big\nblue,big\n"
    for first in ("", "colour,size,kind\n" if label else "colour,size\n"):
        table = read(first + rows, label=label, trained=Trained(2, None, known))
        assert len(table.X) == 2 and table.names is None  # as the model has none
        assert ("no header line" in str(table.notes)) == (first == "")


def test_categories_are_read_as_the_model_has_them(read):
    text = "town,sky,y\n12,a,1\n?,b,2\n14,a,3\n"
    known = {0: np.array(["a", "b"]), 1: np.array(["12", "13"])}
    table = read(text, label="y", trained=Trained(2, ["sky", "town"], known))
    assert table.X["town"].tolist()[::2] == ["12", "14"] and table.X["town"].isna()[1]
    assert "categories in column 'sky' (2), column 'town' (2)" in table.notes
    assert list(read(text, label="y").categories) == [1]
