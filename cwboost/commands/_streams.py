"""Standard streams of a command, which may be closed, full, or lack letters of the results."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from cwboost.commands import CommandError, OutputPath
from cwboost.support.files import stream_of


class Messages:
    """The error stream: what it cannot take is lost, and decides about nothing."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a message, if the stream takes any."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # closed or full
            silence(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush the stream, if it takes anything."""
        with suppress(OSError, ValueError):
            self._stream.flush()


@contextmanager
def standard_streams() -> Iterator[IO[str] | None]:
    """Let messages never fail, and letters that a stream lacks be escaped; return the output.

    The output is None if it is closed. No file that is opened later takes the place of a closed
    stream, into which libraries may write.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest that is free
    streams = [each for each in (sys.stdout, sys.stderr) if hasattr(each, "reconfigure")]
    former, handlers = sys.stderr, [each.errors for each in streams]
    for each in streams:
        each.reconfigure(errors="backslashreplace")
    with open(os.devnull, "w") as nowhere:
        sys.stderr = Messages(nowhere if former is None else former)
        try:
            yield sys.stdout
        finally:
            sys.stderr = former
            for each, errors in zip(streams, handlers):
                each.reconfigure(errors=errors)


def place_of_results(args, results: IO[str] | None) -> IO[str] | None:
    """Return where a command prints: not among a file that goes to the standard output, "-"."""
    taken = False
    for name, path in vars(args).items():
        if isinstance(path, OutputPath):
            if str(path) == "-":
                setattr(args, name, path := OutputPath("/dev/stdout"))
            taken = taken or stream_of(path) == 1
    if taken and results is None:
        raise CommandError("the standard output is closed: there is no place for the result")
    return sys.stderr if taken else results


def silence(stream: IO[str] | None) -> None:
    """Let a stream that fails take everything, so that Python does not fail on it as it ends."""
    with suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
