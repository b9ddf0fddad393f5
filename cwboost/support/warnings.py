"""Warnings that blame the caller's line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings

PACKAGES = __name__.partition(".")[0], "sklearn.callback"
"""Also the decorator of scikit-learn around `fit`."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning for the first line outside cwboost among the present calls."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def _is_ours(frame) -> bool:
    module = frame.f_globals.get("__name__", "")
    return any(module == name or module.startswith(f"{name}.") for name in PACKAGES)
