"""Parts of a question that single partitions need: a worker receives those of its partitions."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["ByPartition", "pickled_for"]

_receiver: ContextVar = ContextVar("_receiver", default=None)


class ByPartition:
    """Values of partitions in a question to all of them.

    Parameters
    ----------
    values : dict of int to object
        By the place of the partition's first example, ``context.places[0]``. A partition finds its
        own value; those of partitions of other workers are not sent.
    """

    def __init__(self, values):
        self._values = values

    def __getitem__(self, place):
        return self._values[place]

    def __reduce__(self):
        receiver, values = _receiver.get(), self._values
        if receiver is not None:
            receiver["differs"] = True
            values = {place: values[place] for place in receiver["places"] if place in values}
        return ByPartition, (values,)


@contextmanager
def pickled_for(places):
    """Let objects be pickled for a worker whose partitions begin at these places.

    Yields
    ------
    dict
        Its "differs" says afterwards whether another worker needs another message.
    """
    receiver = {"places": places, "differs": False}
    token = _receiver.set(receiver)
    try:
        yield receiver
    finally:
        _receiver.reset(token)
