"""Checks of fitted learners: prediction, storage, loading, selection and concatenation."""

import io
import pickle
import sys
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np
from scipy import sparse

from cwboost.families.registry import NAME
from cwboost.families.sealing.faults import check_array
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.sample import read_only
from cwboost.testing.material import (
    as_bytes,
    assert_signs,
    audited,
    fitted,
    pixels,
    reals,
    same_arrays,
    stored,
    with_missing,
)

FORBIDDEN = ("pickle.find_class", "exec", "compile", "import", "marshal.loads", "os.system")
"""Audit events that show arrays being read as code."""


def check_rows(plugin):
    """Check that outputs, or scores, of a row depend neither on other rows nor on the layout."""
    X = pixels(200, seed=30)
    own = stored(plugin, pixels())
    answer = partial(own.answer, own.made)
    expected = answer(X)
    rows = np.vstack([answer(X[i : i + 1]) for i in range(20)])
    for what, found, wanted in (
        ("one row at a time", rows, expected[:20]),
        ("rows in reverse", answer(X[::-1]), expected[::-1]),
        ("every third row", answer(X[::3]), expected[::3]),
        ("Fortran order", answer(np.asfortranarray(X)), expected),
        ("float32", answer(X.astype(np.float32)), expected),
        ("uint8", answer(as_bytes(X)), expected),
    ):
        assert np.array_equal(found, wanted), f"predictions differ: {what}"


def check_threads(plugin):
    """Check that outputs, or scores, do not depend on calls in other threads at the same time."""
    own = stored(plugin, pixels())
    parts = [pixels(400, seed=seed) for seed in range(4)]
    expected = [own.answer(own.made, X) for X in parts]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(parts)) as pool:
            found = list(pool.map(partial(own.answer, own.made), parts * 25))
    finally:
        sys.setswitchinterval(before)
    same = map(np.array_equal, found, expected * 25)
    assert all(same), "predictions differ if several threads predict at the same time"


def check_arrays_round_trip(plugin):
    """Check that from_arrays(arrays()) restores what was made, also through an NPZ file."""
    X = pixels()
    own = stored(plugin, X)
    arrays, answers = own.made.arrays(), own.answer(own.made, X)
    assert isinstance(arrays, dict) and arrays, "arrays() must return a dict of arrays"
    for name, array in arrays.items():
        # A batch of several families puts "NAME/" or "NAME NUMBER/" before an array's name.
        parts = name.split("/") if isinstance(name, str) else [""]
        known = len(parts) <= 2 and all(NAME.fullmatch(part.split(" ")[0]) for part in parts[:-1])
        assert known and parts[-1].isidentifier(), f"{name!r} is not an array name"
        assert isinstance(array, np.ndarray), f"{name} must be an ndarray, got {type(array)}"
        assert array.dtype.kind in "biuf", f"{name} must hold numbers, got dtype {array.dtype}"
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    stream.seek(0)
    with np.load(stream) as file:
        read = {name: read_only(file[name]) for name in file.files}
    for what, source in (("arrays()", arrays), ("an NPZ file", read)):
        rebuilt = own.read(source, X.shape[1])
        assert same_arrays(rebuilt, own.made), f"{what}: the arrays changed"
        assert np.array_equal(own.answer(rebuilt, X), answers), f"{what}: predictions differ"


def check_pickle(plugin):
    """Check that pickling preserves learners, or a fitted init model."""
    X = pixels()
    own = stored(plugin, X)
    copy = pickle.loads(pickle.dumps(own.made))
    assert same_arrays(copy, own.made), "pickling changed the arrays"
    assert np.array_equal(own.answer(copy, X), own.answer(own.made, X)), "predictions differ"


def check_take_and_concatenate(family):
    """Check that take and concatenate keep the order of learners, also for empty batches."""
    X = pixels()
    learners = fitted(family, X)
    outputs = learners.outputs(X)
    for indices in ([0], [3, 1, 1, 7], list(range(8)), np.array([5, 2], dtype=np.int64)):
        taken = learners.take(indices)
        assert isinstance(taken, family.learners_type), f"take returns {type(taken).__name__}"
        assert np.array_equal(taken.outputs(X), outputs[:, indices]), f"take({indices}) is wrong"
    empty = learners.take([])
    assert len(empty) == 0, f"take([]) has {len(empty)} learners"
    assert_signs(empty.outputs(X), (len(X), 0), "outputs of an empty batch")
    stored = family.learners_type.from_arrays(empty.arrays(), X.shape[1])
    assert len(stored) == 0, f"from_arrays(arrays()) of an empty batch has {len(stored)} learners"

    other = fitted(family, pixels(seed=31), n_targets=5)
    joined = family.learners_type.concatenate([learners, empty, other, learners.take([2])])
    assert len(joined) == 14, f"concatenate of 8 + 0 + 5 + 1 learners has {len(joined)}"
    expected = np.hstack([outputs, other.outputs(X), outputs[:, [2]]])
    assert np.array_equal(joined.outputs(X), expected), "concatenate changes outputs"
    assert np.array_equal(joined.take([13, 8]).outputs(X), expected[:, [13, 8]]), (
        "take from a concatenated batch is wrong"
    )


def check_scores(family):
    """Check that the function that scorer returns gives outputs @ coef.

    Coefficients may be dense or sparse, negative, or all zero in a column. The bits are the same
    for any chunks of rows and any number of threads.
    """
    X = read_only(np.vstack([pixels(90, 4, seed=32), reals(30, 4)]))
    learners = fitted(family, pixels(), n_targets=16)
    rng = np.random.default_rng(33)
    coef = rng.standard_normal((16, 5)) * rng.integers(0, 2, size=(16, 5))
    coef[:, 2] = 0.0
    expected = learners.outputs(X).astype(np.float64) @ coef
    slack = 1e-12 * np.abs(coef).sum()
    score = learners.scorer(sparse.csr_array(coef))
    found = {
        "scorer": score(X),
        "scorer, dense coef": learners.scorer(coef)(X),
        "scorer, float32": score(X[:90].astype(np.float32)),
        "scorer, uint8": score(as_bytes(X[:90])),
        "scorer, Fortran order": score(np.asfortranarray(X)),
    }
    for what, scores in found.items():
        rows = expected[: len(scores)]
        check_array(what, scores, np.dtype(np.float64), rows.shape, AssertionError)
        error = np.abs(scores - rows).max()
        assert error <= slack, f"{what}: differs from outputs @ coef by {error}"
    for what, scores in (
        ("two threads", score(X, n_threads=2)),
        ("one row at a time", np.vstack([score(X[i : i + 1]) for i in range(len(X))])),
        ("chunks of 7 rows", np.vstack([score(X[i : i + 7]) for i in range(0, len(X), 7)])),
    ):
        assert np.array_equal(scores, found["scorer"]), f"scorer: bits differ with {what}"
    nothing = learners.take([]).scorer(np.zeros((0, 5)))(X)
    assert nothing.shape == (len(X), 5) and not nothing.any(), "an empty batch must score 0"


def check_flat_form(family):
    """Check flat_form, if implemented: the form, and the scorer, give the learners' outputs.

    The check covers missing values if the family accepts them.
    """
    X = pixels(40, 4)
    learners = fitted(family, X)
    if family.capabilities.missing_values:
        X = np.vstack([X, with_missing(X)])
    check_forms(learners, family, X)
    trees = learners.flat_form()
    if trees is not None:
        trees.check(X.shape[1] if trees.directions is None else trees.directions.shape[1])


def check_damaged_arrays(plugin):
    """Check that from_arrays refuses the arrays of a damaged or hostile file.

    A missing array, or an array of Python objects, must raise ValueError. For any other damage
    from_arrays must raise ValueError, or return what predicts: outputs of -1 and +1, or finite
    scores.
    """
    X = pixels()
    _check_damage(stored(plugin, X), X)


def _check_damage(own, X):
    good = own.made.arrays()
    for name in good:
        missing = {other: array for other, array in good.items() if other != name}
        for what, arrays in (
            (f"without {name}", missing),
            (f"{name} with dtype object", {**good, name: good[name].astype(object)}),
        ):
            assert _refused(own, arrays, X, what), f"{what}: must raise ValueError, got no error"
        for what, array in _damaged(good[name]):
            _refused(own, {**good, name: array}, X, f"{name} {what}")
    for n_features in (1, 0):
        _refused(own, good, X[:, :n_features], f"n_features={n_features}")


def _damaged(array):
    """Yield copies of the array, each damaged in one way, with a description."""
    flat = array.reshape(-1)
    yield "one shorter", array[:-1]
    yield "one longer", np.concatenate([array, array[-1:]])
    yield "empty", array[:0]
    yield "with an extra dimension", array[..., None]
    yield "flattened", flat if array.ndim > 1 else array.reshape(1, -1)
    yield "as float32", array.astype(np.float32)
    yield "as int64", np.nan_to_num(array, posinf=0, neginf=0).astype(np.int64)
    yield "as strings", array.astype(str)
    if array.dtype.kind in "iu":
        extremes = [np.iinfo(array.dtype).min, np.iinfo(array.dtype).max, 2, 0]
    elif array.dtype.kind == "f":
        extremes = [np.nan, np.inf, -np.inf, np.finfo(array.dtype).max]
    else:
        extremes = [True, False]
    for value in extremes:
        yield f"filled with {value}", np.full_like(array, value)
        for position in {0, flat.size // 2, flat.size - 1} if flat.size else ():
            changed = array.copy()
            changed.reshape(-1)[position] = value
            yield f"with {value} at position {position}", changed


def _refused(own, arrays, X, what) -> bool:
    """Return True if arrays raise a ValueError, False if what is made of them predicts."""
    try:
        made = own.read(arrays, X.shape[1])
    except ValueError:
        return True
    except Exception as error:
        raise AssertionError(f"{what}: must raise ValueError, got {error!r}") from error
    try:
        own.answer(made, X)
    except Exception as error:
        raise AssertionError(f"{what}: accepted, then predictions failed: {error!r}") from error
    return False


def check_loading_runs_no_code(plugin):
    """Check that from_arrays unpickles, evaluates and imports nothing.

    It is called with arrays of the plugin's own, and with arrays that hold a pickle or an
    expression, while Python's audit events are observed. Model files are safe only as far as the
    plugins that read them.
    """
    X = pixels()
    own = stored(plugin, X)
    good, n_features = own.made.arrays(), X.shape[1]
    with suppress(ValueError):  # what a first call imports is not the file's doing
        own.read(good, n_features)
    for what, arrays in _attempts(good):
        with audited(FORBIDDEN) as events, suppress(Exception):
            own.read(arrays, n_features)
        assert not events, f"from_arrays with {what} caused the audit events {sorted(set(events))}"


def _attempts(good):
    yield "its own arrays", good
    payloads = {
        "a pickle": pickle.dumps(OrderedDict(a=1)),
        "an expression": b"__import__('collections').OrderedDict()",
    }
    for name, array in good.items():
        for kind, payload in payloads.items():
            for dtype in {array.dtype, np.dtype(np.uint8)}:
                if dtype.hasobject or dtype.itemsize == 0:
                    continue
                padded = payload.ljust(-(-len(payload) // dtype.itemsize) * dtype.itemsize)
                yield f"{kind} in {name}", {**good, name: np.frombuffer(padded, dtype).copy()}
