"""Warnings that blame the caller's line, however deep in the package they arise."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PACKAGES = __name__.partition(".")[0], "sklearn.callback"
"""Also the decorator of scikit-learn around `fit`."""


_kept: ContextVar[list | None] = ContextVar("kept", default=None)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning for the first line outside cwboost among the present calls."""
    if (kept := _kept.get()) is not None:
        kept.append((message, category))
        return
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


@contextmanager
def kept_warnings() -> Iterator[list]:
    """Keep the arguments of `warn_caller` in a list, for a caller on another machine."""
    token = _kept.set(kept := [])
    try:
        yield kept
    finally:
        _kept.reset(token)


def _is_ours(frame) -> bool:
    module = frame.f_globals.get("__name__", "")
    return any(module == name or module.startswith(f"{name}.") for name in PACKAGES)
