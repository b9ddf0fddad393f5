"""The IDX files of MNIST: a big-endian header of type and sizes, then the bytes."""

from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate, read_packed


def read_mnist(folder: Path):
    """Read ``train-images-idx3-ubyte`` and the other three files, with or without ``.gz``."""
    names = {
        f"{array}_{part}": f"{prefix}-{kind}"
        for part, prefix in (("train", "train"), ("test", "t10k"))
        for array, kind in (("X", "images-idx3-ubyte"), ("y", "labels-idx1-ubyte"))
    }
    spellings = {
        key: (name, f"{name}.gz", name.replace("-idx", ".idx")) for key, name in names.items()
    }
    if locate(folder, *(s for group in spellings.values() for s in group)) is None:
        return None
    arrays = {key: read_idx(find_one(folder, *group)) for key, group in spellings.items()}
    return {key: a.reshape(len(a), -1) if key[0] == "X" else a for key, a in arrays.items()}


def read_idx(path: Path) -> np.ndarray:
    """Read one IDX file of unsigned bytes, whose length must be that of its header."""
    content = read_packed(path)
    if content[:3] != b"\0\0\x08" or len(content) < 4 + 4 * content[3]:
        raise ValueError(f"{path} must be an IDX file of unsigned bytes, got {content[:4]!r}")
    shape = np.frombuffer(content, ">u4", count=content[3], offset=4).tolist()
    pixels = np.frombuffer(content, np.uint8, offset=4 + 4 * len(shape))
    if len(pixels) != np.prod(shape, dtype=float):
        raise ValueError(f"{path} must have bytes for shape {shape}, got {len(pixels)}")
    return pixels.reshape(shape)
