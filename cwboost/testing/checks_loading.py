"""The check that learners from a file run no code of the file's."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from contextlib import suppress

import numpy as np

from cwboost.testing.material import audited, fitted, pixels

FORBIDDEN = ("pickle.find_class", "exec", "compile", "import", "marshal.loads", "os.system")
"""Audit events that show arrays being read as code."""


def check_loading_runs_no_code(family):
    """Check that from_arrays unpickles, evaluates and imports nothing.

    It is called with the learners' own arrays, and with arrays that hold a pickle or an
    expression, while Python's audit events are observed. Model files are safe only as far as the
    families that read them.
    """
    X = pixels()
    good, n_features = fitted(family, X).arrays(), X.shape[1]
    with suppress(ValueError):  # what a first call imports is not the file's doing
        family.learners_type.from_arrays(good, n_features)
    for what, arrays in _attempts(good):
        with audited(FORBIDDEN) as events, suppress(Exception):
            family.learners_type.from_arrays(arrays, n_features)
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
