"""Kernel ridge regression as an init model of cwboost."""

from cwboost.plugins.kernel.model import FittedKernel, KernelInit

__all__ = ["FittedKernel", "KernelInit"]
