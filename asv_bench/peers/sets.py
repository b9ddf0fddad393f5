"""The sets of the studies, by study: their names, and frames or matrices with classes."""

import json

import numpy as np
import pandas as pd
from peers import large, two_classes
from peers.data import pooled
from peers.frames import typed
from sklearn.datasets import load_digits

NUMERIC = ["VOWEL", "PENDIGITS", "digits", "SATIMAGE", "MFEAT", "USPS", "ISOLET", "YALEB", "MNIST"]


def names(study, folder):
    """Return the names of the sets of a study."""
    if study == "mixed":
        return list(json.loads((folder / "tables" / "tables.json").read_text()))
    return {"numeric": NUMERIC, "two_classes": list(two_classes.TABLES), "large": large.names()}[
        study
    ]


def load(study, folder, name):
    """Return a frame, whose columns of text have the dtype of categories, and class indices."""
    if study == "numeric":
        X, y = load_digits(return_X_y=True) if name == "digits" else pooled(folder / f"{name}.npz")
        return pd.DataFrame(X), np.unique(y, return_inverse=True)[1]
    if study == "mixed":
        return _mixed(folder / "tables", name)
    return {"two_classes": two_classes.load, "large": large.load}[study](name)


def _mixed(folder, name):
    categorical = json.loads((folder / "tables.json").read_text())[name]["cat_cols"]
    frame = pd.read_csv(folder / f"{name}.csv.gz", low_memory=False)
    y = np.unique(frame.pop("target").astype(str), return_inverse=True)[1]
    return typed(frame, categorical), y
