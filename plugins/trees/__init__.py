"""Binary trees as weak learners of cwboost."""

from cwboost.plugins.trees.family import AutoFamily, TreeFamily
from cwboost.plugins.trees.learners import TreeLearners

import cwboost

__all__ = ["AutoFamily", "TreeFamily", "TreeLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(TreeFamily)
    register(AutoFamily)
