"""OpenMP in a process after a fork."""

from cwboost._kernels.common.openmp cimport omp_set_max_active_levels


def run_alone():
    """Make every parallel region that the calling thread enters run on that thread alone.

    A forked process has only the calling thread. The OpenMP runtime would wait without end for
    the other threads of its team, which the child does not have. Threads that the child starts
    have teams of their own.
    """
    omp_set_max_active_levels(0)
