"""What a process does with OpenMP after a fork."""

from cwboost._kernels.common.openmp cimport omp_set_max_active_levels


def run_alone():
    """Make every parallel region that the calling thread enters run on that thread alone.

    A forked process has the calling thread only. The OpenMP runtime still counts on the others of
    its team, which stayed behind, and waits for them without end. Threads that the child starts
    have teams of their own.
    """
    omp_set_max_active_levels(0)
