"""Thresholded random projections as weak learners of cwboost."""

import cwboost
from cwboost_projections.family import ProjectionFamily
from cwboost_projections.learners import ProjectionLearners

__all__ = ["ProjectionFamily", "ProjectionLearners"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(ProjectionFamily)
