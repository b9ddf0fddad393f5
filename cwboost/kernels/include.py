"""The include folder of the public Cython declarations, for plugins."""

from pathlib import Path


def get_include() -> str:
    """Return the folder from which ``from cwboost.kernels cimport ...`` is resolved.

    Pass it to ``Cython.Build.cythonize(..., include_path=[cwboost.get_include()])``. The public
    functions are inline, so no C header and no library is needed.

    Returns
    -------
    str
        The folder that holds the package ``cwboost``.
    """
    return str(Path(__file__).resolve().parents[2])
