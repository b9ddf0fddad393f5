"""Results as JSON files, one per run, found by what was run."""

import json
from hashlib import sha256
from pathlib import Path

from cwboost.support.files import replacing


class Records:
    """A folder of records, each with the ``key`` of its run.

    A file takes its place when it is whole, on every system. Several processes may save and find.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def find(self, key: dict) -> dict | None:
        """Return the last record with this key."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def save(self, record: dict) -> None:
        """Save a record in place of any other with its key."""
        path = self._path(record["key"])
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(path, "w", encoding="utf-8") as file:
            json.dump(record, file, allow_nan=False)

    def _path(self, key: dict) -> Path:
        digest = sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        return self.folder / f"{key['protocol']}-{key['method']}-{key['run']}-{digest[:12]}.json"
