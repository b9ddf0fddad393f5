"""Binary trees as weak learners of cwboost."""

import cwboost
from cwboost_trees.family import TreeFamily
from cwboost_trees.learners import TreeLearners

__all__ = ["TreeFamily", "TreeLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(TreeFamily)
