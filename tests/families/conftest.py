"""Distributions with plugins, on the path for one test."""

import importlib
import sys
from importlib import metadata

import pytest
from plugin_folder import HEALTHY, write_distribution

from cwboost.families import discovery


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put distributions on the path for one test: ``install(name, version, module=source)``.

    A module "mine_plugin" gets the entry point "mine" by default.

    Those of the environment, hundreds, are not read.
    """
    before, everywhere = set(sys.modules), metadata.distributions
    monkeypatch.setattr(
        metadata,
        "distributions",
        lambda: everywhere(path=[p for p in sys.path if p.startswith(str(tmp_path))]),
    )
    monkeypatch.delenv("CWBOOST_PLUGINS", raising=False)
    monkeypatch.delenv("CWBOOST_DISABLE_PLUGINS", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name, version, entry_points=None, **modules):
        points = entry_points or {module.removesuffix("_plugin"): module for module in modules}
        info = write_distribution(tmp_path, name, version, points, modules)
        importlib.invalidate_caches()
        discovery.refresh()
        return info

    yield install
    for module in set(sys.modules) - before:
        if str(getattr(sys.modules[module], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[module]
    discovery.refresh()


@pytest.fixture
def healthy(install):
    install("healthy-dist", "2.1", **HEALTHY)
    return install
