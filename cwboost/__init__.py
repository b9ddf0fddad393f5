"""Multi-class boosting by column generation."""

from importlib import import_module
from importlib.metadata import version

from cwboost.families import (
    API_VERSION,
    Capabilities,
    Priced,
    Pricer,
    ThresholdTrees,
    WeakLearnerFamily,
    WeakLearners,
    pack_outputs,
    stump_trees,
    unpack_outputs,
)
from cwboost.hookspecs import hookimpl

__version__ = version("cwboost")
__all__ = [
    "API_VERSION",
    "Capabilities",
    "Priced",
    "Pricer",
    "ThresholdTrees",
    "WeakLearnerFamily",
    "WeakLearners",
    "__version__",
    "hookimpl",
    "pack_outputs",
    "stump_trees",
    "unpack_outputs",
]

# Imported when first asked for: a plugin that needs the contract pays for nothing else.
_LAZY = {
    "ArrayLearners": "cwboost.array_learners",
    "AdaBoostECCClassifier": "cwboost.baselines.adaboost_ecc",
    "AdaBoostMHClassifier": "cwboost.baselines.adaboost_mh",
    "AdaBoostMOClassifier": "cwboost.baselines.adaboost_mo",
    "CWBoostClassifier": "cwboost.classifier",
    "CWBoostClassifierCV": "cwboost.classifier_cv",
    "FamilyError": "cwboost.plugins",
    "ModelFileError": "cwboost.container",
    "MultiBoostClassifier": "cwboost.baselines.multiboost",
    "check_arrays": "cwboost.array_learners",
    "count_max_features": "cwboost.max_features",
    "get_family": "cwboost.plugins",
    "get_include": "cwboost.include",
    "list_plugins": "cwboost.plugins",
    "load_model": "cwboost.model_file",
    "solve_master": "cwboost.solvers",
    "to_onnx": "cwboost.onnx_export",
}
__all__ += sorted(_LAZY)


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
