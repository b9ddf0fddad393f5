"""Downloads from a real local HTTP server: complete, interrupted, wrong."""

import contextlib
import http.server
import io
import json
import re
import tarfile
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pooch
import pytest

from cwboost.cli import main
from cwboost.datasets import fetch, load, load_pendigits
from cwboost.datasets.catalogue import CATALOGUE
from cwboost.datasets.download import ALL, LockFile, RemoteFile, download, unpack


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


CONTENT = np.random.default_rng(0).bytes(1_000_000)


@pytest.fixture(scope="module")
def known_hash(tmp_path_factory):
    path = tmp_path_factory.mktemp("hash") / "content"
    path.write_bytes(CONTENT)
    return "sha256:" + pooch.file_hash(str(path))


def get(server, folder, known_hash, name="a.bin"):
    remote = RemoteFile(server.url + name, known_hash)
    return download(remote, folder, lock=LockFile(folder / "checksums.json"), quiet=True)


def test_a_file_is_downloaded_once(server, tmp_path, known_hash):
    server.files["a.bin"] = CONTENT
    assert get(server, tmp_path, known_hash).read_bytes() == CONTENT
    get(server, tmp_path, known_hash)
    assert len(server.requests) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_a_broken_download_keeps_nothing(server, tmp_path, known_hash):
    server.files["a.bin"] = CONTENT
    server.breaks = [600_000]
    with pytest.raises(ConnectionError, match=r"a\.bin: the download failed, and nothing"):
        get(server, tmp_path, known_hash)
    assert list(tmp_path.iterdir()) == []
    assert get(server, tmp_path, known_hash).read_bytes() == CONTENT


def test_a_server_that_cannot_be_reached_is_named(tmp_path):
    remote = RemoteFile("http://127.0.0.1:1/a.bin")
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1/a\.bin: the download failed"):
        download(remote, tmp_path, lock=LockFile(tmp_path / "checksums.json"), quiet=True)


def test_a_wrong_checksum_keeps_nothing(server, tmp_path, known_hash):
    server.files["a.bin"] = CONTENT[:-1] + b"?"
    with pytest.raises(ValueError, match="hash"):
        get(server, tmp_path, known_hash)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_an_error_at_once(server, tmp_path, known_hash):
    with pytest.raises(OSError, match="404"):
        get(server, tmp_path, known_hash)
    assert len(server.requests) == 1


# ---------------------------------------------------------------- data sets


def pendigits_zip():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, name in (("train", "pendigits.tra"), ("test", "pendigits.tes")):
            X, y = load_pendigits(subset=part, return_X_y=True)
            text = io.StringIO()
            np.savetxt(text, np.c_[X.astype(int), y], fmt="%d", delimiter=",")
            archive.writestr(name, text.getvalue())
        archive.writestr("Index", "not needed")
    return stream.getvalue()


@pytest.fixture
def pendigits(server):
    """The catalogue's entry with the address of the local server."""
    entry = CATALOGUE["PENDIGITS"]
    remote = tuple(replace(r, url=server.url + r.filename, known_hash=None) for r in entry.remote)
    return replace(entry, remote=remote)


def test_fetch_unpacks_checks_and_records(server, pendigits, tmp_path):
    server.files["pendigits.zip"] = pendigits_zip()
    folder = fetch(pendigits, tmp_path, quiet=True)
    assert folder == tmp_path / "PENDIGITS"
    assert sorted(path.name for path in folder.iterdir()) == [
        "pendigits.tes",
        "pendigits.tra",
        "pendigits.zip",
    ]
    bunch = load("PENDIGITS", tmp_path)
    assert bunch.format == "pendigits.tra, pendigits.tes"
    assert np.array_equal(bunch.X_train, load_pendigits(subset="train").data)
    lock = json.loads((tmp_path / "checksums.json").read_text())
    assert lock["pendigits.zip"]["hash"].startswith("sha256:")
    fetch(pendigits, tmp_path, quiet=True)
    assert len(server.requests) == 1


def test_fetch_compares_with_the_recorded_checksum(server, pendigits, tmp_path):
    server.files["pendigits.zip"] = pendigits_zip()
    folder = fetch(pendigits, tmp_path, quiet=True)
    (folder / "pendigits.zip").unlink()
    server.files["pendigits.zip"] = pendigits_zip() + b"\n"
    with pytest.raises(ValueError, match="hash"):
        fetch(pendigits, tmp_path, quiet=True)


def test_fetch_of_other_data_leaves_nothing_behind(server, pendigits, tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("pendigits.tra", "pendigits.tes"):
            archive.writestr(name, (",".join(["1"] * 17) + "\n") * 20)
    server.files["pendigits.zip"] = stream.getvalue()
    with pytest.raises(ValueError, match="PENDIGITS: 7494 training examples per class expected"):
        fetch(pendigits, tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_fetch_of_a_damaged_archive_is_refused(server, pendigits, tmp_path):
    server.files["pendigits.zip"] = pendigits_zip()[:-100]
    with pytest.raises(ValueError, match="is a damaged archive"):
        fetch(pendigits, tmp_path, quiet=True)
    assert list(tmp_path.iterdir()) == []


def test_fetch_of_a_set_without_address_says_where_to_get_it(tmp_path):
    with pytest.raises(ValueError, match=r"SUN has no stable public address.*vision\.princeton"):
        fetch("SUN", tmp_path)


# ---------------------------------------------------------------- archives


def make_archive(path, members):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_unpack_some_members_or_all(tmp_path, name):
    archive = make_archive(tmp_path / name, {"x/one": b"1", "x/y/two": b"2"})
    assert [p.name for p in unpack(archive, ("two",), tmp_path / "some")] == ["two"]
    assert (tmp_path / "some" / "two").read_bytes() == b"2"
    unpack(archive, ALL, tmp_path / "all")
    assert (tmp_path / "all" / "x" / "y" / "two").read_bytes() == b"2"
    with pytest.raises(ValueError, match="lacks three"):
        unpack(archive, ("one", "three"), tmp_path / "some")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_unpack_never_leaves_its_folder(tmp_path, name):
    archive = make_archive(tmp_path / name, {"../outside": b"!"})
    with pytest.raises(ValueError, match="points outside its folder"):
        unpack(archive, ALL, tmp_path / "in")
    assert not (tmp_path / "outside").exists()


# ---------------------------------------------------------------- command line


@pytest.fixture
def command(capsys):
    """Run ``cwboost datasets`` and return its exit status, output and error output."""

    def run(*args):
        status = main(["datasets", *args])
        return status, *capsys.readouterr()

    return run


def test_command_lists_and_checks(command, tmp_path):
    status, listed, _ = command("--data", str(tmp_path))
    assert status == 0
    assert re.search(r"^VOWEL .* bundled", listed, re.MULTILINE)
    assert re.search(r"^SUN .* absent +by hand", listed, re.MULTILINE)
    status, checked, _ = command("check", "vowel")
    assert status == 0
    assert "nearest neighbour 0.5628, known 0.5628" in checked


def test_command_explains_what_it_cannot_fetch(command, tmp_path):
    status, _, error = command("fetch", "LABELME", "--data", str(tmp_path))
    assert status == 1
    assert "www.ais.uni-bonn.de" in error
    assert "Traceback" not in error
    assert command("fetch")[0] == 1


def _zip(folder):
    path = folder / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("one", b"1" * 500)
    return path


@pytest.mark.parametrize(
    ("offset", "value"),
    [(6, 255), (6, 1), (8, 99), (8, 0)],  # of the central entry: version, flags, compression
)
def test_an_archive_that_zipfile_does_not_know_is_damaged(tmp_path, offset, value):
    path = _zip(tmp_path)
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + offset + (2 if offset == 8 and value == 99 else 0)] = value
    path.write_bytes(bytes(data))
    try:
        unpack(path, ALL, tmp_path / "out")
    except ValueError as error:
        assert "damaged archive" in str(error)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.xz"])
def test_archives_with_changed_bytes(tmp_path, name):
    path = tmp_path / name
    (tmp_path / "one").write_bytes(bytes(range(256)) * 8)
    if name == "a.zip":
        path = _zip(tmp_path)
    else:
        with tarfile.open(path, f"w:{name[-2:]}") as target:
            target.add(tmp_path / "one", "one")
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(bytes(data))
        with contextlib.suppress(ValueError):
            unpack(path, ALL, tmp_path / "out")
