"""Downloads from a real local HTTP server: complete, interrupted, wrong."""

import contextlib
import functools
import http.server
import io
import re
import sys
import tarfile
import threading
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from cwboost.cli import main
from cwboost.datasets import fetch, load
from cwboost.datasets.catalogue import DataSet


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the server's folder; breaks a connection after `server.most` bytes of a file."""

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(self.server.most))

    def log_request(self, *args):
        self.server.n_requests += 1

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.folder, server.most, server.n_requests = folder, None, 0
        server.daemon_threads = True
        server.url = f"http://127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


CONTENT = {"a/data.txt": b"1 2 3"}
"""What the archives of these tests hold."""


def packed(name, members):
    stream = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(stream, "w") as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return stream.getvalue()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for member, content in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def read_small(folder):
    path = folder / "a" / "data.txt"
    if not path.exists():
        return None
    values = np.loadtxt(path)
    return {"X": values[:, None], "y": np.arange(len(values)) % 2}


def small(server, name="small.zip", known_hash=None):
    remote = {server.url + name: known_hash}
    official = "a/data.txt", read_small
    return DataSet("SMALL", "a set", "nowhere", official, counts=(2, 1), remote=remote)


@pytest.mark.parametrize("name", ["small.zip", "small.tar.gz"])
def test_fetch_downloads_once_unpacks_and_checks(server, tmp_path, name):
    (server.folder / name).write_bytes(content := packed(name, CONTENT))
    known_hash = "sha256:" + sha256(content).hexdigest()
    dataset = small(server, name, known_hash)
    for _ in range(2):
        assert fetch(dataset, tmp_path / "new", quiet=True) == tmp_path / "new" / "SMALL"
    assert server.n_requests == 1
    bunch = load(dataset, tmp_path / "new")
    assert bunch.format == "a/data.txt" and bunch.X.ravel().tolist() == [1, 2, 3]
    assert [path.name for path in (tmp_path / "new" / "SMALL").iterdir()] == ["a"]


def test_a_broken_download_is_named_and_keeps_nothing(server, tmp_path):
    (server.folder / "small.zip").write_bytes(packed("small.zip", {"a": bytes(900_000)}))
    server.most = 600_000
    with pytest.raises(OSError, match=r"small\.zip: the download failed"):
        fetch(small(server), tmp_path, quiet=True)
    server.url = "http://127.0.0.1:1/"
    with pytest.raises(OSError, match=r"127\.0\.0\.1:1/small\.zip: the download failed"):
        fetch(small(server), tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "known_hash", "message"),
    [
        (packed(".zip", CONTENT), f"sha256:{64 * '0'}", "hash"),
        (packed(".zip", {"a/data.txt": b"1 2"}), None, "must have 3 training examples per class"),
        (packed(".zip", CONTENT)[:-30], None, "the archive cannot be unpacked"),
        (packed(".zip", {"other": b""}), None, "none of its files is in"),
    ],
    ids=["checksum", "figures", "cut", "other files"],
)
def test_what_is_not_the_data_set_is_not_kept(server, tmp_path, content, known_hash, message):
    (server.folder / "small.zip").write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        fetch(small(server, known_hash=known_hash), tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_an_error_at_once(server, tmp_path):
    with pytest.raises(OSError, match="404"):
        fetch(small(server), tmp_path, quiet=True)
    assert server.n_requests == 1


@pytest.mark.parametrize("name", ["small.zip", "small.tar.gz"])
def test_unpacking_never_leaves_its_folder(server, tmp_path, name):
    (server.folder / name).write_bytes(packed(name, {"../outside": b"!", **CONTENT}))
    with contextlib.suppress(ValueError):
        fetch(small(server, name), tmp_path / "data", quiet=True)
    assert not list(tmp_path.rglob("outside"))


# ---------------------------------------------------------------- command line


def test_command_lists_the_sets(capsys, tmp_path, monkeypatch):
    (tmp_path / "SUN" / "abbey").mkdir(parents=True)
    (tmp_path / "SUN" / "abbey" / "1.png").touch()
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["datasets", "--data", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert re.search(r"^VOWEL .* bundled", listed, re.MULTILINE)
    assert re.search(r"^LABELME .* absent +by hand", listed, re.MULTILINE)
    assert re.search(r"^SUN .* not read: .*needs Pillow.* by hand", listed, re.MULTILINE)


def test_command_explains_what_it_cannot_fetch(capsys, tmp_path):
    assert main(["datasets", "fetch", "LABELME", "--data", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert re.search(r"a stable public address, got LABELME.*www\.ais\.uni-bonn\.de", error)
    assert "Traceback" not in error
    assert main(["datasets", "fetch"]) == 1
