"""The data sets of the studies: their names, their contents and what they are."""

import json

import numpy as np
import pandas as pd
from peers import large, tables
from peers.data import pooled
from peers.frames import typed
from sklearn.datasets import load_digits

NUMERIC = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS", "ISOLET", "YALEB", "MNIST"]

ABLATION = {
    **dict.fromkeys(["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS"], "numeric"),
    **dict.fromkeys(["eucalyptus", "obesity", "arrhythmia", "dry_bean", "wall_robot"], "mixed"),
    "steel_plates": "mixed",
}
"""The sets of the ablation, and the studies that load them."""

STUDIES = [
    *("mixed", "several_classes", "many_classes", "two_classes", "numeric", "large", "ablation"),
    "trees",
]


def names(study, folder):
    """Return the names of the sets of a study."""
    if study == "mixed":
        return list(json.loads((folder / "tables" / "tables.json").read_text()))
    if study == "large":
        return large.names()
    known = {
        "numeric": NUMERIC,
        "ablation": ABLATION,
        "trees": ABLATION,
        "two_classes": tables.TWO_CLASSES,
        "several_classes": tables.SEVERAL_CLASSES,
        "many_classes": tables.MANY_CLASSES,
    }
    return list(known[study])


def load(study, folder, name):
    """Return a frame, whose columns of text have the dtype "category", and class indices."""
    if study in ("ablation", "trees"):
        study = ABLATION[name]
    if study == "numeric":
        X, y = load_digits(return_X_y=True) if name == "digits" else pooled(folder / f"{name}.npz")
        return pd.DataFrame(X), np.unique(y, return_inverse=True)[1]
    if study == "mixed":
        return _mixed(folder / "tables", name)
    return large.load(name) if study == "large" else tables.load(name)


def describe(frame, y):
    """Return the numbers of rows, columns and classes, and the fraction of values missing."""
    categories = sum(str(dtype) == "category" for dtype in frame.dtypes)
    return {
        "rows": len(y),
        "numbers": frame.shape[1] - categories,
        "categories": categories,
        "missing": float(frame.isna().to_numpy().mean()),
        "classes": len(np.unique(y)),
    }


def _mixed(folder, name):
    categorical = json.loads((folder / "tables.json").read_text())[name]["cat_cols"]
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    y = np.unique(frame.pop("target").astype(str), return_inverse=True)[1]
    return typed(frame, categorical), y
