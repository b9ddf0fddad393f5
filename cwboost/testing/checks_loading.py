"""The check that what is loaded from a file runs no code of the file's."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from contextlib import suppress

import numpy as np

from cwboost.testing.material import audited, pixels, stored

FORBIDDEN = ("pickle.find_class", "exec", "compile", "import", "marshal.loads", "os.system")
"""Audit events that show arrays being read as code."""


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
