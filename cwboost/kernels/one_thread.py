"""One thread for linear algebra, whose sums depend on the number of threads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from threadpoolctl import ThreadpoolController


class _Process:
    """The limit of BLAS belongs to the process, so one thread at a time may set it."""

    alone = RLock()


@contextmanager
def one_thread(libraries: ThreadpoolController) -> Iterator[None]:
    """Run the block with one thread of BLAS and OpenMP, while no other thread runs such a block.

    Blocks that overlap would restore the limit of each other, or end it.
    """
    with _Process.alone, libraries.limit(limits=1):
        yield


def _after_fork_in_child() -> None:
    _Process.alone = RLock()  # a thread that does not exist here may hold the other


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
