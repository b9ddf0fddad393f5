"""Load mutated model files of every family: ``python tests/support/fuzz.py MUTATIONS [SEED]``."""

import random
import sys
import tempfile
import warnings
from pathlib import Path

from mutations import assert_harmless, every_field, mutated, prepared, write_field
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from wave_family import Waves

from cwboost import CWBoostClassifier, register_family
from cwboost.families import SklearnFamily

FAMILIES = {
    "stump": "stump",
    "tree": "tree",
    "projection": "projection",
    "mixture": ["stump", "tree", "projection"],
    "tree of scikit-learn": SklearnFamily(DecisionTreeClassifier(max_depth=2)),
    "linear model of scikit-learn": SklearnFamily(LogisticRegression()),
    "third-party": Waves(10),
}
X, Y = load_iris(return_X_y=True)


def run(family, mutations, seed):
    """Load so many mutated files of a family's model; return how many were accepted.

    Every other mutation puts an odd value into a field of the header, until each field has had each
    value; the others are drawn.
    """
    rng = random.Random(seed)
    params = {"correction": "total", "n_estimators": 8, "random_state": 0, "warm_start": True}
    model = CWBoostClassifier(FAMILIES[family], **params).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.cwb")
        data, header, arrays = prepared(model, path)
        fields = every_field(rng, header)
        accepted = 0
        for number in range(mutations):
            if number % 2 and fields:
                write_field(path, header, arrays, *fields.pop())
            else:
                mutated(rng, path, data, header, arrays)
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
    register_family(Waves)
    for family in FAMILIES:
        accepted = run(family, int(mutations), seed)
        print(f"{family}: {mutations} mutations, {accepted} accepted", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
