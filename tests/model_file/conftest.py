"""What the tests of model files share."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.cwb"
