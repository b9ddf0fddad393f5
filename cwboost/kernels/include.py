"""Where a plugin's Cython code finds cwboost's public declarations."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_include"]


def get_include() -> str:
    """Folder from which ``from cwboost.kernels cimport ...`` is resolved.

    Pass it to ``Cython.Build.cythonize(..., include_path=[cwboost.get_include()])``. No header and
    no library is needed at C level: the public functions are inline.

    Returns
    -------
    str
        The folder that holds the package ``cwboost``.
    """
    return str(Path(__file__).resolve().parents[2])
