"""Load mutated model files of every family: ``python tests/support/fuzz.py MUTATIONS [SEED]``."""

import random
import sys
import tempfile
import warnings
from pathlib import Path

from mutations import assert_harmless, mutated, prepared
from sklearn.datasets import load_iris

from cwboost import CWBoostClassifier

FAMILIES = ("stump", "tree", "projection", ["stump", "tree", "projection"])
X, Y = load_iris(return_X_y=True)


def run(family, mutations, seed):
    """Load so many mutated files of a family's model; return how many were accepted."""
    rng = random.Random(seed)
    model = CWBoostClassifier(
        family, correction="total", n_estimators=8, random_state=0, warm_start=True
    ).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.cwb")
        parts = prepared(model, path)
        accepted = 0
        for number in range(mutations):
            mutated(rng, path, *parts)
            try:
                accepted += assert_harmless(path, X)
            except BaseException:
                kept = Path(tempfile.gettempdir(), f"cwboost-fuzz-{seed}-{number}.cwb")
                kept.write_bytes(path.read_bytes())
                print(f"{family}, seed {seed}, mutation {number}: see {kept}", flush=True)
                raise
    return accepted


def main(mutations, seed=None):
    seed = random.SystemRandom().randrange(2**32) if seed is None else int(seed)
    print(f"seed {seed}", flush=True)
    for family in FAMILIES:
        accepted = run(family, int(mutations), seed)
        print(f"{family}: {mutations} mutations, {accepted} accepted", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
