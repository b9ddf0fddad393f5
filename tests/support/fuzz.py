"""Feed mutated files to cwboost: ``python tests/support/fuzz.py MUTATIONS [SEED [PART...]]``.

The parts are those of `PARTS`: model files of each family, checkpoints, text and NPZ files of the
command line, and odd models for export to ONNX.
"""

import contextlib
import random
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from fuzz_onnx import run as run_onnx
from fuzz_tables import run as run_tables
from mutations import assert_harmless, every_field, mutated, prepared, write_field
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from wave_family import Waves

from cwboost import CWBoostClassifier, SklearnFamily, load_model, register_family

FAMILIES = {
    "stump": "stump",
    "tree": "tree",
    "projection": "projection",
    "mixture": ["stump", "tree", "projection"],
    "auto": "auto",  # with the kernel model
    "tree of scikit-learn": SklearnFamily(DecisionTreeClassifier(max_depth=2)),
    "linear model of scikit-learn": SklearnFamily(LogisticRegression()),
    "third-party": Waves(10),
    "default": "auto",  # stage-wise
}
PARAMETERS = {"default": {"correction": "stagewise", "n_estimators": 20}}
X, Y = load_iris(return_X_y=True)


SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else None


def trained(family, **params):
    params = {"correction": "total", "n_estimators": 8, "random_state": 0, **params}
    return CWBoostClassifier(FAMILIES[family], warm_start=True, **params).fit(X, Y)


@contextlib.contextmanager
def kept_if_it_fails(path, name):
    """Keep a file that a mutation made if reading it shows a defect."""
    try:
        yield
    except BaseException:
        kept = Path(tempfile.gettempdir(), f"cwboost-fuzz-{name}{path.suffix}")
        kept.write_bytes(path.read_bytes())
        print(f"see {kept}", flush=True)
        raise


def run(family, mutations, seed):
    """Load so many mutated files of a family's model; return how many were accepted.

    Every other mutation puts an odd value into a field of the header, until each field has had each
    value; the others are drawn.
    """
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        path = Path(folder, "model.cwb")
        model_file = prepared(trained(family, **PARAMETERS.get(family, {})), path)
        fields = every_field(rng, model_file)
        accepted = 0
        for number in range(mutations):
            if number % 2 and fields:
                write_field(path, model_file, *fields.pop())
            else:
                mutated(rng, path, model_file)
            with kept_if_it_fails(path, f"{family}-{seed}-{number}"):
                accepted += assert_harmless(path, X)
    return accepted


def run_checkpoints(mutations, seed):
    """Continue training from so many mutated training states; return how many were accepted."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        path = Path(folder, "checkpoint.cwb")
        model_file = prepared(trained("stump", C=100.0, n_estimators=3), path)
        accepted = 0
        for number in range(mutations):
            mutated(rng, path, model_file, within="training_state")
            with kept_if_it_fails(path, f"checkpoint-{seed}-{number}"):
                accepted += continues_or_refuses(path)
    return accepted


def continues_or_refuses(path):
    """Train another round; the objective must be that of the coefficients, the bound below it."""
    try:
        clf = load_model(path)
        clf.set_params(n_estimators=clf.n_iter_ + 1).fit(X, Y)
    except ValueError:
        return False
    scores = clf.ensemble_.scores(X)
    pairs = np.exp(scores - scores[np.arange(len(Y)), Y, None]).sum() - len(Y)
    n_pairs = len(Y) * (scores.shape[1] - 1)
    objective = clf.ensemble_.coef().sum() + clf.C / n_pairs * pairs
    np.testing.assert_allclose(clf.history_["objective"][-1], objective, rtol=1e-6)
    bound = clf.history_["dual_bound"][-1]
    assert np.isnan(bound) or bound <= objective * (1 + 1e-6)
    return True


PARTS = {
    **{family: partial(run, family) for family in FAMILIES},
    "checkpoint": run_checkpoints,
    "tables": run_tables,
    "ONNX": run_onnx,
}


def main(mutations, seed="", *parts):
    seed = int(seed) if seed else random.SystemRandom().randrange(2**32)
    print(f"seed {seed}", flush=True)
    register_family(Waves)
    for name in parts or PARTS:
        start = time.process_time()
        accepted = PARTS[name](int(mutations), seed)
        seconds = time.process_time() - start
        print(f"{name}: {mutations} mutations, {accepted} accepted, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
