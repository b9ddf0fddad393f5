"""Every file that cwboost writes: replaced in one step, with its permissions, or left as it was."""

import ast
import os
import stat
import textwrap
from contextlib import contextmanager
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
# Members of an archive; a new folder.
OTHERS = "model_file/container.py", "commands/_plugin_writer.py"


def written_to(tree):
    """Yield the lines of a module that write a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
            writes = any(isinstance(m, str) and m[:1] in "wax" and len(m) < 4 for m in modes)
            if name in ("write_text", "write_bytes") or (name == "open" and writes):
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
    for place in (tmp_path, f"{tmp_path}{os.sep}new{os.sep}", "", os.devnull):
        with pytest.raises(OSError, match="not the name of a regular file") as caught:
            write(place)
        assert caught.value.filename == str(place)
    with pytest.raises(FileNotFoundError, match="No such file") as caught:
        write(tmp_path / "no" / "file")
    assert caught.value.filename == str(tmp_path / "no" / "file")
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / ("m" * 255))  # the longest name


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
