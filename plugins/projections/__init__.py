"""Thresholded random projections as weak learners of cwboost."""

from cwboost.plugins.projections.family import ProjectionFamily
from cwboost.plugins.projections.learners import ProjectionLearners

import cwboost

__all__ = ["ProjectionFamily", "ProjectionLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(ProjectionFamily)
