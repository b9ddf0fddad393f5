"""What cwboost runs on: instruction set, threads, versions."""

import platform
from importlib.metadata import version

import cwboost._kernels.common.cpu as cpu

PACKAGES = ("cwboost", "numpy", "scipy", "scikit-learn")


def show_config(display: bool = False) -> dict:
    """Return what the kernels run on and the versions that matter in a report.

    Parameters
    ----------
    display : bool, default=False
        Print the settings as well, one per line.

    Returns
    -------
    dict
        - ``instruction_set`` (str): the set that all kernels use: "avx512", "avx2", "sse2", "neon"
          or "portable". By default it is the widest available one; the environment variable
          ``CWBOOST_INSTRUCTION_SET`` chooses another when cwboost is first imported. The results
          have the same bits with every set.
        - ``instruction_sets_available`` (list of str): what this build has and this processor runs,
          the widest first.
        - ``openmp`` (bool): whether the kernels were built with OpenMP.
        - ``threads`` (int): the number of threads that OpenMP offers, 1 without it.
        - ``python``, ``cwboost``, ``numpy``, ``scipy``, ``scikit-learn`` (str): versions.

    Examples
    --------
    >>> import cwboost
    >>> cwboost.show_config()["instruction_set"] in ("avx512", "avx2", "sse2", "neon", "portable")
    True
    """
    config = {
        "instruction_set": cpu.chosen(),
        "instruction_sets_available": cpu.available(),
        "openmp": cpu.has_openmp(),
        "threads": cpu.max_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }
    if display:
        for name, value in config.items():
            print(f"{name}: {', '.join(value) if isinstance(value, list) else value}")
    return config
