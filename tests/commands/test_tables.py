"""The command line reads what pandas reads: names, types, gaps; in parts, from files and pipes."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import zipfile
from itertools import product
from pathlib import Path

import forked_commands
import numpy as np
import pytest

from cwboost import CWBoostClassifier
from cwboost.cli import main
from cwboost.commands import _models

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 60
LABELS = np.array(["p", "n"])


def text_of(header, cells, sep=","):
    """Return a file of `header`, N rows of cells by row number, and a label in the last column."""
    rows = [[*cells(row), LABELS[row % 2]] for row in range(N)]
    return "\n".join(sep.join(map(str, row)) for row in [[header], *rows]) + "\n"


def numbers(n):
    return lambda row: [round(row % 2 + 0.01 * column * row, 3) for column in range(n)]


TABLES = {  # text, arguments of pandas.read_csv
    "numbers": (text_of("a,b,y", numbers(2)), {}),
    "repeated names": (text_of("a,a,a.1,y", numbers(3)), {}),
    "padded names": (text_of(" a, b ,y", numbers(2)), {}),
    "no names": (text_of("1,2,p", numbers(2)), {"header": None}),
    "gaps and empty lines": (
        text_of("a,b,y", lambda row: ["" if row % 5 else 1, "NA" if row % 3 else "x"]).replace(
            "\n", "\n\n", 5
        ),
        {},
    ),
    "text among numbers": (text_of("age,y", lambda row: [row if row % 3 else "90+"]), {}),
    "codes with zeros": (text_of("zip,y", lambda row: ["x" if row == 59 else f"0{row % 4}"]), {}),
    "codes": (text_of("zip,y", lambda row: ["x" if row == 59 else row % 4]), {}),
    "bools": (text_of("is,b,y", lambda row: [row % 2 == 0 or "", True]), {}),
    "a separator and commas": (
        text_of("a;y", lambda row: [f"{row % 2},5"], ";"),
        {"sep": ";", "decimal": ","},
    ),
    "other gaps": (
        text_of("a,y", lambda row: ["?" if row % 5 == 0 else row % 2]),
        {"na_values": "?"},
    ),
}


def options_of(given):
    return [part for name, value in given.items() for part in ("--read", f"{name}={value}")]


def run(capsys, *arguments):
    assert main([str(each) for each in arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:column 'age' of X has")
@pytest.mark.parametrize("rows", [7, 10**6])
@pytest.mark.parametrize("name", TABLES)
def test_python_and_the_command_line_say_the_same(name, rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_models, "ROWS", rows)
    text, given = TABLES[name]
    path, model, other = tmp_path / "t.csv", tmp_path / "m.cwb", tmp_path / "other.cwb"
    path.write_text(text)
    frame = pd.read_csv(path, **given)
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    draws = {"subsample": 0.5, "random_state": 0}  # so that labels of no rule have columns
    clf = CWBoostClassifier("stump", init=None, n_estimators=9, **draws).fit(X, y)
    clf.save(model)
    train = ["--weak-learner", "stump", "--set", "init=None", "--set", "subsample=0.5"]
    train += ["--rounds", 9, "--held-out", 0]
    run(capsys, "fit", path, other, *train, *options_of(given))
    for saved in (model, other):
        # Without names, features are picked by place: the file must hold no other column.
        drop = [] if isinstance(frame.columns[0], str) else ["--drop=-1"]
        found = run(capsys, "predict", saved, path, "--proba", *drop, *options_of(given))
        names, *found = [line.split(",") for line in found.split()]
        assert names == clf.classes_.tolist()
        assert np.array_equal(np.array(found, dtype=float), clf.predict_proba(X))
    text = run(capsys, "evaluate", model, path, *options_of(given))
    assert f"error              {1 - clf.score(X, y):.2%}" in text
    if isinstance(frame.columns[0], str):
        frame.to_parquet(tmp_path / "t.parquet")
        parquet = run(capsys, "predict", model, tmp_path / "t.parquet", "--proba")
        assert parquet == run(capsys, "predict", model, path, "--proba", *options_of(given))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A model of one column, its file, and the labels that it predicts for x = 5, a gap, -5."""
    folder = tmp_path_factory.mktemp("small")
    X = pd.DataFrame({"x": np.linspace(-9, 9, N)})
    y = np.where(X["x"] > 0, "high", "漢字")
    model = CWBoostClassifier("stump", init=None, n_estimators=3, random_state=0).fit(X, y)
    model.save(folder / "m.cwb")
    return folder / "m.cwb", model.predict(pd.DataFrame({"x": [5.0, np.nan, -5.0]})).tolist()


@pytest.mark.parametrize("text", ["x\n5\n\n-5\n", "x\r\n5\r\n\r\n-5", 'x\n5\n""\n-5\n'])
def test_an_empty_line_of_one_column_is_a_row(text, small, tmp_path, capsys):
    model, labels = small
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert run(capsys, "predict", model, tmp_path / "t.csv").split() == ["label", *labels]


def zipped(data):
    with zipfile.ZipFile(stored := io.BytesIO(), "w") as archive:
        archive.writestr("t.csv", data)
    return stored.getvalue()


def as_parquet(data):
    pd.read_csv(io.BytesIO(data), skip_blank_lines=False).to_parquet(stored := io.BytesIO())
    return stored.getvalue()


CONTENTS = [bytes, gzip.compress, bz2.compress, lzma.compress, zipped, as_parquet]


@pytest.mark.parametrize("source", ["file", "pipe", "standard input"])
@pytest.mark.parametrize("content", CONTENTS)
def test_contents_are_told_by_their_bytes(content, source, small, tmp_path, capsys):
    model, labels = small
    data, path = content(b"x\n5\n\n-5\n"), tmp_path / "t"
    path.write_bytes(data)
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    standard_input = os.dup(0)
    try:
        os.dup2(reader, 0)
        given = {"file": path, "pipe": f"/dev/fd/{reader}", "standard input": "-"}[source]
        assert run(capsys, "predict", model, given).split() == ["label", *labels]
    finally:
        os.dup2(standard_input, 0)
        os.close(standard_input)
        os.close(reader)


@pytest.mark.parametrize("name, package", [("a.csv", "pandas"), ("a.parquet", "pyarrow")])
def test_files_without_the_extra(name, package, small, tmp_path, monkeypatch, capsys):
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("x\n1\n")
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["predict", str(small[0]), str(tmp_path / name)]) == 1
    assert "pip install pandas pyarrow" in capsys.readouterr().err


# ---------------------------------------------------------------------------- standard streams


COMMANDS = {
    "fit": "fit t.csv new.cwb --weak-learner stump --set init=None --rounds 3 --held-out 0",
    "predict": "predict m.cwb t.csv",
    "predict --proba": "predict m.cwb t.csv --proba",
    "predict --out": "predict m.cwb t.csv --out new.csv",
    "predict --out -": "predict m.cwb t.csv --out -",
    "evaluate": "evaluate m.cwb t.csv",
    "inspect": "inspect m.cwb",
    "inspect --json": "inspect m.cwb --json",
    "plugins": "plugins",
    "datasets": "datasets",
    "fit -": "fit t.csv - --weak-learner stump --set init=None --rounds 3 --held-out 0",
}
WRITES = {"fit", "predict --out", "plugins", "datasets"}  # need no place for a result
# Where output and messages go, and the encoding of both.
STREAMS = {
    "usual": ("out", "err", "utf-8"),
    "messages closed": ("out", None, "utf-8"),
    "messages full": ("out", "/dev/full", "utf-8"),
    "output closed": (None, "err", "utf-8"),
    "output full": ("/dev/full", "err", "utf-8"),
    "ascii": ("out", "err", "ascii"),
    "cp1252": ("out", "err", "cp1252"),
}


@pytest.fixture(scope="module")
def found(small):
    """Return status, output and messages by command and kind of streams.

    Python runs with -O; `test_cli.py` runs commands with -OO.
    """
    folder = small[0].parent
    X = np.linspace(-9, 9, N)
    y = np.where(X > 0, "high", "漢字")
    pd.DataFrame({"x": X, "y": y}).to_csv(folder / "t.csv", index=False)
    jobs, files = [], {}
    for key in product(COMMANDS, STREAMS):
        *names, encoding = STREAMS[key[1]]
        files[key] = [
            str(folder / f"{name} {len(files)}") if name in ("out", "err") else name
            for name in names
        ]
        jobs.append([COMMANDS[key[0]].split(), dict(zip("12", files[key])), encoding])
    done = subprocess.run(
        [sys.executable, "-O", forked_commands.__file__],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        input=json.dumps(jobs).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return {
        key: (status, *map(content_of, files[key]))
        for key, status in zip(files, json.loads(done.stdout), strict=True)
    }


def content_of(name):
    """Return what a file holds; of a model without its history of seconds that training took."""
    data = Path(name).read_bytes() if name and Path(name).is_file() else b""
    return b"a whole model" if zipfile.is_zipfile(io.BytesIO(data)) else data


@pytest.mark.skipif(not hasattr(os, "fork"), reason="streams of POSIX")
@pytest.mark.parametrize("command", COMMANDS)
def test_standard_streams_that_are_closed_full_or_narrow(command, found):
    """Messages decide about nothing; a result is whole, or absent with an error."""
    status, usual, messages = found[command, "usual"]
    assert status == 0, messages
    for kind in ("messages closed", "messages full"):
        assert found[command, kind][:2] == (0, usual)
    for kind in ("output closed", "output full"):
        status, _, messages = found[command, kind]
        if not usual or (kind == "output closed" and command in WRITES):
            assert status == 0, messages
        else:
            assert status == 1 and b"error: " in messages.splitlines()[-1]
        assert b"Traceback" not in messages
    for encoding in ("ascii", "cp1252"):
        status, output, _ = found[command, encoding]
        is_data = command.startswith("predict") or command == "fit -"
        escaped = usual if is_data else usual.decode().encode(encoding, "backslashreplace")
        assert (status, output) == (0, escaped)
