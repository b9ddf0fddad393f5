"""Weak learners for cwboost: balls and intervals."""

import cwboost

from cwboost_acme.ball import Ball
from cwboost_acme.interval import Interval

__all__ = ["Ball", "Interval"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(Ball)
    register(Interval)
