"""Checks of what is made, learners or a fitted init model: predictions, storage, selection."""

import io
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
from scipy import sparse

from cwboost.families.registry import NAME
from cwboost.families.sealing.forms import check_forms
from cwboost.families.sealing.sample import read_only
from cwboost.testing.check import check
from cwboost.testing.material import (
    fitted,
    inputs,
    inputs_claimed,
    made_by,
    on,
    pixels,
    same_arrays,
)
from cwboost.testing.process import audited

FORBIDDEN = ("pickle.find_class", "exec", "compile", "import", "marshal.loads", "os.system")
"""Audit events that show arrays being read as code."""


@check("Keep nothing that calls share and change, such as a scratch array.")
def check_threads(plugin):
    """Check that predictions do not depend on calls in other threads at the same time."""
    made = made_by(plugin, pixels())
    parts = [pixels(400, seed=seed) for seed in range(4)]
    expected = [made.predict(X) for X in parts]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(parts)) as pool:
            predictions = list(pool.map(made.predict, parts * 25))
    finally:
        sys.setswitchinterval(before)
    assert all(map(np.array_equal, predictions, expected * 25)), (
        "predictions differ if several threads predict at the same time"
    )


@check("Let flat_form compare as outputs does (above is z > threshold), and scorer sum outputs.")
def check_learner_forms(family):
    """Check that the flat form, if there is one, and the scorer give the learners' outputs."""
    for kind, X in (inputs() | inputs_claimed(family)).items():
        with on(kind):
            learners = fitted(family, X, n_targets=16)
            rng = np.random.default_rng(33)
            coef = rng.standard_normal((16, 5)) * rng.integers(0, 2, size=(16, 5))
            check_forms(learners, family, X, coef)
            score = learners.scorer(coef)  # dense, and for several threads
            assert np.array_equal(score(X, n_threads=2), learners.scorer(sparse.csr_array(coef))(X))
            if (flat := learners.flat_form()) is not None:
                n = X.shape[1] if flat.directions is None else flat.directions.shape[1]
                flat.check(n)


@check(
    "Return all that from_arrays needs as numbers, and keep arrays in C order before you compute; "
    "keep no function, file or lock."
)
def check_arrays_round_trip(plugin):
    """Check that from_arrays(arrays()) restores what was made, in C order too, and pickle does."""
    X = pixels()
    made = made_by(plugin, X)
    arrays, predictions = made.value.arrays(), made.predict(X)
    assert isinstance(arrays, dict) and arrays, "arrays() must return a dict of arrays"
    for name, array in arrays.items():
        # A batch of several families puts "NAME/" or "NAME NUMBER/" before an array's name.
        parts = name.split("/") if isinstance(name, str) else [""]
        known = len(parts) <= 2 and all(NAME.fullmatch(part.split(" ")[0]) for part in parts[:-1])
        assert known and parts[-1].isidentifier(), f"{name!r} is not an array name"
        assert isinstance(array, np.ndarray), f"{name} must be an ndarray, got {type(array)}"
        assert array.dtype.kind in "biuf", f"{name} must hold numbers, got dtype {array.dtype}"
    stream = io.BytesIO()
    np.savez(stream, **{name: np.ascontiguousarray(array) for name, array in arrays.items()})
    stream.seek(0)
    with np.load(stream) as file:
        stored = {name: read_only(file[name]).reshape(arrays[name].shape) for name in file.files}
    ways = {
        "arrays()": lambda: made.read(arrays, X.shape[1]),
        "arrays in C order": lambda: made.read(stored, X.shape[1]),
        "pickle": lambda: pickle.loads(pickle.dumps(made.value)),
    }
    for what, restored in ways.items():
        with on(what):
            copy = restored()
            assert same_arrays(copy, made.value), "the arrays changed"
            assert np.array_equal(made.answer(copy, X), predictions), "predictions differ"


@check("Index every array by learner, also with an empty list.")
def check_take_and_concatenate(family):
    """Check that take and concatenate keep the order of learners, also for empty batches."""
    X, learners_type = pixels(), family.learners_type
    learners, other = fitted(family, X), fitted(family, pixels(seed=31), n_targets=5)
    outputs = learners.outputs(X)
    for indices in ([0], [3, 1, 1, 7], list(range(8)), np.array([5, 2], dtype=np.int64)):
        taken = learners.take(indices)
        assert isinstance(taken, learners_type), f"take returns {type(taken).__name__}"
        assert np.array_equal(taken.outputs(X), outputs[:, indices]), f"take({indices}) is wrong"
    empty = learners.take([])
    for batch in (empty, learners_type.from_arrays(empty.arrays(), X.shape[1])):
        assert len(batch) == 0 and batch.outputs(X).shape == (len(X), 0), "take([]) is not empty"
        assert not batch.scorer(np.zeros((0, 5)))(X).any(), "an empty batch must score 0"
    joined = learners_type.concatenate([learners, empty, other, learners.take([2])])
    expected = np.hstack([outputs, other.outputs(X), outputs[:, [2]]])
    assert np.array_equal(joined.outputs(X), expected), "concatenate changes outputs"
    assert np.array_equal(joined.take([13, 8]).outputs(X), expected[:, [13, 8]]), (
        "take from a concatenated batch is wrong"
    )


@check("Check dtypes, shapes, values, and indices, which must not be negative, in from_arrays.")
def check_damaged_arrays(plugin):
    """Check that from_arrays refuses the arrays of a damaged or hostile file.

    A missing array, or an array of Python objects, must raise ValueError. For any other damage
    from_arrays must raise ValueError, or return what predicts: outputs of -1 and +1, or finite
    scores. Indices that are too large are refused, hence negative ones, which NumPy counts from
    the end, too.
    """
    X = pixels()
    made = made_by(plugin, X)
    good = made.value.arrays()
    for name, array in good.items():
        missing = {other: array for other, array in good.items() if other != name}
        for what, arrays in (
            (f"without {name}", missing),
            (f"{name} with dtype object", {**good, name: array.astype(object)}),
        ):
            is_refused = _predicts(made, arrays, X, what) is None
            assert is_refused, f"{what}: must raise ValueError, got no error"
        for what, damaged in _damaged(array):
            _predicts(made, {**good, name: damaged}, X, f"{name} {what}")
        if array.dtype.kind == "i":
            _check_indices(made, good, name, X)
    for n_features in (1, 0):
        _predicts(made, good, X[:, :n_features], f"n_features={n_features}")


def _check_indices(made, good, name, X) -> None:
    """Refuse -1 that is taken for the last of some length, if that length itself is refused."""
    lengths = {X.shape[1], *(n for array in good.values() for n in array.shape)} - {0, 1}
    for length in sorted(n for n in lengths if n <= np.iinfo(good[name].dtype).max):
        first, last, beyond, negative = (
            _predicts(made, {**good, name: np.full_like(good[name], value)}, X, f"{name}={value}")
            for value in (0, length - 1, length, -1)
        )
        is_index = first is not None and last is not None and beyond is None
        if is_index and not np.array_equal(first, last):
            assert not np.array_equal(last, negative), (
                f"{name} is not checked: -1 is taken for {length - 1}, the last index"
            )


def _damaged(array) -> Iterator[tuple[str, np.ndarray]]:
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


def _predicts(made, arrays, X, what) -> np.ndarray | None:
    """Return predictions of what is made of arrays; None if they raise a ValueError."""
    try:
        read = made.read(arrays, X.shape[1])
    except ValueError:
        return None
    except Exception as error:
        raise AssertionError(f"{what}: must raise ValueError, got {error!r}") from error
    try:
        return made.answer(read, X)
    except Exception as error:
        raise AssertionError(f"{what}: accepted, then predictions failed: {error!r}") from error


@check("Read arrays as numbers; import modules at the top.")
def check_loading_runs_no_code(plugin):
    """Check that from_arrays unpickles, evaluates and imports nothing.

    It is called with arrays of the plugin's own, and with arrays that hold a pickle or an
    expression, while Python's audit events are observed. Model files are safe only as far as the
    plugins that read them.
    """
    X = pixels()
    made = made_by(plugin, X)
    good, n_features = made.value.arrays(), X.shape[1]
    with suppress(ValueError):  # what a first call imports is not the file's doing
        made.read(good, n_features)
    for what, arrays in _attempts(good):
        with audited(FORBIDDEN) as events, suppress(Exception):
            made.read(arrays, n_features)
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
