"""Local copies of the scripts that asv's page loads from other sites."""

import base64
import hashlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.request
from pathlib import Path
from urllib.error import URLError

# Package and path on npm of each file that the page loads. The version is the one in the page's
# address, but for stupidtable, of which npm has no such old one.
NPM = {
    "jquery": ("jquery", "dist/jquery.min.js"),
    "jquery.flot": ("flot", "jquery.flot.js"),
    "jquery.flot.time": ("flot", "jquery.flot.time.js"),
    "jquery.flot.selection": ("flot", "jquery.flot.selection.js"),
    "jquery.flot.categories": ("flot", "jquery.flot.categories.js"),
    "jquery.flot.orderBars": ("flot-orderbars", "js/jquery.flot.orderBars.js"),
    "stupidtable": ("stupid-table-plugin@1.1.3", "stupidtable.js"),
    "md5": ("blueimp-md5", "js/md5.min.js"),
    "bootstrap": ("bootstrap", "dist/js/bootstrap.min.js"),
    "bootstrap.css": ("bootstrap", "dist/css/bootstrap.min.css"),
}
TAG = re.compile(r'(?P<key>src|href)="(?P<url>https?://[^"]+)" integrity="(?P<hash>[^"]+)"[^>]*>')


def make_self_contained(html, cache):
    """Replace the addresses of scripts and styles in asv's pages by local copies.

    Each is fetched from its address and compared with the digest in the page; if that site cannot
    be reached, the same release is fetched from npm. Copies are kept in `cache`.

    Parameters
    ----------
    html : path of the folder that ``asv publish`` wrote
    cache : path of a folder, made when absent

    Returns
    -------
    bool
        True if every script was fetched. Otherwise the page is not changed.
    """
    html, cache = Path(html), Path(cache)
    page = (html / "index.html").read_text(encoding="utf-8")
    cache.mkdir(parents=True, exist_ok=True)
    missing = []

    def local(match):
        name = match["url"].rpartition("/")[2]
        copy = cache / name
        if not copy.exists():
            content = _from_address(match["url"], match["hash"]) or _from_npm(match["url"])
            if content is None:
                missing.append(match["url"])
                return match[0]
            copy.write_bytes(content)
        shutil.copy(copy, html / name)
        return f'{match["key"]}="{name}">'

    page = TAG.sub(local, page)
    if missing:
        print("neither available at its address nor from npm:", *missing)
        return False
    (html / "index.html").write_text(page, encoding="utf-8")
    return True


def _from_address(url, integrity):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            content = answer.read()
    except (URLError, OSError):
        return None
    kind, _, digest = integrity.partition("-")
    if base64.b64encode(hashlib.new(kind, content).digest()).decode() != digest:
        raise ValueError(f"{url} does not have the digest that asv's page states")
    return content


def _from_npm(url):
    """Fetch the same release from npm, which checks its own digests."""
    name = re.sub(r"(-[\d.]+)?(\.min)?\.js$", "", url.rpartition("/")[2]).replace(".min", "")
    version = re.search(r"(\d+\.\d+\.\d+)", url)
    if name not in NPM or version is None or shutil.which("npm") is None:
        return None
    package, path = NPM[name]
    if "@" not in package:
        package = f"{package}@{version[1]}"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", "--silent", package],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or not archives:
            return None
        with tarfile.open(archives[0]) as archive:
            return archive.extractfile(f"package/{path}").read()
