"""Multi-class boosting by column generation."""

from importlib.metadata import version

from cwboost.families import (
    API_VERSION,
    Capabilities,
    Priced,
    Pricer,
    WeakLearnerFamily,
    WeakLearners,
    pack_outputs,
    unpack_outputs,
)
from cwboost.hookspecs import hookimpl

__version__ = version("cwboost")
__all__ = [
    "API_VERSION",
    "Capabilities",
    "Priced",
    "Pricer",
    "WeakLearnerFamily",
    "WeakLearners",
    "__version__",
    "hookimpl",
    "pack_outputs",
    "unpack_outputs",
]
