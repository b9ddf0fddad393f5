"""Reading of files of examples: what is found out, what is refused and in which words."""

import datetime
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from cwboost.commands._tables.reading import read_table


@pytest.fixture
def read(tmp_path):
    """Write a text file and read it."""

    def write_and_read(text, name="a.csv", stored="utf-8", **options):
        (tmp_path / name).write_bytes(text.encode(stored))
        needs_labels = options.pop("needs_labels", options.get("label") is not None)
        return read_table(tmp_path / name, needs_labels=needs_labels, **options)

    return write_and_read


ABC, XY = ["a", "b"], ["x", "y"]
MISSING = "kind,size,weight\nx,1,2.5\ny,,nan\nx,?,-1e3\n"
NUMBERS = "1,2,a\n3,4,b\n5,6,c\n"
INDEX = "column 0 has no name and is left out as an index"
# A text, how it is read, and the names, features and labels that are found.
READ = [
    (MISSING, {"label": "kind"}, ["size", "weight"], [[1, 2.5], [None] * 2, [None, -1000]], "xyx"),
    (MISSING, {"label": "0"}, ["size", "weight"], [[1, 2.5], [None] * 2, [None, -1000]], "xyx"),
    (MISSING, {"label": "kind", "drop": ["weight"]}, ["size"], [[1], [None], [None]], "xyx"),
    ("1,2,7\n3,4,-7\n", {"label": "-1"}, None, [[1, 2], [3, 4]], [7, -7]),
    ("1,2\n3,4\n", {}, None, [[1, 2], [3, 4]], None),
    (NUMBERS, {"label": "-1", "header": True}, ["1", "2"], [[3, 4], [5, 6]], "bc"),
    (NUMBERS, {"label": "-1", "header": False}, None, [[1, 2], [3, 4], [5, 6]], "abc"),
    ("a;b;c\n1;2;x\n3;4;y\n", {"label": "-1"}, ABC, [[1, 2], [3, 4]], XY),
    ("a\tb\tc\n1\t2\tx\n3\t4\ty\n", {"label": "-1"}, ABC, [[1, 2], [3, 4]], XY),
    ("a|b|c\n1|2|x\n3|4|y\n", {"label": "-1", "name": "a.txt"}, ABC, [[1, 2], [3, 4]], XY),
    ("a\tb\n1\t2\n", {"name": "a.tsv"}, ABC, [[1, 2]], None),
    ("a, b, c\n1, 2, x\n3, 4, y\n", {"label": "-1"}, ABC, [[1, 2], [3, 4]], XY),
    ("1,5:2:x\n3:4,25:y\n", {"sep": ":", "decimal": ",", "label": "-1"}, None,
     [[1.5, 2], [3, 4.25]], XY),
    ("1\t2\n", {"sep": "tab"}, None, [[1, 2]], None),
    ("True,01\nfalse,10\n", {"label": "-1"}, None, [[1], [0]], ["01", "10"]),
    ("1,True\n2,False\n", {"label": "-1"}, None, [[1], [2]], ["True", "False"]),
    (",a,b,c\n0,1,2,x\n1,3,4,y\n", {"label": "c", "note": INDEX}, ABC, [[1, 2], [3, 4]], XY),
    ("Unnamed: 0,a,b,c\n7,1,2,x\n9,3,4,y\n", {"label": "c", "note": INDEX}, ABC,
     [[1, 2], [3, 4]], XY),
    ("a,b,c\nfirst,1,2,x\nsecond,3,4,y\n", {"label": "c", "note": INDEX}, ABC,
     [[1, 2], [3, 4]], XY),  # as R writes it
    ("länge,art\n1,é\n2,è\n", {"stored": "latin-1", "encoding": "latin-1", "label": "-1"},
     ["länge"], [[1], [2]], ["é", "è"]),
    ("\ufeffa,b\n1,2\n", {}, ABC, [[1, 2]], None),
    ("a,b\n1,x\n2,\n3,y\n", {"label": "-1", "drop_unlabelled": True}, ["a"], [[1], [3]], XY),
]  # fmt: skip


@pytest.mark.parametrize("text, options, names, X, y", READ)
def test_what_is_read(text, options, names, X, y, read):
    """Labels stay as they are written; truth values are numbers."""
    note = options.get("note")
    table = read(text, **{name: value for name, value in options.items() if name != "note"})
    assert table.names == names
    np.testing.assert_array_equal(np.asarray(table.X, dtype=float), np.array(X, dtype=float))
    assert (None if table.y is None else table.y.tolist()) == (y and list(y))
    assert note is None or note in table.notes


HEADERS = {
    "numbered features and a label's name": ("0,1,2,label\n.5,1,2,a\n.1,2,3,b\n", True),
    "the same with numbers as labels": ("0,1,2,kind\n.5,1,2,4\n.1,2,3,5\n", True),
    "an index in front": (",0,1,2,species\n0,.5,1,2,a\n1,.1,2,3,b\n", True),
    "wavelengths": ("400.5,401.0,class\n.5,1,a\n.1,2,b\n", True),
    "the label is numbered as well": ("0,1,2,3\n.5,1,2,0\n.1,2,3,1\n", True),
    "one name is enough": ("a,2,3,label\n.5,1,2,x\n.1,2,3,y\n", True),
    "numbers, and a label that occurs again": ("0,1,2,a\n.5,1,2,a\n.1,2,3,b\n", False),
    "measurements, and a class of one example": ("1.5,2.5,setosa\n.5,1,other\n.1,2,other\n", False),
    "few whole numbers": ("1,2,a\n3,4,b\n5,6,c\n", False),
    "numbers alone": ("3,1,2,1\n.5,1,2,0\n.1,2,3,1\n", False),
    "missing values": (",?,1,a\n.5,1,2,b\n.1,2,3,a\n", False),
}


@pytest.mark.parametrize("case", HEADERS)
def test_header_lines_are_found(case, read):
    text, header = HEADERS[case]
    table = read(text, label="-1")
    assert (table.names is not None) == header
    assert len(table.X) == (2 if header else text.count("\n"))
    assert any(("as header" if header else "no header") in note for note in table.notes)


def test_encodings_are_named(read):
    text = "länge,art\n1,é\n2,è\n"
    with pytest.raises(ValueError, match=r"a\.csv: is not text in utf-8: .* by --encoding"):
        read(text, stored="latin-1", label="-1")
    with pytest.raises(ValueError, match="for example --encoding latin-1 or utf-16"):
        read(text, stored="utf-16", label="-1")


def test_columns_of_one_name_are_named(read):
    table = read("a,b,a\n1,2,3\n", label="b")
    assert table.names is None  # by which columns could not be picked
    assert "several columns are called 'a', so names are not kept" in table.notes


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


def test_compressed_text(tmp_path):
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as file:
        file.write("p\tq\n1\t0\n0\t1\n")
    assert np.array_equal(read_table(tmp_path / "b.tsv.gz").X, np.eye(2))
    whole = (tmp_path / "b.tsv.gz").read_bytes()
    (tmp_path / "b.tsv.gz").write_bytes(whole[:-9])
    with pytest.raises(ValueError, match=r"b\.tsv\.gz: is not a whole gzip file"):
        read_table(tmp_path / "b.tsv.gz")


@pytest.mark.parametrize(
    "text, label, message",
    [
        ("", None, "is empty"),
        ("a,b\n", None, "no examples"),
        ("a,b\n1,x\n2,\n3,y\n", "-1", r"line 3, column 'b': the label is empty \(1 of 3"),
        ("1,2\n3\n4,5\n", None, "line 2: expected 2 fields as in line 1, got 1"),
        ("1,2\n3,red\n", "0", "line 2, column 1: 'red' is not a number; other fields are numbers"),
        ("a,b\n1,2\n3,red\n", "a", "line 3, column 'b': 'red' is not a number"),
        ("a,b\n1,x\n3,red\n", None, "if column 'b' is the label, name it by --label"),
        ("a,b\n1_000,x\n3,y\n", "b", "line 2, column 'a': '1_000' is not a number"),
        ("a,b\n1,x\n\u0663,y\n", "b", "line 3, column 'a': '\u0663' is not a number"),
        ("a;b\n35,000;x\n3;y\n", "b", "'35,000' is not a number; .* commas between thousands must"),
        ("a,b\ntrue,x\n3,y\nyes,z\n", "b", "line 4, column 'a': 'yes' is not a number"),
        ("a,b\ntrue,x\n3,y\n", "b", "column 'a': 'true' is not a number"),
        ("a;b\n-1,5;x\n3;y\n", "b", "'-1,5' is not a number; --decimal , reads decimal commas"),
        ("a,b\n2026-01-31,x\n2026-02-01,y\n", "b", "column 'a': must hold numbers or words, got d"),
        ("a,b\n31.1.2026 9:30,x\n?,y\n", "b", "dates or times such as '31.1.2026 9:30'"),
        ("a,b\n9:30,x\n12:00,y\n", "b", "dates or times such as '9:30'"),
        ("a,b\n3,1\n", "c", r"label must be one of .* got 'c'; its columns are \['a', 'b'\]"),
        ("3,1\n", "c", "got 'c'; it has no header line"),
        ("3,1\n", "2", r"label must be a column in -2\.\.1 or a name, got 2"),
        ("a,,c\n1,2,3\n", "c", "line 1: column 1 has no name in the header line"),
        (",b,c\n1,2,3\n1,3,4\n", "c", "column 0 has no name, and its values occur repeatedly"),
        ("x\ny\n", "0", "has no column of features; if its lines hold several fields"),
        ('a,b\n1,"x\n2"\n3,y,\n', "b", "line 4: expected 2 fields as in line 1, got 3"),
        ('a,b\n1,x\n2,"y\n3,x\n', "b", "line 3: a quotation mark opens a field that does not end"),
        ("a,b,a\n1,2,3\n", "a", "label must name one column, got 'a', the name of columns 0, 2"),
    ],
)
def test_damaged_text(text, label, message, read):
    with pytest.raises(ValueError, match=rf"a\.csv.*{message}"):
        read(text, label=label)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sep": "ab"}, "--sep: must be one character"),
        ({"encoding": "klingon"}, "--encoding: unknown encoding 'klingon'"),
        ({"drop": ["z"]}, "--drop must be one of its columns, got 'z'"),
    ],
)
def test_wrong_options(options, message, read):
    with pytest.raises(ValueError, match=message):
        read("a,b\n1,2\n", **options)


def test_npz(tmp_path):
    path, X, y = tmp_path / "a.npz", np.eye(3), np.array(["a", "b", "c"])
    np.savez(path, X_train=X, y_train=y, X_test=X[:1], y_test=y[:1])
    assert read_table(path).y.tolist() == ["a", "b", "c"]
    assert read_table(path, part="test").y.tolist() == ["a"]
    for arrays, message in (
        ({"X": X[0], "y": y}, r"X must have rows of examples .*, got shape \(3,\)"),
        ({"X": X[:0], "y": y[:0]}, r"X must have rows .* got shape \(0, 3\)"),
        (
            {"X": X, "y": np.full(3, 2**31, ">u4").view(">U1")},
            "is not an NPZ file of numbers and text",
        ),
        ({"X": X, "y": y[:2]}, r"y must have one label per row of X \(3\), got shape \(2,\)"),
        ({"X": X, "y": y.astype(object)}, "is not an NPZ file of numbers and text"),
        ({"Z": X}, "must have an array X or X_train, has only"),
        ({"X": X * 1j, "y": y}, "X must hold numbers, got dtype complex128"),
        ({"X": X.astype("M8[s]"), "y": y}, r"X must hold numbers, got dtype datetime64\[s\]"),
        ({"X": X.astype("m8[ms]"), "y": y}, r"X must hold numbers, got dtype timedelta64\[ms\]"),
        ({"X": X, "y": y.astype("S1")}, r"y must hold numbers or text, got dtype \|S1"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=rf"a\.npz: {message}"):
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
    with pytest.raises(ValueError, match=r"a\.npz: is not an NPZ file"):
        read_table(path)


def test_messages_show_the_ends_of_a_long_field_and_of_a_long_name(read):
    with pytest.raises(ValueError, match=r"'z{47}\.\.\.z{48}' is not a number"):
        read(f"1,2\n3,4\n5,{'z' * 5000}\n")
    with pytest.raises(ValueError, match=r"column 'z{47}\.\.\.z{48}': 'x' is not a number"):
        read(f"a,{'z' * 5000}\n3,4\n5,x\n", label="a")
    listed = r"columns are \['a', 'z{47}\.\.\.z{48}', .* and 50 more\]"
    with pytest.raises(ValueError, match=listed):
        read(f"a,{'z' * 5000},{','.join(map(str, range(98)))}\n{'3,' * 99}3\n", label="b")


def test_a_header_of_many_digits(read):
    assert (
        read("".join(f"{n}{'0' * 5000}," for n in range(4)) + "a\n1,2,3,4,b\n", label="4").y[1]
        == "b"
    )


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"

    def write(**columns):
        parquet.write_table(pyarrow.table(columns), path)

    write(size=[1, None, 3], wide=[True, False, True], kind=["x", "y", "x"])
    table = read_table(path, label="kind")
    assert table.names == ["size", "wide"] and table.y.tolist() == ["x", "y", "x"]
    assert np.array_equal(table.X.astype(float), [[1, 1], [np.nan, 0], [3, 1]], equal_nan=True)
    with pytest.raises(ValueError, match=r"a\.parquet, column 'kind': must hold numbers"):
        read_table(path)
    table = read_table(path, label="size", drop_unlabelled=True)
    assert table.categories == [1] and table.X.values.tolist() == [[True, "x"], [True, "x"]]
    write(size=[1, 2, 3], kind=["x", None, "z"], __index_level_0__=[4, 5, 6])
    with pytest.raises(ValueError, match="row 1, column 'kind': the label is empty"):
        read_table(path, label="kind", needs_labels=True)
    table = read_table(path, label="kind", drop_unlabelled=True)
    assert table.X.values.tolist() == [[1], [3]] and table.y.tolist() == ["x", "z"]
    for odd, got in ((datetime.date(2026, 1, 31), "date"), (datetime.timedelta(1), "timedelta")):
        write(day=[odd], kind=["x"])
        with pytest.raises(ValueError, match=f"'day': must hold numbers or words, got {got}"):
            read_table(path, label="kind")
    path.write_text("no")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        read_table(path)


@pytest.mark.parametrize("name", ["a.parquet", "a.csv"])
@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_files_without_the_extra(name, package, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ImportError, match=r'pip install "cwboost\[tables\]"'):
        read_table(tmp_path / name)


def test_a_column_of_free_text_is_noted(read):
    text = "remark,sky,y\n" + "".join(f"gull {i},{'ab'[i % 2]},{i % 3}\n" for i in range(12))
    notes = "; ".join(read(text, label="y").notes)
    assert "categories in column 'remark', column 'sky'; most fields of column 'remark' " in notes
