"""Programs that are frozen: PyInstaller finds what a fit, a file and a command import."""

import runpy
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

PROGRAM = """
import os, sys, tempfile
import numpy as np
from cwboost import CWBoostClassifier, load_model
from cwboost.cli import main
X = np.random.default_rng(0).normal(size=(80, 3))
clf = CWBoostClassifier(n_estimators=3, random_state=0).fit(X, X[:, 0] > 0)
path = os.path.join(tempfile.mkdtemp(), "m")
clf.save(path)
assert (load_model(path).predict_proba(X) == clf.predict_proba(X)).all()
assert main(["inspect", path]) == 0
print(*sorted(name for name in sys.modules if name.split(".")[0] == "cwboost"), file=sys.stderr)
"""


@pytest.mark.slow
def test_the_hook_names_what_is_imported_by_name():
    pytest.importorskip("PyInstaller")
    (entry,) = metadata.entry_points(group="pyinstaller40", name="hook-dirs").select(
        value="cwboost.freezing:hook_dirs"
    )
    (folder,) = entry.load()()
    hook = runpy.run_path(str(Path(folder, "hook-cwboost.py")))
    found = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    loaded = {name for name in found.stderr.split() if name.startswith("cwboost.")}
    assert len(loaded) > 100
    by_name = "cwboost._kernels", "cwboost.plugins", "cwboost.commands"
    assert {name for name in loaded if name.startswith(by_name)} <= set(hook["hiddenimports"])
    assert any("cwboost" in target for _, target in hook["datas"])
