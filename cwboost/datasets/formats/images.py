"""Sets of image files: one folder per class, GTSRB."""

import csv
from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate
from cwboost.support.extras import extra

SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".gif")


def read_grey(path: Path, side: int) -> np.ndarray:
    """Read an image as `side` x `side` grey bytes, flattened; its aspect ratio is not kept."""
    with extra("images", "reading image files needs Pillow"):
        from PIL import Image, UnidentifiedImageError
    try:
        with Image.open(path) as image:
            grey = image.convert("L").resize((side, side), Image.Resampling.BILINEAR)
    except (OSError, UnidentifiedImageError) as error:
        raise ValueError(f"{path} must be an image, got {error}") from error
    return np.asarray(grey, dtype=np.uint8).reshape(-1)


def read_grey_all(paths, side: int) -> np.ndarray:
    pixels = np.empty((len(paths), side * side), dtype=np.uint8)
    for row, path in zip(pixels, paths):
        row[:] = read_grey(path, side)
    return pixels


def _sorted(paths) -> list[Path]:
    """Return paths in one order on every system; those of Windows compare without case."""
    return sorted(paths, key=Path.as_posix)


def folders(name: str, side: int):
    """Return a reader of the folder `name`, whose folders are the classes, in their order."""

    def read(folder: Path):
        classes = _sorted(path for path in (folder / name).glob("*") if path.is_dir())
        if not classes:
            return None
        paths = [_sorted(p for p in c.rglob("*") if p.suffix.lower() in SUFFIXES) for c in classes]
        return {
            "X": read_grey_all([path for group in paths for path in group], side),
            "y": np.repeat(np.arange(len(classes)), [len(group) for group in paths]),
            "target_names": np.array([path.name for path in classes]),
        }

    return read


def read_gtsrb(folder: Path, side: int = 32):
    """Read the whole images of ``Final_Training`` and ``Final_Test``, resized to one side."""
    folder = folder / "GTSRB" if (folder / "GTSRB").is_dir() else folder
    training, test = folder / "Final_Training", folder / "Final_Test"
    if not training.is_dir() and not test.is_dir():
        return None
    classes = sorted(path for path in (training / "Images").glob("[0-9]*") if path.is_dir())
    if not classes:
        raise ValueError(f"{training / 'Images'} must have folders 00000, 00001, ..., got none")
    train_paths = [path for c in classes for path in sorted(c.glob("*.ppm"))]
    y_train = np.array([int(path.parent.name) for path in train_paths])
    labels = _gtsrb_test_labels(folder)
    test_paths = [find_one(test / "Images", name) for name in labels]
    return {
        "X_train": read_grey_all(train_paths, side),
        "y_train": y_train,
        "X_test": read_grey_all(test_paths, side),
        "y_test": np.array(list(labels.values())),
    }


def _gtsrb_test_labels(folder) -> dict[str, int]:
    path = locate(folder, "GT-final_test.csv", "Final_Test/GT-final_test.csv")
    path = path or find_one(folder, "Final_Test/Images/GT-final_test.csv")
    with path.open(newline="", encoding="ascii") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    if not rows or not {"Filename", "ClassId"} <= set(rows[0]):
        raise ValueError(f"{path} must have columns Filename and ClassId, separated by ';'")
    return {row["Filename"]: int(row["ClassId"]) for row in rows}
