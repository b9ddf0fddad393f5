"""Sets of image files: one folder per class (Scene15, SUN), GTSRB, LabelMe-12-50k."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from cwboost.datasets.formats.files import find_one, locate
from cwboost.support.extras import extra

__all__ = [
    "LABELME_CLASSES",
    "SCENE15_FOLDERS",
    "read_gtsrb",
    "read_labelme",
    "read_scene15",
    "read_sun",
]

SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".gif")

SCENE15_FOLDERS = {
    "suburb": "CALsuburb",
    "coast": "MITcoast",
    "forest": "MITforest",
    "highway": "MIThighway",
    "insidecity": "MITinsidecity",
    "mountain": "MITmountain",
    "opencountry": "MITopencountry",
    "street": "MITstreet",
    "tallbuilding": "MITtallbuilding",
    "office": "PARoffice",
    "bedroom": "bedroom",
    "industrial": "industrial",
    "kitchen": "kitchen",
    "livingroom": "livingroom",
    "store": "store",
}
LABELME_CLASSES = [
    *("person", "car", "building", "window", "tree", "sign"),
    *("door", "bookshelf", "chair", "table", "keyboard", "head"),
]


def read_grey(path: Path, side: int) -> np.ndarray:
    """Read an image as `side` x `side` grey bytes, flattened; its aspect ratio is not kept."""
    with extra("images", "reading image files needs Pillow"):
        from PIL import Image, UnidentifiedImageError
    try:
        with Image.open(path) as image:
            grey = image.convert("L").resize((side, side), Image.Resampling.BILINEAR)
    except (OSError, UnidentifiedImageError) as error:
        raise ValueError(f"{path} is not a readable image: {error}") from error
    return np.asarray(grey, dtype=np.uint8).reshape(-1)


def list_images(folder: Path) -> list[Path]:
    """List the image files of a folder and its subfolders, sorted by name."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def read_grey_all(paths, side: int) -> np.ndarray:
    """Read the images `paths`, one row per image."""
    pixels = np.empty((len(paths), side * side), dtype=np.uint8)
    for row, path in zip(pixels, paths):
        row[:] = read_grey(path, side)
    return pixels


def read_scene15(folder: Path, side: int = 256):
    """Read the fifteen folders of images, named as in the archive or by the class alone."""
    spellings = {name: (official, name) for name, official in SCENE15_FOLDERS.items()}
    if locate(folder, *(s for group in spellings.values() for s in group)) is None:
        return None
    folders = {name: find_one(folder, *group) for name, group in spellings.items()}
    return _read_lists({name: list_images(path) for name, path in folders.items()}, side)


def read_sun(folder: Path, side: int = 128, *, n_classes: int = 25, per_class: int = 200):
    """Read the SUN397 folders ``a/abbey``, ``c/cabin/outdoor``, ...

    Of the categories with at least `per_class` images, take the first `n_classes` by name, and
    the first `per_class` images of each.
    """
    letters = [path for path in sorted(folder.glob("[a-z]")) if path.is_dir()]
    if not letters:
        return None
    categories = {}
    for letter in letters:
        for path in list_images(letter):
            categories.setdefault(path.parent.relative_to(letter).as_posix(), []).append(path)
    large = {
        n: paths[:per_class] for n, paths in sorted(categories.items()) if len(paths) >= per_class
    }
    if len(large) < n_classes:
        raise ValueError(
            f"{folder}: {n_classes} categories of at least {per_class} images expected, "
            f"got {len(large)}"
        )
    return _read_lists(dict(list(large.items())[:n_classes]), side)


def read_labelme(folder: Path, side: int = 128):
    """Read LabelMe-12-50k: images ``train/0012/012345.jpg``, labels ``train/annotation.txt``.

    A label line is the image's number and twelve values in [-1, 1]. An image with exactly one
    positive value belongs to that class; clutter and images of several classes are left out.
    """
    if locate(folder, "train/annotation.txt", "test/annotation.txt") is None:
        return None
    paths, y = [], []
    for part in ("train", "test"):
        annotation = find_one(folder, f"{part}/annotation.txt")
        for number, line in enumerate(annotation.read_text("ascii").splitlines(), 1):
            name, *values = line.split()
            if len(values) != len(LABELME_CLASSES):
                raise ValueError(f"{annotation}, line {number}: a name and 12 values expected")
            positive = [c for c, value in enumerate(values) if float(value) > 0]
            if len(positive) == 1:
                paths.append(find_one(folder, f"{part}/{name[:-3].zfill(4)}/{name}.jpg"))
                y.append(positive[0])
    return {
        "X": read_grey_all(paths, side),
        "y": np.array(y, dtype=np.int64),
        "target_names": np.array(LABELME_CLASSES),
    }


def read_gtsrb(folder: Path, side: int = 32):
    """Read ``Final_Training/Images/00000/*.ppm``, ``Final_Test/Images`` and ``GT-final_test.csv``.

    The whole images, resized to `side` x `side`.
    """
    folder = folder / "GTSRB" if (folder / "GTSRB").is_dir() else folder
    training, test = folder / "Final_Training", folder / "Final_Test"
    if not training.is_dir() and not test.is_dir():
        return None
    classes = sorted(path for path in (training / "Images").glob("[0-9]*") if path.is_dir())
    if not classes:
        raise ValueError(f"{training / 'Images'} lacks the folders 00000, 00001, ...")
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
        raise ValueError(f"{path}: columns Filename and ClassId expected, separated by ';'")
    return {row["Filename"]: int(row["ClassId"]) for row in rows}


def _read_lists(lists, side):
    for name, paths in lists.items():
        if not paths:
            raise ValueError(f"class {name!r} has no image files")
    paths = [path for group in lists.values() for path in group]
    y = np.repeat(np.arange(len(lists)), [len(group) for group in lists.values()])
    return {"X": read_grey_all(paths, side), "y": y, "target_names": np.array(list(lists))}
