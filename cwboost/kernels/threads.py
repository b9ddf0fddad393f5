"""How many threads a kernel may use: no more than there are cores, and one in a forked process."""

import os
import threading

from joblib import cpu_count, effective_n_jobs

from cwboost._kernels.common.cpu import max_threads, run_alone
from cwboost.support.warnings import warn_caller

FORKED = (
    "this process was forked from one that had run kernels on several threads, which do not exist "
    "here: kernels run on one thread. Start processes by 'spawn' or 'forkserver' "
    "(multiprocessing.get_context), or with joblib's backend 'loky', to use more"
)


class _Process:
    """Facts about threads in the present process."""

    had_threads = False
    forked_thread: int | None = None


def threads_of_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    A positive number is taken as it is. None is what joblib's context gives, 1 outside of one;
    -1 is all threads that are left, -2 all but one. Neither exceeds what OpenMP offers: the
    variable ``OMP_NUM_THREADS``, which joblib sets in its workers, or a limit of threadpoolctl.
    `n_jobs` is not 0.
    """
    if n_jobs is None:
        return min(effective_n_jobs(None), max_threads())
    if n_jobs > 0:
        return n_jobs
    return max(1, min(effective_n_jobs(-1), max_threads()) + 1 + n_jobs)


def usable_threads(n_threads: int) -> int:
    """Return how many threads to use when `n_threads` are asked for.

    At most one per core, counted as joblib counts them: with affinity and the quota of a
    container. More would wait for each other. One, with a warning, in the thread that a fork left
    of a process which had run several.

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
    n_threads = min(n_threads, cpu_count())
    _Process.had_threads |= n_threads > 1
    return n_threads


def _after_fork_in_child() -> None:
    if _Process.had_threads:
        run_alone()
        _Process.forked_thread = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
