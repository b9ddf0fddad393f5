"""Binary trees as weak learners of cwboost."""

from cwboost.plugins.trees.family import TreeFamily
from cwboost.plugins.trees.learners import TreeLearners

import cwboost

__all__ = ["TreeFamily", "TreeLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(TreeFamily)
