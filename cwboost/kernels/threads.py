"""How many threads a kernel may use: as many as are sane, and one in a forked process."""

from __future__ import annotations

import os
import threading

from joblib import cpu_count

from cwboost._kernels.common.after_fork import run_alone
from cwboost.support.warnings import warn_caller

__all__ = ["usable_threads"]

THREADS_PER_CORE = 4
"""More threads than cores make nothing faster; up to here they do no harm."""

FORKED = (
    "this process was forked from one that had run kernels on several threads, which do not exist "
    "here: kernels run on one thread. Start processes by 'spawn' or 'forkserver' "
    "(multiprocessing.get_context), or with joblib's backend 'loky', to use more"
)


class _Process:
    """What the present process knows of threads."""

    had_threads = False
    forked_thread = None
    warned_of = 0


def usable_threads(n_threads: int) -> int:
    """Return how many threads to use when `n_threads` are asked for.

    At most four per core, counted as joblib counts them: with affinity and the quota of a
    container; a number above that warns once, until another one is asked for. One, with a warning,
    in the thread that a fork left of a process which had run several.

    Parameters
    ----------
    n_threads : int
        At least 1.

    Returns
    -------
    int
    """
    if n_threads <= 1:
        return 1
    if _Process.forked_thread == threading.get_ident():
        warn_caller(FORKED)
        return 1
    most = THREADS_PER_CORE * cpu_count()
    if n_threads > most:
        if n_threads != _Process.warned_of:
            _Process.warned_of = n_threads
            warn_caller(f"{n_threads} threads are more than {most}, four per core: {most} are used")
        n_threads = most
    _Process.had_threads = True
    return n_threads


def _after_fork_in_child() -> None:
    if _Process.had_threads:
        run_alone()
        _Process.forked_thread = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
