"""Messages to workers and their replies, as strings of bytes."""

from __future__ import annotations

from distributed.protocol.pickle import dumps, loads

from cwboost.families.partitioned.addressed import pickled_for

__all__ = ["packed", "pickled_calls", "unpacked"]

SMALL_BYTES = 2**17
"""Largest reply that is sent as one string of bytes."""


def pickled_calls(call, places) -> dict:
    """Return the message to every worker: one for all, unless parts belong to single partitions.

    Parameters
    ----------
    call : tuple
    places : dict of list of int
        By worker, where its partitions begin; see `ByPartition`.
    """
    messages: dict = {}
    common = None
    for worker, own in places.items():
        if common is None:
            with pickled_for(own) as receiver:
                messages[worker] = dumps(call, protocol=5)
            common = None if receiver["differs"] else messages[worker]
        else:
            messages[worker] = common
    return messages


def packed(reply):
    """Return a small reply as one string of bytes: Dask takes a millisecond for many small arrays.

    Large arrays are sent without a copy instead.
    """
    buffers: list = []
    head = dumps(reply, protocol=5, buffer_callback=buffers.append)
    contents = [buffer.raw() for buffer in buffers]
    if sum(content.nbytes for content in contents) > SMALL_BYTES:
        return reply
    return dumps((head, [bytearray(content) for content in contents]))


def unpacked(reply):
    """Return a reply that `packed` has returned."""
    if not isinstance(reply, bytes):
        return reply
    head, buffers = loads(reply)
    return loads(head, buffers=buffers)
