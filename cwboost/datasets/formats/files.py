"""What the readers share: find files, open them compressed or not."""

import gzip
from pathlib import Path

from cwboost.support.extras import extra


def locate(folder: Path, *names: str) -> Path | None:
    """Return the path of the first of `names` that exists in `folder`, or None."""
    return next((folder / name for name in names if (folder / name).exists()), None)


def find_one(folder: Path, *names: str) -> Path:
    """Return the path as `locate` does, of a file that must exist if others of the set do."""
    path = locate(folder, *names)
    if path is None:
        raise ValueError(
            f"{folder} must have all parts of the data set, lacks {' or '.join(names)}"
        )
    return path


def read_packed(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends in .gz or .Z."""
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            return gzip.decompress(content)
        if path.suffix == ".Z":
            with extra("fetch", "reading .Z files needs unlzw3"):
                from unlzw3 import unlzw
            return unlzw(content)
    except (EOFError, OSError, ValueError) as error:
        raise ValueError(f"{path} must be a whole compressed file, got {error}") from error
    return content
