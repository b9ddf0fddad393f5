"""Init models of cwboost on features as small integers: kernel ridge and logistic regression."""

from cwboost.plugins.kernel.linear import FittedLinear, LinearInit
from cwboost.plugins.kernel.model import FittedKernel, KernelInit

__all__ = ["FittedKernel", "FittedLinear", "KernelInit", "LinearInit"]
