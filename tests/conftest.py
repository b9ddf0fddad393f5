"""Fixtures that several test modules share."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plugin_folder import write_distribution
from reference_family import ReferenceStump

import cwboost
from cwboost.datasets import load_vowel
from cwboost.families import discovery, registry
from cwboost.kernels import threads

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Order the files for several workers: those of the wheel first, then those with slow tests.

    tools/run_tests.sh gives whole files to a worker, in this order.
    """
    of_wheel = {item.path for item in items if "distributions" in item.fixturenames}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in of_wheel, item.path not in slow))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def c_compiler():
    """The command of the C compiler; tests that need one are skipped if there is none."""
    command = os.environ.get("CC", "cc").split()
    if not shutil.which(command[0]):
        pytest.skip(f"needs a C compiler, found no {command[0]}")
    return command


@pytest.fixture(scope="session")
def distributions(tmp_path_factory, request):
    """A source distribution, the wheel built from it, and what the compiler printed.

    `make test` has built them (tools/build_wheel.sh). Otherwise they are built here, from a copy
    of the checkout, since workers side by side would disturb each other in it.
    """
    built = os.environ.get("CWBOOST_DISTRIBUTIONS")
    if not built:
        request.getfixturevalue("c_compiler")
    folder = Path(built) if built else build_distributions(tmp_path_factory.mktemp("dist"))
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel, (folder / "build.log").read_text()


def build_distributions(folder):
    tree = folder / "checkout"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".*", "*.egg-info", "*.so"))
    done = subprocess.run(
        ["sh", "tools/build_wheel.sh", sys.executable],
        cwd=tree,
        # Without variables that let the build find the source tree or this environment.
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"build_wheel.sh failed:\n{done.stdout[-4000:]}"
    return tree / "build" / "wheel"


@pytest.fixture
def register(monkeypatch):
    """`register_family`, undone after the test."""
    known = dict(registry.WEAK_LEARNERS._registered)
    monkeypatch.setattr(registry.WEAK_LEARNERS, "_registered", known)
    return cwboost.register_family


@pytest.fixture(autouse=True)
def many_cores(monkeypatch):
    """Let kernels take as many threads as a test asks for, however few cores there are."""
    monkeypatch.setattr(threads, "cpu_count", lambda: 8)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def vowel():
    return load_vowel(return_X_y=True)


@pytest.fixture(scope="session")
def halves(vowel):
    """VOWEL for training and, after it, for tests."""
    X, y = vowel
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The reference family, registered by a separate distribution."""
    folder = tmp_path_factory.mktemp("third_party")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.delenv("CWBOOST_PLUGINS", raising=False)
        write_distribution(
            folder, "reference-stumps", "3.1", {"reference_stump": "reference_family"}, {}
        )
        importlib.invalidate_caches()
        discovery.refresh()
        yield ReferenceStump
    discovery.refresh()
