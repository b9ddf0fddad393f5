"""show_config: what the kernels run on."""

import os
import sys
import sysconfig

import numpy
import pytest
import scipy
import sklearn
from in_process import output_of

import cwboost
from cwboost._kernels.common import cpu


def test_what_it_names_and_prints(capsys):
    config = cwboost.show_config(display=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == list(config)
    assert f"instruction_set: {config['instruction_set']}" in lines
    assert config["instruction_set"] in config["instruction_sets_available"] == cpu.available()
    assert config["threads"] >= 1 if config["openmp"] is True else config["threads"] == 1
    assert config["python"] == ".".join(map(str, sys.version_info[:3]))
    for package in (cwboost, numpy, scipy):
        assert config[package.__name__] == package.__version__
    assert config["scikit-learn"] == sklearn.__version__


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs an interpreter without a lock"
)
def test_no_module_switches_the_global_lock_on():
    """Each compiled module is imported, and the interpreter warns if one needs the lock."""
    program = """if True:
        import importlib, pathlib, sys, sysconfig, cwboost
        root = pathlib.Path(cwboost.__file__).parent
        suffix = sysconfig.get_config_var("EXT_SUFFIX")
        modules = [path.relative_to(root.parent) for path in root.rglob(f"*{suffix}")]
        assert len(modules) > 40, modules
        for path in modules:
            importlib.import_module(".".join([*path.parts[:-1], path.name.partition(".")[0]]))
        import cwboost.classifier
        sys.exit(sys._is_gil_enabled())
    """
    environment = {key: value for key, value in os.environ.items() if key != "PYTHON_GIL"}
    output_of("-W", "error", "-c", program, env=environment)
