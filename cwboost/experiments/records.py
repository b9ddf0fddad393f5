"""Results as JSON lines: each is appended whole or not at all, and is found by its key."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

__all__ = ["RecordFile", "find_done"]


class RecordFile:
    """A file with one JSON object per line; the ``key`` of each says what was run.

    An interrupted process leaves at most one unfinished last line, which the next `append`
    removes. Several processes may append to one file.
    """

    def __init__(self, path):
        self.path = Path(path)

    def read(self) -> list[dict]:
        """Return all finished records, in the order in which they were appended."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        finished = content[: content.rfind(b"\n") + 1]
        records = []
        for number, line in enumerate(finished.splitlines(), 1):
            try:
                record = json.loads(line)
                record["key"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{self.path}, line {number} is not a result: {error}") from error
            records.append(record)
        return records

    def append(self, record: dict) -> None:
        """Append a record; an unfinished line before it goes."""
        line = json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(line)


def find_done(records: list[dict], key: dict, limit: float | None) -> dict | None:
    """Return the last result with this key, or None if it must be run again.

    A training that was stopped by its time limit counts for any limit up to that one; None is no
    limit.
    """
    for record in reversed(records):
        if record["key"] == key:
            cut = record.get("stopped", False) and (limit is None or limit > record["limit"])
            return None if cut else record
    return None
