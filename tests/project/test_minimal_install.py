"""What works with the required packages alone, and what the rest says that it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = """
import sys

OPTIONAL = {
    "PIL", "dask", "distributed", "matplotlib", "onnx", "onnxruntime", "pandas", "polars", "pooch",
    "pyarrow", "pytest", "requests", "tqdm",
}

class Hide:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide)
"""


def run(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_training_needs_the_required_packages_only(tmp_path):
    """Fit, predict, save, load, the command line and the conformance suite work.

    The other parts name their extra.
    """
    program = """
from pathlib import Path

import numpy as np

from cwboost import CWBoostClassifier, load_model, plotting, to_onnx
from cwboost.cli import main
from cwboost.datasets import fetch, load_vowel
from cwboost.datasets.formats.images import read_grey
from cwboost.testing import check_plugin
from reference_family import ReferenceStump

X, y = load_vowel(return_X_y=True)
for family in ("stump", "tree", "projection"):
    clf = CWBoostClassifier(weak_learner=family, n_estimators=2, random_state=0).fit(X, y)
    clf.save("model")
    assert (load_model("model").predict_proba(X) == clf.predict_proba(X)).all()
np.savez("data.npz", X=X, y=y)
Path("data.parquet").touch()
Path("data.csv").touch()
assert main(["fit", "data.npz", "model", "--rounds", "2"]) == 0
assert main(["datasets"]) == 0
assert main(["evaluate", "model", "data.parquet"]) == 1
assert main(["evaluate", "model", "data.csv"]) == 1
for use, packages in [
    (lambda: clf.set_params(verbose=1).fit(X, y), "tqdm"),
    (lambda: fetch("USPS", "."), "pooch requests tqdm unlzw3"),
    (lambda: plotting.plot_history(clf), "matplotlib"),
    (lambda: to_onnx(clf), "onnx onnxruntime"),
    (lambda: clf.to_frame(), "pandas"),
    (lambda: read_grey("a.png", 4), "pillow"),
]:
    try:
        use()
    except ImportError as error:
        assert str(error).endswith(f"pip install {packages}"), error
    else:
        raise SystemExit(f"no error that names {packages}")
check_plugin(ReferenceStump())
"""
    support = Path(__file__).parents[1] / "support"
    run(f"{HIDDEN}sys.path.append({str(support)!r})\n{program}", tmp_path)


@pytest.mark.slow
def test_an_import_loads_little_beyond_scikit_learn(tmp_path):
    """Modules of others are counted, since their time depends on the machine."""
    program = """
import sys, sklearn
before = set(sys.modules)
import cwboost
print(*set(sys.modules) - before)
from cwboost import CWBoostClassifier
print(*set(sys.modules) - before)
"""
    package, classifier = (line.split() for line in run(program, tmp_path).splitlines())
    for loaded, more, count in ((package, set(), 20), (classifier, {"sklearn"}, 100)):
        assert {name.partition(".")[0] for name in loaded} <= {"cwboost", "email", "pluggy"} | more
        assert sum(not name.startswith("cwboost") for name in loaded) <= count
