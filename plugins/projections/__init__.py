"""Thresholded random projections as weak learners of cwboost."""

from cwboost.plugins.projections.family import ProjectionFamily

import cwboost

__all__ = ["ProjectionFamily"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(ProjectionFamily)
