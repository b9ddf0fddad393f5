"""Every classifier with every family: training, searching hyper-parameters, saving, memory."""

import subprocess
import sys

import numpy as np
import pytest
from models import CLASSIFIERS, stages

from cwboost import load_model
from cwboost.datasets import load_pendigits, load_vowel

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes there")
NAMES = np.array([f"vowel {c}" for c in range(11)])


@pytest.fixture(scope="module")
def vowel():
    X, y = load_vowel(return_X_y=True)
    return X, NAMES[y]


@pytest.mark.parametrize("weak_learner", ["stump", "tree", "projection"])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_models_learn_and_saved_ones_predict_the_same_bits(
    classifier, weak_learner, vowel, tmp_path
):
    X, y = vowel
    clf = classifier(weak_learner=weak_learner, n_estimators=30, random_state=0).fit(X, y)
    assert clf.family_.name == weak_learner and clf.score(X, y) > 0.4
    for staged in (True, False):
        clf.save(tmp_path / "model", staged=staged)
        loaded = load_model(tmp_path / "model")
        assert type(loaded) is classifier and loaded.get_params() == clf.get_params()
        np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
        np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
        np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weak_learner", "least"), [("stump", 0.9), ("tree", 0.94), ("projection", 0.92)]
)
def test_every_family_trains_on_pendigits(weak_learner, least):
    train = load_pendigits(subset="train", return_X_y=True)
    test = load_pendigits(subset="test", return_X_y=True)
    rate = 1.0 if weak_learner == "stump" else 0.4
    clf = stages(weak_learner, n_estimators=30, C=1e8, learning_rate=rate).fit(*train)
    assert clf.score(*test) > least


HEAD = """
import resource
import numpy as np
from scipy import sparse
from cwboost import CWBoostClassifier

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MB

def fitted(X, y):
    for name in "stump", "tree", "projection":
        clf = CWBoostClassifier(name, init=None, n_estimators=2, learning_rate=1.0)
        yield clf.fit(X, y)

rng = np.random.default_rng(0)
"""
WIDE = """
n, d, a_row = 10_000, 50_000, 100
indices = rng.integers(0, d, n * a_row).astype(np.int32)
X = sparse.csr_array((np.ones(n * a_row, np.float32), indices, np.arange(0, n * a_row + 1, a_row)),
                     shape=(n, d))
X.sum_duplicates()
before = peak()
for clf in fitted(X, rng.integers(0, 5, n)):
    clf.predict(X)
print(peak() - before)
"""
LONG = """
X = rng.integers(0, 256, (30_000, 784), dtype=np.uint8)
models = list(fitted(X[:500], rng.integers(0, 5, 500)))
for clf in models:
    clf.predict(X[:500])
before = peak()
for clf in models:
    clf.predict(X)
print(peak() - before)
"""


def megabytes(program):
    """Run `HEAD` and a program, which try every family, in a separate process."""
    command = [sys.executable, "-c", HEAD + program]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@on_linux
@pytest.mark.slow
def test_bags_of_words_take_memory_of_their_entries():
    """10,000 x 50,000 at 0.2%: 8 MB as CSR, 500 MB as dense bytes, 4 GB as dense doubles."""
    assert megabytes(WIDE) < 250


@on_linux
@pytest.mark.slow
def test_memory_of_prediction_stays_flat():
    """30,000 images are 22 MB; as doubles they would be 188 MB."""
    assert megabytes(LONG) < 30
