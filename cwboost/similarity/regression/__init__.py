"""Ridge regression on likenesses, with the scores that leave each example out."""

from cwboost.similarity.regression.groups import stratified_groups
from cwboost.similarity.regression.ridge import (
    WEIGHT_UNIT,
    Coefficients,
    LandmarkRegression,
    regress_on_all,
    targets,
)

__all__ = [
    "WEIGHT_UNIT",
    "Coefficients",
    "LandmarkRegression",
    "regress_on_all",
    "stratified_groups",
    "targets",
]
