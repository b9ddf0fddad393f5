"""Compiled kernels that families may use; everything else under `cwboost._kernels` is private."""

from cwboost._kernels.common.elementary import exp, log, log_softmax, softmax, thresholds_between
from cwboost._kernels.kernel_values.kernel_values import fill_codes, fill_kernel_values
from cwboost._kernels.projections.projection import seeded_directions
from cwboost._kernels.trees.growth import TREE_CRITERIA, TreeGrower
from cwboost.kernels.additive import AdditiveScores, StepFunction
from cwboost.kernels.binned_matrix import BinnedMatrix
from cwboost.kernels.bins import Bins
from cwboost.kernels.depth_two import DepthTwoSearch
from cwboost.kernels.matrices import canonical, canonical_csc, canonical_csr, readable
from cwboost.kernels.projector import Projector, inverse_factor, matrix_product
from cwboost.kernels.sketch import FeatureSketch
from cwboost.kernels.sorted_features import FoundStumps, SortedFeatures
from cwboost.kernels.threads import usable_threads
from cwboost.kernels.tree_scores import TreeScores
from cwboost.kernels.weight_scales import weight_scales

__all__ = [
    "TREE_CRITERIA",
    "AdditiveScores",
    "BinnedMatrix",
    "Bins",
    "DepthTwoSearch",
    "FeatureSketch",
    "FoundStumps",
    "Projector",
    "SortedFeatures",
    "StepFunction",
    "TreeGrower",
    "TreeScores",
    "canonical",
    "canonical_csc",
    "canonical_csr",
    "exp",
    "fill_codes",
    "fill_kernel_values",
    "inverse_factor",
    "log",
    "log_softmax",
    "matrix_product",
    "readable",
    "seeded_directions",
    "softmax",
    "thresholds_between",
    "usable_threads",
    "weight_scales",
]
