"""Compiled kernels that families may use; everything else under `cwboost._kernels` is private."""

from cwboost.additive import AdditiveScores, StepFunction

__all__ = ["AdditiveScores", "StepFunction"]
