"""Decision stumps as weak learners of cwboost."""

from cwboost.plugins.stumps.family import StumpFamily
from cwboost.plugins.stumps.learners import StumpLearners

import cwboost

__all__ = ["StumpFamily", "StumpLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(StumpFamily)
