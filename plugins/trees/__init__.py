"""Binary trees as weak learners of cwboost."""

from cwboost.plugins.trees.family import AutoFamily, TreeFamily

import cwboost

__all__ = ["AutoFamily", "TreeFamily"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(TreeFamily)
    register(AutoFamily)
