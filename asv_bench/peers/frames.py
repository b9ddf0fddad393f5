"""Frames with the dtypes that the packages read: floats and categories."""

import pandas as pd


def typed(frame, categorical):
    """Return a frame of floats and, of some columns, of categories."""
    columns = {}
    for column in frame:
        if column in categorical:
            text = frame[column].map(str, na_action="ignore").astype(object)
            columns[column] = text.where(frame[column].notna(), None).astype("category")
        else:
            columns[column] = frame[column].astype(float)
    return pd.DataFrame(columns)
