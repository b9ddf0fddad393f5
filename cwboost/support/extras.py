"""Packages that only parts of cwboost need: imported when used, named when they are absent."""

from __future__ import annotations

from contextlib import contextmanager

__all__ = ["extra"]


@contextmanager
def extra(name: str, needs: str):
    """Guard imports of optional packages: the error for an absent one says what to install.

    `name` is the extra that installs them, such as "plot"; `needs` says what needs which package,
    such as "plotting needs matplotlib".
    """
    try:
        yield
    except ImportError as error:
        message = f'{needs}: pip install "cwboost[{name}]"'
        raise ImportError(message, name=error.name) from error
