"""The check that learners from a file run no code of the file's."""

from __future__ import annotations

import pickle
import sys
import threading
from collections import OrderedDict
from contextlib import contextmanager, suppress

import numpy as np

from cwboost.testing.material import fitted, pixels

__all__ = ["audited", "check_loading_runs_no_code"]

FORBIDDEN = ("pickle.find_class", "exec", "compile", "import", "marshal.loads", "os.system")
"""Audit events that show arrays being read as code."""

_observed = threading.local()
_installed: list[bool] = []


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


@contextmanager
def audited(names):
    """Collect the audit events of these names in this thread; the hook, once added, stays."""
    if not _installed:
        sys.addaudithook(_hook)
        _installed.append(True)
    _observed.names, _observed.events = names, []
    try:
        yield _observed.events
    finally:
        _observed.events = None


def _hook(event, args):
    events = getattr(_observed, "events", None)
    if events is not None and event in _observed.names:
        events.append(event)
