"""Input as it lies in memory: any layout gives the same model, a malformed matrix an error."""

import numpy as np
import pytest
from models import paper
from odd_memory import DENSE, MALFORMED, SPARSE
from scipy import sparse

import cwboost
from cwboost.testing.material import bind, context_of

FAMILIES = ("stump", "tree", "projection")
RNG = np.random.default_rng(0)
Y = np.sort(RNG.integers(0, 3, 120))
VALUES = np.round(RNG.normal(size=(120, 5)) + Y[:, None] / 2, 2) * (RNG.random((120, 5)) < 0.6)


def fitted(X, family, y=Y):
    return paper(family, n_estimators=6).fit(X, y)


def data(dtype):
    return (np.abs(VALUES) * 50).astype(dtype) if dtype == np.uint8 else VALUES.astype(dtype)


DTYPES = [np.uint8, np.int64, np.float32, np.float64]
# Every pair of a layout, a dtype and a family.
CASES = [
    (FAMILIES[(i + j) % 3], dtype, layout)
    for i, layout in enumerate(DENSE)
    for j, dtype in enumerate(DTYPES)
]


@pytest.mark.parametrize("family, dtype, layout", CASES)
def test_any_layout_precision_and_number_of_threads_give_the_same_model(
    family, dtype, layout, tmp_path
):
    """Values that float32 holds, so that both precisions are the same numbers."""
    X = data(np.float32 if np.dtype(dtype).kind == "f" else np.uint8)
    odd = DENSE[layout](X.astype(dtype), tmp_path)
    plain = fitted(X.astype(np.float64), family)
    scores = plain.decision_function(X)
    np.testing.assert_array_equal(plain.decision_function(odd), scores)
    again = paper(family, n_estimators=6, n_jobs=2).fit(odd, Y)
    np.testing.assert_array_equal(again.decision_function(X), scores)


@pytest.mark.parametrize("layout", sorted(set(DENSE) - {"big endian"}))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_reads_any_layout_without_a_classifier(family, layout, tmp_path):
    """Bound directly, as a plugin's author or another booster does; X or the weights."""
    X, weights = data(np.float32), np.random.default_rng(1).normal(size=(3, len(Y)))
    cases = [(X, weights), (DENSE[layout](X, tmp_path), weights)]
    if layout in ("field of 1", "field of 3", "unaligned"):  # rows of weights are contiguous
        cases.append((X, DENSE[layout](weights, tmp_path)))
    results = []
    for matrix, given in cases:
        priced = bind(cwboost.get_family(family)(), matrix, n_targets=3).price(given)
        results.append((priced.edges, priced.outputs, priced.learners.outputs(matrix)))
    for one, *others in zip(*results):
        for other in others:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("family", FAMILIES)
def test_any_sparse_format_gives_the_same_model(family, form):
    X = data(np.float64)
    plain = fitted(sparse.csr_array(X), family)
    odd = SPARSE[form](X)
    scores = plain.decision_function(sparse.csr_array(X))
    np.testing.assert_array_equal(plain.decision_function(odd), scores)
    np.testing.assert_array_equal(fitted(odd, family).decision_function(odd), scores)


@pytest.fixture(scope="module", params=[sparse.csr_array, sparse.csc_matrix])
def good(request):
    return request.param(data(np.float64))


@pytest.fixture(scope="module", params=FAMILIES)
def uses(request, good):
    """What reads a matrix: a classifier, and a family of its own."""
    model, family = fitted(good, request.param), cwboost.get_family(request.param)()
    learners = bind(family, good, n_targets=3).price(np.ones((3, len(Y)))).learners
    return (
        lambda X: fitted(X, request.param),
        model.decision_function,
        lambda X: list(model.staged_predict(X)),
        lambda X: family.bind(X, context_of(X, 0, 3, 1)),
        learners.outputs,
        learners.scorer(np.ones((3, 2))),
    )


@pytest.mark.parametrize("fault", MALFORMED)
def test_a_malformed_sparse_matrix_is_refused(good, uses, fault):
    X = MALFORMED[fault](good)
    for use in uses:
        with pytest.raises(ValueError, match=r"ind(ptr|ices)"):
            use(X)


def with_bad(array, place, value):
    X = sparse.csr_array(data(np.float64))
    getattr(X, array)[place] = value
    return X


def a_bad_coordinate():
    X = sparse.coo_array(data(np.float64))
    X.coords[1][3] = 2**30
    return X


def too_many_features():
    entries = np.ones(120), (np.arange(120), np.arange(120) * 2**24)
    return sparse.csr_array(entries, shape=(120, 2**31 + 1))


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: with_bad("indices", [7, 9], [5, -3]),
            r"indices\[7\] of X, in row \d, must be a column from 0 to 4, got 5",
        ),
        (lambda: with_bad("indptr", 4, 10_000), r"indptr\[4\] of X must be \d+ to \d+, got 10000"),
        (a_bad_coordinate, r"col\[3\] of X must be from 0 to 4"),
        (too_many_features, "at most 2147483647 features, got 2147483649"),
    ],
)
def test_the_error_names_the_first_bad_entry(make, message):
    with pytest.raises(ValueError, match=message):
        fitted(make(), "tree")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_more_than_2_31_rows_times_columns(family):
    """70,000 x 40,000 with few entries is the model of its columns that are in use."""
    used = np.array([3, 20_000, 39_999])
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [30_000, 30_000, 10_000])
    values = rng.integers(1, 9, (300, 3)).astype(np.float32)
    rows = np.sort(rng.choice(70_000, 300, replace=False))
    values += y[rows, None]
    small = sparse.lil_array((70_000, 3), dtype=np.float32)
    small[rows] = values
    small = small.tocoo()
    large = sparse.csr_array((small.data, (small.row, used[small.col])), shape=(70_000, 40_000))
    assert large.shape[0] * large.shape[1] > 2**31
    if family == "tree":
        family = cwboost.get_family("tree")(max_features=None, max_depth=3)
    model = paper(family, n_estimators=3).fit(large, y)
    scores = model.decision_function(large)
    assert np.isfinite(scores).all()
    assert model.score(large, y) > 0.42  # more than the share of the largest class
    if family != "projection":
        other = paper(family, n_estimators=3).fit(small.tocsr(), y)
        np.testing.assert_array_equal(other.decision_function(small.tocsr()), scores)
