"""Every file that cwboost writes: its content is replaced and nothing else, or it stays."""

import ast
import os
import stat
import tempfile
import textwrap
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from in_process import output_of
from sklearn.datasets import load_iris

import cwboost
from cwboost import CWBoostClassifier, load_model
from cwboost.callbacks import Checkpoint, CSVLog
from cwboost.cli import main
from cwboost.support import files
from cwboost.support.files import replacing

X, Y = load_iris(return_X_y=True)
# Members of an archive; a new folder; the null device.
OTHERS = "model_file/container.py", "commands/_plugin_writer.py", "commands/_streams.py"


def written_to(tree):
    """Yield the lines of a module that write a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
            writes = any(isinstance(m, str) and m[:1] in "wax" and len(m) < 4 for m in modes)
            given = getattr(node.args[0], "id", "") if node.args else ""
            is_figure = name == "savefig" and given != "file"
            if name in ("write_text", "write_bytes") or (name == "open" and writes) or is_figure:
                yield node.lineno


def test_every_file_is_written_by_one_function():
    package = Path(cwboost.__file__).parent
    modules = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    found = {
        name
        for name, path in modules.items()
        if not name.startswith(OTHERS) and any(written_to(ast.parse(path.read_bytes())))
    }
    assert found == {"support/files.py"}


# ---------------------------------------------------------------------------- faults


def write(path, content=b"new" * 10_000):
    with replacing(path) as file:
        file.write(content[:20])
        file.write(content[20:])


@contextmanager
def full_after(size):
    """Let no file of this process grow beyond a size, as if the disk were full."""
    resource = pytest.importorskip("resource")
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


@contextmanager
def failing(name):
    """Let a function of the module os fail."""
    with pytest.MonkeyPatch.context() as patch:

        def fail(*arguments):
            raise OSError(5, "Input/output error")

        patch.setattr(files.os, name, fail)
        yield


@pytest.mark.parametrize("former", [None, b"old"])
@pytest.mark.parametrize(
    "fault",
    [
        *(lambda n=n: full_after(n) for n in (0, 10, 5_000, 29_999)),
        *(lambda name=name: failing(name) for name in ("open", "fsync", "replace")),
    ],
)
def test_a_failed_write_leaves_the_former_file_and_no_other(tmp_path, former, fault):
    path = tmp_path / "file"
    if former is not None:
        path.write_bytes(former)
    with fault(), pytest.raises(OSError) as caught:
        write(path)
    assert caught.value.filename == str(path) and "->" not in str(caught.value)
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [former] * (former is not None)
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"some")
        raise KeyboardInterrupt
    assert len(list(tmp_path.iterdir())) == (former is not None)
    write(path)
    assert path.read_bytes() == b"new" * 10_000


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_permissions(tmp_path, mask):
    path, former = tmp_path / "file", os.umask(mask)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
        for mode in (0o600, 0o640, 0o666):
            path.chmod(mode)
            write(path)
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(former)
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"):
        write(path, b"other")
    assert path.read_bytes() == b"new" * 10_000 and list(tmp_path.iterdir()) == [path]


def test_links_are_followed(tmp_path):
    for target in (tmp_path / "there", tmp_path / "not yet"):
        (tmp_path / "there").write_bytes(b"old")
        link = tmp_path / f"link to {target.name}"
        link.symlink_to(target)
        write(link)
        assert link.is_symlink() and target.read_bytes() == b"new" * 10_000


def test_what_is_no_name_of_a_file(tmp_path):
    for place in (tmp_path, f"{tmp_path}{os.sep}new{os.sep}", ""):
        with pytest.raises(OSError, match="not the name of a file") as caught:
            write(place)
        assert caught.value.filename == str(place)
    with pytest.raises(FileNotFoundError, match="No such file") as caught:
        write(tmp_path / "no" / "file")
    assert caught.value.filename == str(tmp_path / "no" / "file")
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / ("m" * 255))  # the longest name


# ---------------------------------------------------------------------------- all writers


def trained(**parameters):
    parameters = {"init": None, "n_estimators": 2, "random_state": 0} | parameters
    return CWBoostClassifier("stump", **parameters).fit(X, Y)


def by_command(command, *options):
    """Return a writer that runs a command with the path as its last argument."""
    return lambda path: command_writes(path, command, *options)


def command_writes(path, command, *options):
    with tempfile.TemporaryDirectory() as folder:
        trained().save(f"{folder}/m.cwb")
        rows = "".join(f"{','.join(map(str, row))},{y}\n" for row, y in zip(X, Y))
        Path(folder, "t.csv").write_text("a,b,c,d,y\n" + rows)
        assert main([command, *(each.replace("IN", folder) for each in options), str(path)]) == 0


FIT = "IN/t.csv", "--held-out", "0", "--rounds", "2", "--set", "init=None", "--quiet"
WRITERS = {
    "save": lambda path: trained().save(path),
    "Checkpoint": lambda path: trained(callbacks=[Checkpoint(path, every_rounds=2)]),
    "CSVLog": lambda path: trained(callbacks=[CSVLog(path)]),
    "fit": by_command("fit", *FIT),
    "fit --history": by_command("fit", *FIT, "IN/m2.cwb", "--history"),
    "predict": by_command("predict", "IN/m.cwb", "IN/t.csv", "--drop", "y", "--quiet", "--out"),
    "export": by_command("export", "IN/m.cwb", "--onnx"),
    "evaluate": by_command("evaluate", "IN/m.cwb", "IN/t.csv", "--quiet", "--calibration"),
}
NEEDS = {"export": ["onnx"], "evaluate": ["pandas", "matplotlib"], "predict": ["pandas"]}
pytestmark_posix = pytest.mark.skipif(os.name != "posix", reason="attributes of POSIX")


@pytest.fixture(params=WRITERS)
def writer(request):
    for package in NEEDS.get(request.param, ["pandas"] if "fit" in request.param else []):
        pytest.importorskip(package)
    return WRITERS[request.param]


def state_of(path):
    found = path.stat()
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode), attributes


@pytestmark_posix
def test_a_writer_changes_the_content_and_nothing_else(writer, tmp_path):
    path, other = tmp_path / "out.png", tmp_path / "other"
    path.write_bytes(b"")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    with suppress(OSError):  # of a file system without attributes
        os.setxattr(path, "user.note", b"kept")
    former = state_of(path)
    writer(path)
    assert state_of(path) == former and path.stat().st_size
    os.link(path, other)
    path.write_bytes(b"")
    writer(path)
    assert other.samefile(path) and state_of(path) == former and path.stat().st_size
    assert {each.name for each in tmp_path.iterdir()} == {"out.png", "other"}


@pytestmark_posix
def test_a_writer_writes_streams(writer, tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe.png").read_bytes()))
    reader.start()
    writer(tmp_path / "pipe.png")
    reader.join(60)
    assert (tmp_path / "pipe.png").is_fifo() and len(read[0]) > 10
    writer("/dev/null")
    assert not os.path.isfile("/dev/null")


@pytestmark_posix
def test_an_open_file_gets_the_content_where_it_stands(tmp_path):
    path = tmp_path / "log"
    with open(path, "wb", buffering=0) as file:
        file.write(b"before ")
        write(f"/dev/fd/{file.fileno()}", b"content")
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        write(tmp_path / "link", b" again")
        file.write(b" after")
    assert path.read_bytes() == b"before content again after"


IN_PLACE = ["chown", "replace", "setxattr", "open"]


@pytestmark_posix
@pytest.mark.parametrize("code", sorted(files.MAY_NOT_REPLACE))
@pytest.mark.parametrize("name", IN_PLACE)
def test_what_cannot_be_replaced_is_overwritten_or_stays(name, code, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old" * 5_000)
    node, make = path.stat().st_ino, os.open

    def fail(given, *rest, **options):
        if name == "open" and Path(given).parent != tmp_path:
            return make(given, *rest, **options)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, name, fail)
    if name == "open":  # the folder may not be written
        monkeypatch.setattr(files.os, "replace", lambda *_: fail(path))
    monkeypatch.setattr(
        files, "_attributes", lambda of: {"user.a": b"a"} if of == str(path) else {}
    )
    if name == "chown":
        monkeypatch.setattr(files.os, "stat", other_owner(files.os.stat, path))
    write(path)
    assert path.read_bytes() == b"new" * 10_000 and path.stat().st_ino == node
    with full_after(16_000), pytest.raises(OSError, match="File too large") as caught:
        write(path, b"other" * 5_000)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"new" * 10_000
    assert list(tmp_path.iterdir()) == [path]


def other_owner(function, path):
    """Return a function that calls `path` the file of another user."""

    def call(given, *rest, **options):
        found = function(given, *rest, **options)
        if given != str(path):
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

    return call


@pytestmark_posix
def test_a_model_comes_through_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    model = trained()
    writer = threading.Thread(target=model.save, args=(tmp_path / "pipe",))
    writer.start()
    loaded = load_model(tmp_path / "pipe")
    writer.join(60)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("path", [b"file", 3, None])
def test_what_is_no_path_is_named(path):
    model = CWBoostClassifier("stump", init=None, n_estimators=1).fit(X, Y)
    for write in (model.save, load_model, CSVLog, lambda path: Checkpoint(path, every_rounds=1)):
        with pytest.raises(TypeError, match=r"path must be a str or an os\.PathLike, got "):
            write(path)


@pytest.mark.slow
def test_kill_during_a_write_leaves_a_whole_file(tmp_path):
    """Kill a process that alternately writes two contents, at random moments."""
    program = """
        import os, signal, sys, time
        from cwboost.support.files import replacing
        contents = [bytes([i]) * 3_000_000 for i in (0, 1)]
        def write(i):
            with replacing(sys.argv[1]) as file:
                file.write(contents[i])
        write(0)
        for delay in sys.argv[2:]:
            child = os.fork()
            while not child:
                write(1), write(0)
            time.sleep(float(delay))
            os.kill(child, signal.SIGKILL)
            assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
            with open(sys.argv[1], "rb") as file:
                assert file.read() in contents
            print("whole")
    """
    delays = [f"{delay:.3f}" for delay in np.random.default_rng(5).uniform(0.05, 0.3, 4)]
    printed = output_of("-c", textwrap.dedent(program), tmp_path / "file", *delays)
    assert len(printed.split()) == len(delays)


# ---------------------------------------------------------------------------- whole commands


def test_a_full_disk_leaves_models_exports_and_logs(tmp_path, capsys):
    pytest.importorskip("onnx")
    small, large = (
        CWBoostClassifier("tree", init=None, n_estimators=n, random_state=0).fit(X, Y)
        for n in (2, 60)
    )
    small.save(tmp_path / "small")
    large.save(tmp_path / "large")
    export = [str(tmp_path / "large"), "--onnx", str(tmp_path / "onnx")]
    assert main(["export", str(tmp_path / "small"), *export[1:]]) == 0
    former = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with full_after(4_500):
        with pytest.raises(OSError):
            large.save(tmp_path / "small")
        assert main(["export", *export]) == 1
        assert "onnx: File too large" in capsys.readouterr().err
        with pytest.raises(OSError):
            log = CSVLog(tmp_path / "log")
            CWBoostClassifier("stump", init=None, n_estimators=200, callbacks=[log]).fit(X, Y)
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) > 5 and len({line.count(",") for line in lines}) == 1
    (tmp_path / "log").unlink()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == former
