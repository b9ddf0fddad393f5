"""Calls of one function in several threads of Python that begin together."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier


def at_once(function, n_threads=4):
    """Return the results of ``function(0)``, ``function(1)`` and so on."""
    barrier = Barrier(n_threads)

    def begin(number):
        barrier.wait(30)
        return function(number)

    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(begin, range(n_threads)))
