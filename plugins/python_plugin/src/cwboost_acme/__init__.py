"""Weak learners for cwboost: balls."""

import cwboost

from cwboost_acme.ball import Ball

__all__ = ["Ball"]


@cwboost.hookimpl
def cwboost_register_families(register):
    register(Ball)
