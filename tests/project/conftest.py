"""What pyproject.toml declares."""

import sys

import pytest
from sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # comes with the package build


@pytest.fixture(scope="session")
def pyproject():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def project(pyproject):
    return pyproject["project"]
