"""Scores of similarity: what they say, and that their bits depend on nothing but the data."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

import cwboost.similarity.fitting as module
import cwboost.similarity.scores as scores
from cwboost.similarity import SimilarityScores
from cwboost.similarity.equal import mean_of_equals

HASHES = """
import hashlib, json
import numpy as np
from sklearn.datasets import load_digits
import cwboost.similarity.fitting as module
import cwboost.similarity.scores as scores
from cwboost.similarity import SimilarityScores
X, y = load_digits(return_X_y=True)
order = np.argsort(y, kind="stable")
X, y = X[order], y[order]
found = []
for few, most in ((2000, 2**14), (500, 2**14), (500, 1000)):
    module.FEW, module.LANDMARKS, module.MOST, scores.MOST = few, 300, most, most
    module.MORE_LANDMARKS, module.LANDMARKS_PER_ROOT = 400, 1.0
    similarity, levels = SimilarityScores.fit(X, y, 10, np.linspace(0.5, 1, len(y)), 2)
    arrays = [levels, similarity(X, 2), *similarity.arrays().values()]
    found += [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in arrays]
print(json.dumps(found))
"""


def by_class(load):
    X, y = load(return_X_y=True)
    order = np.argsort(y, kind="stable")
    return X[order], y[order]


@pytest.fixture(scope="module", params=["all", "landmarks", "some examples"])
def fitted(request):
    X, y = by_class(load_digits)
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "all":
            patch.setattr(module, "FEW", 500)
            patch.setattr(module, "LANDMARKS", 300)
            patch.setattr(module, "MORE_LANDMARKS", 400)
            patch.setattr(module, "LANDMARKS_PER_ROOT", 1.0)
        if request.param == "some examples":
            patch.setattr(module, "MOST", 1200)
            patch.setattr(scores, "MOST", 1200)
        similarity, levels = SimilarityScores.fit(X, y, 10, np.ones(len(y)))
        n_landmarks = {"all": len(y), "landmarks": 300, "some examples": 400}[request.param]
        assert len(similarity.landmarks) == n_landmarks
        yield X, y, similarity, levels


def test_examples_left_out_are_recognised(fitted):
    X, y, similarity, levels = fitted
    assert levels.shape == (len(y), 10) and levels.dtype == np.uint8
    assert (levels.argmax(axis=1) == y).mean() > 0.96
    assert (similarity(X).argmax(axis=1) == y).mean() > 0.98


def test_rows_threads_and_dtypes_do_not_matter(fitted, monkeypatch):
    X, _, similarity, _ = fitted
    whole = similarity(X)
    assert np.array_equal(whole[:50], np.vstack([similarity(X[i : i + 1]) for i in range(50)]))
    assert np.array_equal(whole, similarity(X, 2))
    for other in (
        np.asfortranarray(X),
        X.astype(np.uint8),
        sparse.csr_array(X),
        sparse.csc_array(X),
    ):
        assert np.array_equal(whole, similarity(other))
    monkeypatch.setattr(scores, "ENTRIES", 3000)
    assert np.array_equal(whole, similarity(X))


def test_fits_on_several_threads_are_equal(fitted):
    X, y, similarity, levels = fitted
    if len(similarity.landmarks) < len(y):
        pytest.skip("the limits are those of the fixture")
    other, again = SimilarityScores.fit(np.asfortranarray(X), y, 10, np.full(len(y), 0.7), 2)
    assert other.equals(similarity) and np.array_equal(again, levels)


@pytest.mark.slow
def test_the_same_bits_whatever_the_kernels_of_blas_and_numpy():
    """Sums of integers are exact, so that no order of summation shows."""
    settings = [
        {},
        {"OPENBLAS_CORETYPE": "Haswell", "CWBOOST_INSTRUCTION_SET": "sse2"},
        {"OPENBLAS_CORETYPE": "Prescott", "CWBOOST_INSTRUCTION_SET": "plain"},
        {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX AVX2 FMA3"},
    ]
    found = []
    for setting in settings:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", HASHES],
            env={**os.environ, **setting},
            capture_output=True,
            text=True,
        )
        if "not supported by your machine" in done.stderr or "NPY_DISABLE" in done.stderr:
            continue  # NumPy refuses to disable what the machine does not have
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    assert len(found) >= 2 and all(one == found[0] for one in found)


def test_two_classes_have_one_score():
    X, y = by_class(load_iris)
    X, y = X[y > 0], y[y > 0] - 1
    similarity, levels = SimilarityScores.fit(X, y, 2, np.ones(len(y)))
    assert similarity.n_scores == 1 and levels.shape == (100, 1)
    assert ((levels[:, 0] > 127) == (y == 0)).mean() > 0.9


def test_weights_count():
    """A light class among a heavy one loses where both are."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 1], 100)
    first = [
        SimilarityScores.fit(X, y, 2, np.where(y == 0, w, 1.0))[0](X).mean() for w in (0.1, 1, 10)
    ]
    assert first[0] < first[1] < first[2]


def test_equal_examples_have_no_scores():
    assert SimilarityScores.fit(np.ones((6, 2)), np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6)) == (
        None,
        None,
    )


def test_missing_values_become_means():
    X, y = by_class(load_iris)
    similarity, _ = SimilarityScores.fit(X, y, 3, np.ones(len(y)))
    assert similarity.filled(X) is X and similarity.filled(X.astype(np.uint8)).dtype == np.uint8
    np.testing.assert_allclose(similarity.fill, X.mean(axis=0), atol=X.std(axis=0).max() / 16)
    holed = X.copy()
    holed[3, 1] = holed[5, 2] = np.nan
    filled = similarity.filled(holed)
    assert filled[3, 1] == similarity.fill[1] and filled[5, 2] == similarity.fill[2]
    assert np.isnan(holed[3, 1]) and np.isfinite(filled).all()
    for form in (sparse.csr_array, sparse.csc_array):
        assert np.array_equal(similarity.filled(form(holed)).toarray(), filled)


def test_slopes_find_the_feature_that_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 1] > 0).astype(int)
    order = np.argsort(y, kind="stable")
    similarity, _ = SimilarityScores.fit(X[order], y[order], 2, np.ones(400))
    (shares,) = similarity.slopes()
    assert shares.sum() == pytest.approx(1) and shares[1] > 0.8


def test_slopes_are_derivatives():
    X, y = by_class(load_iris)
    similarity, _ = SimilarityScores.fit(X, y, 3, np.ones(len(y)))
    points = similarity.landmarks.astype(float)
    coefficients, width = similarity.coefficients, similarity.width

    def scores(codes):
        squared = np.square(codes[:, None] - points).sum(axis=2)
        return (1 + squared / (4 * width)) ** -4.0 @ coefficients

    step = 1e-4 * np.eye(4)
    slopes = np.array([(scores(points + e) - scores(points - e)) / 2e-4 for e in step])
    expected = np.square(slopes).sum(axis=1)  # features by scores
    expected *= points.var(axis=0)[:, None]
    np.testing.assert_allclose(similarity.slopes(), (expected / expected.sum(axis=0)).T, rtol=1e-4)


def test_arrays_go_round():
    X, y = by_class(load_iris)
    similarity, _ = SimilarityScores.fit(X, y, 3, np.ones(len(y)))
    again = SimilarityScores.from_arrays(similarity.arrays(), 4, 3)
    assert again.equals(similarity) and np.array_equal(again(X), similarity(X))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pop("fill"),
        lambda a: a.update(extra=np.ones(3)),
        lambda a: a.update(centre=np.ones(3)),
        lambda a: a.update(centre=a["centre"].astype(np.float32)),
        lambda a: a.update(scale=[1.0] * 4),
        lambda a: a.update(landmarks=a["landmarks"][:, :3].copy()),
        lambda a: a.update(landmarks=a["landmarks"][:0]),
        lambda a: a.update(landmarks=a["landmarks"].astype(np.int16)),
        lambda a: a.update(coefficients=a["coefficients"][1:]),
        lambda a: a.update(coefficients=a["coefficients"][:, :2].copy()),
        lambda a: a.update(coefficients=np.full_like(a["coefficients"], np.inf)),
        lambda a: a.update(coefficients=np.full_like(a["coefficients"], 1e300)),
        lambda a: a.update(width=np.array(0.0)),
        lambda a: a.update(width=np.array(np.nan)),
        lambda a: a.update(width=np.ones(1)),
    ],
)
def test_wrong_arrays_are_refused(change):
    X, y = by_class(load_iris)
    arrays = SimilarityScores.fit(X, y, 3, np.ones(len(y)))[0].arrays()
    change(arrays)
    with pytest.raises(ValueError, match="similarity_"):
        SimilarityScores.from_arrays(arrays, 4, 3)


def test_equal_examples_have_equal_scores_whatever_their_labels(monkeypatch):
    """Else the score that leaves an example out would tell its label among those."""
    rng = np.random.default_rng(0)
    kinds = rng.normal(size=(12, 3))
    kind = np.repeat(np.arange(12), 50)
    y = (rng.random(600) < rng.uniform(0.2, 0.8, 12)[kind]).astype(int)
    order = np.argsort(y, kind="stable")
    X, y, kind = kinds[kind][order], y[order], kind[order]
    for few in (2000, 200):
        monkeypatch.setattr(module, "FEW", few)
        monkeypatch.setattr(module, "LANDMARKS", 100)
        similarity, levels = SimilarityScores.fit(X, y, 2, rng.uniform(0.5, 1, 600))
        assert [len(np.unique(levels[kind == k])) for k in range(12)] == [1] * 12
        shares = [y[kind == k].mean() for k in range(12)]
        of_kinds = similarity(kinds).ravel().astype(float)
        assert np.corrcoef(shares, of_kinds)[0, 1] < -0.9  # the score is that of the first class


def test_scores_of_equal_examples_are_weighted_means():
    scores = np.array([[1.0, -1.0], [3.0, 0.0], [5.0, 2.0]])
    codes = np.array([[1, 2], [1, 2], [2, 1]], dtype=np.int8)
    found = mean_of_equals(scores, codes, np.array([3.0, 1.0, 7.0]))
    np.testing.assert_array_equal(found, [[1.5, -0.75], [1.5, -0.75], [5.0, 2.0]])
    assert mean_of_equals(scores, codes + np.arange(3, dtype=np.int8)[:, None], None) is scores
