"""Decision stumps as weak learners of cwboost."""

import cwboost
from cwboost_stumps.family import StumpFamily
from cwboost_stumps.learners import StumpLearners

__all__ = ["StumpFamily", "StumpLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(StumpFamily)
