"""Multi-class boosting by column generation."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from cwboost.families.contract import (
    API_VERSION,
    BindContext,
    Capabilities,
    Divider,
    Division,
    Priced,
    Pricer,
    PricingRequest,
    WeakLearnerFamily,
    WeakLearners,
)
from cwboost.families.flat_forms import ThresholdTrees, stump_trees
from cwboost.families.outputs import pack_outputs, unpack_outputs
from cwboost.hookspecs import hookimpl

if TYPE_CHECKING:  # what is imported on first use
    from cwboost.baselines.adaboost import (
        AdaBoostECCClassifier,
        AdaBoostMHClassifier,
        AdaBoostMOClassifier,
    )
    from cwboost.baselines.multiboost import MultiBoostClassifier
    from cwboost.classifier import CWBoostClassifier
    from cwboost.environment import show_config
    from cwboost.families.array_learners import ArrayLearners
    from cwboost.families.arrays import check_arrays
    from cwboost.families.composed.derived_features import DerivedFeatureFamily, DrawContext
    from cwboost.families.composed.mixed import MixedFamily
    from cwboost.families.composed.sklearn_family import SklearnFamily
    from cwboost.families.discovery import (
        FamilyError,
        get_family,
        get_init,
        list_plugins,
        register_family,
    )
    from cwboost.families.init_contract import FittedInit, InitContext, InitModel
    from cwboost.families.max_features import count_max_features
    from cwboost.families.partitioned import (
        Chosen,
        ChosenDivision,
        Coordinator,
        PartitionContext,
        PartitionedFamily,
        PartitionPricer,
        PartitionWeights,
        Tasks,
    )
    from cwboost.families.sealing.faults import FamilyFault
    from cwboost.families.tree_learners import TreeLearners
    from cwboost.families.tree_partitions import TreeCoordinator, draw_code
    from cwboost.kernels.include import get_include
    from cwboost.model_file.container import ModelFileError
    from cwboost.model_file.saving import load_model
    from cwboost.onnx_export import to_onnx
    from cwboost.solvers.solve_master import solve_master
    from cwboost.tree_export import to_shap, to_treelite

    # Of plugins, which are not imported here: their parameters are not checked.
    ProjectionFamily: type[Any]
    StumpFamily: type[Any]
    TreeFamily: type[Any]

__version__ = version("cwboost")
__all__ = [
    "API_VERSION",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMOClassifier",
    "ArrayLearners",
    "BindContext",
    "CWBoostClassifier",
    "Capabilities",
    "Chosen",
    "ChosenDivision",
    "Coordinator",
    "DerivedFeatureFamily",
    "Divider",
    "Division",
    "DrawContext",
    "FamilyError",
    "FamilyFault",
    "FittedInit",
    "InitContext",
    "InitModel",
    "MixedFamily",
    "ModelFileError",
    "MultiBoostClassifier",
    "PartitionContext",
    "PartitionPricer",
    "PartitionWeights",
    "PartitionedFamily",
    "Priced",
    "Pricer",
    "PricingRequest",
    "ProjectionFamily",
    "SklearnFamily",
    "StumpFamily",
    "Tasks",
    "ThresholdTrees",
    "TreeCoordinator",
    "TreeFamily",
    "TreeLearners",
    "WeakLearnerFamily",
    "WeakLearners",
    "__version__",
    "check_arrays",
    "count_max_features",
    "draw_code",
    "get_family",
    "get_include",
    "get_init",
    "hookimpl",
    "list_plugins",
    "load_model",
    "pack_outputs",
    "register_family",
    "show_config",
    "solve_master",
    "stump_trees",
    "to_onnx",
    "to_shap",
    "to_treelite",
    "unpack_outputs",
]

# Imported on first use, so that a plugin that needs only the contract loads nothing else.
_LAZY = {
    "cwboost.baselines.adaboost": "AdaBoostECCClassifier AdaBoostMHClassifier AdaBoostMOClassifier",
    "cwboost.baselines.multiboost": "MultiBoostClassifier",
    "cwboost.classifier": "CWBoostClassifier",
    "cwboost.environment": "show_config",
    "cwboost.families.array_learners": "ArrayLearners",
    "cwboost.families.arrays": "check_arrays",
    "cwboost.families.composed.derived_features": "DerivedFeatureFamily DrawContext",
    "cwboost.families.composed.mixed": "MixedFamily",
    "cwboost.families.composed.sklearn_family": "SklearnFamily",
    "cwboost.families.discovery": "FamilyError get_family get_init list_plugins register_family",
    "cwboost.families.init_contract": "FittedInit InitContext InitModel",
    "cwboost.families.max_features": "count_max_features",
    "cwboost.families.partitioned": (
        "Chosen ChosenDivision Coordinator PartitionContext PartitionPricer "
        "PartitionWeights PartitionedFamily Tasks"
    ),
    "cwboost.families.sealing.faults": "FamilyFault",
    "cwboost.families.tree_learners": "TreeLearners",
    "cwboost.families.tree_partitions": "TreeCoordinator draw_code",
    "cwboost.kernels.include": "get_include",
    "cwboost.model_file.container": "ModelFileError",
    "cwboost.model_file.saving": "load_model",
    "cwboost.onnx_export": "to_onnx",
    "cwboost.solvers.solve_master": "solve_master",
    "cwboost.tree_export": "to_shap to_treelite",
}
_HOMES = {name: module for module, names in _LAZY.items() for name in names.split()}
# Families of plugins, found by their registered names like any other's.
_SHIPPED = {
    "ProjectionFamily": "projection",
    "StumpFamily": "stump",
    "TreeFamily": "tree",
}


def __getattr__(name: str) -> Any:
    if name in _SHIPPED:
        value = __getattr__("get_family")(_SHIPPED[name])
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
