"""Binary trees as weak learners of cwboost."""

from cwboost.plugins.trees.family import TreeFamily

import cwboost

__all__ = ["TreeFamily"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(TreeFamily)
