"""The API page names every public name."""

from pathlib import Path

import pytest

import cwboost

PAGE = Path(__file__).resolve().parents[2] / "docs/api.md"


@pytest.mark.skipif(not PAGE.exists(), reason="needs a checkout")
def test_every_public_name_is_on_the_api_page():
    listed = {line.strip() for line in PAGE.read_text(encoding="utf-8").splitlines()}
    assert sorted(set(cwboost.__all__) - {"__version__"} - listed) == []
