"""Downloads from a real local HTTP server: complete, interrupted, wrong."""

import contextlib
import http.server
import io
import re
import tarfile
import threading
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from cwboost.cli import main
from cwboost.datasets import fetch, load
from cwboost.datasets.catalogue import DataSet, RemoteFile


class Handler(http.server.BaseHTTPRequestHandler):
    """Handler for ``server.files`` that breaks connections after the listed ``server.breaks``."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        name = self.path[1:]
        server.requests.append(name)
        if name not in server.files:
            self.send_error(404)
            return
        content = server.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        end = len(content)
        if server.breaks:
            end = server.breaks.pop(0)
            self.close_connection = True
        self.wfile.write(content[:end])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.requests, server.breaks = {}, [], []
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
    else:
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
    remote = RemoteFile(server.url + name, known_hash, unpack=True)
    readers = (("a/data.txt", read_small),)
    return DataSet("SMALL", "a set", readers, "nowhere", counts=(2, 1), remote=(remote,))


@pytest.mark.parametrize("name", ["small.zip", "small.tar.gz"])
def test_fetch_downloads_once_unpacks_and_checks(server, tmp_path, name):
    server.files[name] = content = packed(name, CONTENT)
    known_hash = "sha256:" + sha256(content).hexdigest()
    dataset = small(server, name, known_hash)
    for _ in range(2):
        assert fetch(dataset, tmp_path / "new", quiet=True) == tmp_path / "new" / "SMALL"
    assert len(server.requests) == 1
    bunch = load(dataset, tmp_path / "new")
    assert bunch.format == "a/data.txt" and bunch.X.ravel().tolist() == [1, 2, 3]
    assert [path.name for path in (tmp_path / "new" / "SMALL").iterdir()] == ["a"]


def test_a_broken_download_is_named_and_keeps_nothing(server, tmp_path):
    server.files["small.zip"] = packed("small.zip", {"a": bytes(900_000)})
    server.breaks = [600_000]
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
        (packed(".zip", {"a/data.txt": b"1 2"}), None, "3 training examples per class expected"),
        (packed(".zip", CONTENT)[:-30], None, "the archive cannot be unpacked"),
        (packed(".zip", {"other": b""}), None, "none of its files is in"),
    ],
    ids=["checksum", "figures", "cut", "other files"],
)
def test_what_is_not_the_data_set_is_not_kept(server, tmp_path, content, known_hash, message):
    server.files["small.zip"] = content
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        fetch(small(server, known_hash=known_hash), tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_an_error_at_once(server, tmp_path):
    with pytest.raises(OSError, match="404"):
        fetch(small(server), tmp_path, quiet=True)
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", ["small.zip", "small.tar.gz"])
def test_unpacking_never_leaves_its_folder(server, tmp_path, name):
    server.files[name] = packed(name, {"../outside": b"!", **CONTENT})
    with contextlib.suppress(ValueError):
        fetch(small(server, name), tmp_path / "data", quiet=True)
    assert not list(tmp_path.rglob("outside"))


def test_fetch_of_a_set_without_address_says_where_to_get_it(tmp_path):
    with pytest.raises(ValueError, match=r"SUN has no stable public address.*vision\.princeton"):
        fetch("SUN", tmp_path)


# ---------------------------------------------------------------- command line


@pytest.fixture
def command(capsys):
    """Run ``cwboost datasets`` and return its exit status, output and error output."""

    def run(*args):
        status = main(["datasets", *args])
        return status, *capsys.readouterr()

    return run


def test_command_lists_the_sets(command, tmp_path):
    status, listed, _ = command("--data", str(tmp_path))
    assert status == 0
    assert re.search(r"^VOWEL .* bundled", listed, re.MULTILINE)
    assert re.search(r"^SUN .* absent +by hand", listed, re.MULTILINE)


def test_command_explains_what_it_cannot_fetch(command, tmp_path):
    status, _, error = command("fetch", "LABELME", "--data", str(tmp_path))
    assert status == 1
    assert "www.ais.uni-bonn.de" in error
    assert "Traceback" not in error
    assert command("fetch")[0] == 1
