"""Mutated files of examples for the command line, in this process: a result or a message."""

import contextlib
import gzip
import io
import warnings
import zipfile
from functools import partial
from random import Random

import numpy as np
from attack import Strike
from attack_models import scratch
from mutations import EXTREME, NOT_FINITE, mutate_bytes, mutated_npy, npy, soon

from cwboost.cli import main

TEXTS = [
    ",".join(["length", "width", "class"]) + "\n" + "5.1,3.5,a\n4.9,3.0,b\n6.2,,a\n5.9,1e3,c\n" * 3,
    "1\t2\t0\n3\t4\t1\n5\t6\t0\n2\t2\t1\n" * 3,
    '"colour";"size";y\n"red";1,5;1\n"blue";2,5;2\n"a;b";?;1\n' * 1 + "red;3,25;2\n" * 6,
    ",x,y,label\n" + "".join(f"{i},{i % 3},{i * 0.5},{i % 2}\n" for i in range(12)),
    "a,b,c\n" + "7 , true,-1\n8,false,2\n9,True,-1\n" * 4,
]
FIELDS = [
    *("", " ", "?", "NA", "nan", "inf", "-inf", "1e999", "-1e-999", "0x1p3", "1_000", "١", "½"),
    *("1,5", "1.5.5", "--1", "+", "e", "9" * 5000, "9" * 25, "01", "true", "None"),
    *("\x00", "\ufeff"),
    *('"', '""', "'", "a" * 200_000, "a\nb", "a\r", ",", ";", "\t", "\u2028", "\ud7ff", "=1+1"),
]
OPTIONS = [
    *(["--sep", ","], ["--sep", "tab"], ["--sep", ";"], ["--header"], ["--no-header"]),
    *(["--decimal", ","], ["--label", "0"], ["--label", "y"], ["--label", "99"], ["--drop", "0"]),
    *(["--drop-unlabelled"], ["--encoding", "latin-1"], ["--encoding", "utf-16"]),
    *(["--encoding", "nonsense"], ["--encoding", "base64"], ["--valid", "0.3"], ["--drop", "x"]),
]
DTYPES = "? i1 u1 i2 i4 i8 u8 f2 f4 f8 g c8 c16 U3 S3 M8[s] m8[s] O V4 f4,i8 >f8 >i2 2f4 U0 S0 V0"
LONGEST = 2.0  # seconds that a file may take, and one more for every 4 MB


def mutated_text(rng):
    text = rng.choice(TEXTS)
    sep = max(",\t;", key=text.count) if rng.random() < 0.8 else rng.choice(",\t;|")
    if rng.random() < 0.1:
        return mutate_bytes(rng, text.encode())
    rows = [line.split(sep) for line in text.splitlines()]
    for _ in range(rng.choice((1, 1, 2, 4))):
        kind, row = rng.randrange(8), rng.choice(rows)
        if kind < 4 and row:
            row[rng.randrange(len(row))] = rng.choice(FIELDS)
        elif kind == 4:
            column = rng.randrange(4)
            for other in rows:
                other[column : column + 1] = [rng.choice(FIELDS)[:9999]] * rng.randrange(3)
        elif kind == 5:
            del rows[rng.randrange(len(rows)) :]
            rows.append([])
        elif kind == 6:
            rows += [[field[:99] for field in row]] * rng.randrange(200)
        else:
            row += [rng.choice(FIELDS)[:99]] * rng.randrange(1, 300)
    end = rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    text = end.join(sep.join(row) for row in rows)
    return text.encode(rng.choice(("utf-8",) * 16 + ("utf-8-sig", "utf-16", "utf-32")))


def write_text(rng, folder):
    """Write a mutated text file, compressed or not, and return its path."""
    data, ending = mutated_text(rng), rng.choice((".csv", ".csv", ".tsv", ".txt"))
    if rng.random() < 0.1:
        data, ending = gzip.compress(data, 1), ending + ".gz"
        if rng.random() < 0.5:
            data = mutate_bytes(rng, data)
    path = folder / f"data{ending}"
    path.write_bytes(data)
    return path


def mutated_array(rng, array):
    kind = rng.randrange(9)
    if kind == 0:
        dtype = np.dtype(rng.choice(DTYPES.split()))
        with contextlib.suppress(TypeError, ValueError, RuntimeError), np.errstate(all="ignore"):
            array = array.astype(dtype)
    elif kind == 1:
        shape = rng.choice(((), (0,), (0, 0), (0, 3), (3, 0), (1,), (1, 1), (2, 2, 2), (12,)))
        array = np.resize(array, shape)
    elif kind == 2:
        array = array.reshape((1,) * rng.randrange(30) + array.shape)
    elif kind == 3:
        array = np.asfortranarray(array)
    elif array.size:
        array = array.copy()
        with np.errstate(all="ignore"), contextlib.suppress(OverflowError, ValueError):
            array.flat[rng.randrange(array.size)] = rng.choice(EXTREME + NOT_FINITE)
    return array


def write_npz(rng, folder):
    """Write a mutated NPZ file and return its path."""
    draw = np.random.default_rng(rng.randrange(2**32))
    names = rng.choice((("X", "y"), ("X", "y"), ("X_train", "y_train", "X_test", "y_test")))
    arrays = {
        name: draw.integers(0, 3, 12) if name[0] == "y" else draw.normal(size=(12, 3))
        for name in names
    }
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(names)
        if rng.random() < 0.1:
            arrays.pop(name, None)
        elif name in arrays:
            arrays[name] = mutated_array(rng, arrays[name])
    file = io.BytesIO()
    packing = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", packing) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name
        for name, array in arrays.items():
            member = rng.choice((name,) * 20 + (f"../{name}", "X"))
            ending = rng.choice((".npy",) * 20 + ("", ".txt"))
            data = mutated_npy(rng, array) if rng.random() < 0.3 else npy(array)
            archive.writestr(member + ending, data)
    data = file.getvalue()
    if rng.random() < 0.2:
        data = mutate_bytes(rng, data)
    path = folder / "data.npz"
    path.write_bytes(data)
    return path


def status_of(arguments):
    """Run a command; return its exit status and what it wrote to the error stream."""
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        status = main(list(map(str, arguments)))
    return status, errors.getvalue()


def answered(command, path, arguments):
    """A command answers a file with a result or a message, and soon."""
    longest = LONGEST + path.stat().st_size / 4e6
    status, errors = soon(lambda: status_of([command, *arguments, "--quiet"]), longest)
    assert status in (0, 1), status
    if status == 1:
        assert errors.startswith(f"cwboost {command}: error: "), errors
        message = errors.partition("error: ")[2]
        assert str(path) in message or "--" in message or message[:2] in ("X ", "y "), message
        assert len(errors) < 20_000, errors[:2_000]
        assert path.suffix == ".npz" or "not enough memory" not in errors, errors
    return "refused" if status else "accepted"


def tables(times, seed):
    """Train and predict with mutated files."""
    rng = Random(seed)
    with scratch() as folder:
        model, trained = folder / "model.cwb", folder / "trained.cwb"
        (folder / "train.csv").write_text(TEXTS[0])
        fit = ["--weak-learner", "stump", "--rounds", "2"]
        assert status_of(["fit", folder / "train.csv", trained, *fit, "--quiet"])[0] == 0
        for number in range(times):
            path = (write_npz if number % 3 == 0 else write_text)(rng, folder)
            options = rng.choice(OPTIONS) if rng.random() < 0.3 else []
            if "--valid" in options or rng.random() < 0.7:
                command = "fit", path, [path, model, *fit, *options]
            else:
                command = "predict", path, [trained, path, *options]
            yield Strike(partial(answered, *command), path)
            path.unlink()


ATTACKS = {"tables": tables}
