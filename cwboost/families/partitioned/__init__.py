"""Pricing on examples that are divided into partitions: an optional capability of a family."""

from cwboost.families.partitioned.contract import (
    Chosen,
    PartitionContext,
    PartitionedFamily,
    PartitionPricer,
    PricingPlan,
)
from cwboost.families.partitioned.weights import PartitionWeights, scales_of

__all__ = [
    "Chosen",
    "PartitionContext",
    "PartitionPricer",
    "PartitionWeights",
    "PartitionedFamily",
    "PricingPlan",
    "scales_of",
]
