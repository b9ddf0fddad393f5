"""Memory of training and prediction, with every family."""

import sys

import pytest
from in_process import output_of

PROGRAM = """
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
X = rng.integers(0, 256, (15_000, 784), dtype=np.uint8)
models = list(fitted(X[:500], rng.integers(0, 5, 500)))
for clf in models:
    clf.predict(X[:500])
before = peak()
for clf in models:
    clf.predict(X)
print(peak() - before)

n, d, a_row = 8_000, 30_000, 100
indices = rng.integers(0, d, n * a_row).astype(np.int32)
X = sparse.csr_array((np.ones(n * a_row, np.float32), indices, np.arange(0, n * a_row + 1, a_row)),
                     shape=(n, d))
X.sum_duplicates()
before = peak()
for clf in fitted(X, rng.integers(0, 5, n)):
    clf.predict(X)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss counts kilobytes there")
def test_memory_is_that_of_entries_and_of_few_rows():
    """Of prediction: 15,000 images are 11 MB; as doubles they would be 94 MB.

    Of bags of words: 8,000 x 30,000 at 0.3% are 6 MB as CSR, 240 MB as dense bytes, 2 GB as dense
    doubles.
    """
    images, words = map(float, output_of("-c", PROGRAM).split())
    assert images < 30 and words < 250
