"""Replies of workers as strings of bytes."""

from __future__ import annotations

from distributed.protocol.pickle import dumps, loads

__all__ = ["packed", "unpacked"]

SMALL_BYTES = 2**17
"""Largest reply that is sent as one string of bytes."""


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
