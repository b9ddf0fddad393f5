"""show_config: what the kernels run on."""

import os
import subprocess
import sys

import numpy
import pytest
import scipy
import sklearn

import cwboost
from cwboost._kernels.common import cpu


def test_what_it_names():
    config = cwboost.show_config()
    assert config["instruction_set"] in config["instruction_sets_available"]
    assert config["instruction_sets_available"] == cpu.available()
    assert isinstance(config["openmp"], bool)
    assert config["threads"] == 1 if not config["openmp"] else config["threads"] >= 1
    assert config["python"] == ".".join(map(str, sys.version_info[:3]))
    assert config["cwboost"] == cwboost.__version__
    assert config["numpy"] == numpy.__version__
    assert config["scipy"] == scipy.__version__
    assert config["scikit-learn"] == sklearn.__version__


def test_it_prints_a_line_per_setting(capsys):
    config = cwboost.show_config(display=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(config)
    assert f"instruction_set: {config['instruction_set']}" in lines


@pytest.mark.slow
def test_it_follows_the_environment():
    """With the narrowest set; `_kernels/instruction_sets/test_bits.py` forces the others."""
    done = subprocess.run(
        [sys.executable, "-c", "import cwboost; cwboost.show_config(display=True)"],
        env={**os.environ, "CWBOOST_INSTRUCTION_SET": "plain"},
        capture_output=True,
        text=True,
    )
    assert "instruction_set: plain" in done.stdout.splitlines(), done.stderr
