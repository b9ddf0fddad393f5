"""Compiled kernels that families may use; everything else under `cwboost._kernels` is private."""

from cwboost._kernels.binned_matrix import BinnedMatrix
from cwboost._kernels.tree_growth import TREE_CRITERIA, TreeGrower
from cwboost._kernels.tree_predict import TreeEvaluator
from cwboost.additive import AdditiveScores, StepFunction
from cwboost.projections import Projector, orthonormal_rows, seeded_directions
from cwboost.sorted_features import FoundStumps, SortedFeatures

__all__ = [
    "TREE_CRITERIA",
    "AdditiveScores",
    "BinnedMatrix",
    "FoundStumps",
    "Projector",
    "SortedFeatures",
    "StepFunction",
    "TreeEvaluator",
    "TreeGrower",
    "orthonormal_rows",
    "seeded_directions",
]
