"""Saving and loading of fitted classifiers, without pickle.

A file names the classifier and the weak-learner family, and holds parameters, fitted attributes
and the arrays of the ensemble (docs/model_file.md). A file cannot choose code to run on loading.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cwboost import __version__
from cwboost.conformity import Conformity
from cwboost.ensemble.model import Ensemble
from cwboost.families.arrays import check_arrays
from cwboost.families.registry import INIT_MODELS, WEAK_LEARNERS
from cwboost.fitted_model import BaseScores, FittedModel
from cwboost.model_file.container import ModelFileError, read, write
from cwboost.model_file.values import Decoder, Encoder, decode_plugin, encode_plugin
from cwboost.support.warnings import warn_caller
from cwboost.target_statistics import TargetStatistics

if TYPE_CHECKING:
    from cwboost.support.types import FilePath

CLASSIFIERS = (
    "CWBoostClassifier",
    "MultiBoostClassifier",
    "AdaBoostECCClassifier",
    "AdaBoostMHClassifier",
    "AdaBoostMOClassifier",
)
MAX_CLASSES = 2**16
MAX_FEATURES = 2**31 - 1
MAX_SCALE = 1e6
MAX_FACTOR = 1e9
ENSEMBLE_PREFIX = "ensemble."
NOT_STORED = ("callbacks", "cv")
COMMON_ATTRIBUTES = {"classes_": np.ndarray, "n_features_in_": int, "history_": dict}
INIT_PREFIX = "init."
OPTIONAL_ATTRIBUTES = {"feature_names_in_": np.ndarray, "categories_": dict}
OPTIONAL = ("stage_scales", "importances", "conformity", "constraints", "examples", "statistics")
"""Fields of `FittedModel` that a file may hold."""
STATE_ATTRIBUTE = "_state"


def save(classifier, path, *, staged: bool = True, training_state: bool = False) -> None:
    """Save a fitted classifier of cwboost; see `CWBoostClassifier.save`."""
    cls = type(classifier)
    if _classifier_types().get(cls.__name__) is not cls:
        raise TypeError(f"classifier must be one of cwboost, got {cls.__qualname__}")
    check_is_fitted(classifier)
    if len(classifier.classes_) > MAX_CLASSES:
        raise ValueError(f"a model file holds at most {MAX_CLASSES} classes")
    if training_state and not staged:
        raise ValueError("training_state=True requires staged=True: training needs all rounds")
    encoder = Encoder()
    model = classifier.model_.settled()
    ensemble = model.ensemble
    # That of a snapshot of training on partitions is None: it goes on from the coefficients.
    state = dict(vars(classifier).get(STATE_ATTRIBUTE) or {}) if training_state else {}
    if training_state and STATE_ATTRIBUTE not in vars(classifier):
        raise ValueError(
            "training_state must be False for a model without one: only fit with warm_start=True "
            "keeps it, got True"
        )
    # Training goes on from the rounds after the best one, too; `best_iteration_` are the model's.
    ensemble = state.pop("ensemble", ensemble)
    if not staged:
        ensemble = replace(ensemble, path=ensemble.path.final(ensemble.n_scores))
    header = {
        "cwboost": __version__,
        "classifier": cls.__name__,
        "params": _encode_params(classifier, encoder),
        "family": encode_plugin(classifier.family_, encoder, "family"),
        "fitted": _encode_fitted(classifier, encoder),
        "ensemble": {"n_scores": ensemble.n_scores, "staged": ensemble.path.staged},
        "scale": model.scale,
    }
    optional = {
        "stage_scales": model.stage_scales if staged else None,
        "importances": model.importances,
        "conformity": None if model.conformity is None else vars(model.conformity),
        "constraints": dict(model.constraints) or None,
        "examples": model.examples,
        "statistics": None if model.statistics is None else model.statistics.arrays(),
    }
    given = {name: value for name, value in optional.items() if value is not None}
    header |= {name: encoder.encode(value, f"model.{name}") for name, value in given.items()}
    if state:
        header["training_state"] = encoder.encode(state, "training_state")
    arrays = {ENSEMBLE_PREFIX + name: array for name, array in ensemble.arrays().items()}
    if model.base is not None:
        header["init"] = encode_plugin(model.base.model, encoder, "init")
        header["init"]["factor"] = model.base.factor
        of_init = model.base.fitted.arrays()
        arrays |= {INIT_PREFIX + name: array for name, array in of_init.items()}
    write(path, header, encoder.arrays | arrays)


def load_model(path: FilePath, *, max_bytes: int | None = None) -> Any:
    """Load a classifier written by `save`; safe for files of unknown origin.

    As safe as the installed families: the file's arrays of weak learners go to `from_arrays` of
    the family that it names.

    Parameters
    ----------
    path : path-like
    max_bytes : int, default=None
        Limit on the size of the model's arrays; a file that declares more is refused before any
        memory is allocated. None means 16 MiB plus four times the file, which suffices for any file
        of `save`.

    Returns
    -------
    The fitted classifier; its scores equal those of the saved classifier, bit for bit.

    Raises
    ------
    ModelFileError
        For a file that is damaged, hostile, written by a newer version, or of a family that is
        not installed; the message names it.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> from cwboost import CWBoostClassifier, load_model
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CWBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/iris.cwb")
    ...     loaded = load_model(f"{folder}/iris.cwb")
    >>> bool((loaded.predict_proba(X) == clf.predict_proba(X)).all())
    True
    """
    header, arrays = read(path, max_bytes)
    try:
        return _build(header, arrays)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError) as error:
        raise ModelFileError(f"the model is not consistent: {error!r}") from error
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the model is not consistent: {error}") from error


def _classifier_types() -> dict[str, type]:
    """Return the classifiers that may be stored, by name."""
    import cwboost

    return {name: getattr(cwboost, name) for name in CLASSIFIERS}


# -------------------------------------------------------------------------------- saving


def _encode_params(classifier, encoder: Encoder) -> dict:
    skipped = [*NOT_STORED]
    if callable(getattr(classifier, "early_stopping", None)):
        warn_caller(
            "early_stopping is a function and is not stored; the loaded model has the default"
        )
        skipped.append("early_stopping")
    return encoder.encode_params(classifier, "params", skipped)


def _encode_fitted(classifier, encoder: Encoder) -> dict:
    names = [*COMMON_ATTRIBUTES, *classifier._model_attributes]
    names += [name for name in OPTIONAL_ATTRIBUTES if hasattr(classifier, name)]
    values = {name: getattr(classifier, name) for name in names}
    return {name: encoder.encode(value, f"fitted.{name}") for name, value in values.items()}


# -------------------------------------------------------------------------------- loading


def _section(header: Mapping, name: str) -> dict:
    if not isinstance(header.get(name), dict):
        raise ModelFileError(f"the header has no object {name!r}")
    return header[name]


def _build(header: dict, arrays: dict[str, np.ndarray]):
    types = _classifier_types()
    name = header.get("classifier")
    if not isinstance(name, str) or name not in types:
        raise ModelFileError(
            f"classifier must be one of {', '.join(sorted(types))} in this version of cwboost "
            f"({__version__}), got {str(name)[:80]!r}"
        )
    others = (ENSEMBLE_PREFIX, INIT_PREFIX)
    decoder = Decoder({k: a for k, a in arrays.items() if not k.startswith(others)})
    known = set(inspect.signature(types[name]).parameters) - set(NOT_STORED)
    owner = f"{name} of cwboost {__version__}"
    params = decoder.decode_params(_section(header, "params"), known, "params", owner)
    jobs = params.get("n_jobs")
    # Prediction reads this parameter; `usable_threads` bounds what is used of a large number.
    if jobs is not None and (type(jobs) is not int or jobs == 0):
        raise ModelFileError("n_jobs must be None or an integer other than 0")
    classifier = types[name](**params)
    family = decode_plugin(WEAK_LEARNERS, _section(header, "family"), decoder, "family")
    fitted = _decode_fitted(types[name], _section(header, "fitted"), decoder)
    parts = {name: decoder.decode(header[name], name) for name in OPTIONAL if name in header}
    section, n_features = _section(header, "ensemble"), fitted["n_features_in_"]
    n_compared = n_features
    if "statistics" in parts:
        statistics = TargetStatistics.from_arrays(
            parts["statistics"], n_features, len(fitted["classes_"])
        )
        parts["statistics"], n_compared = statistics, len(statistics.column)
    ensemble = _decode_ensemble(section, arrays, family, n_compared)
    base = _decode_base(header, arrays, fitted, decoder)
    scale = header.get("scale")
    if type(scale) is not float or not 0 < scale <= MAX_SCALE:
        raise ModelFileError(f"scale must be positive and at most {MAX_SCALE}, got {scale!r}")
    _check_parts(parts, n_features, ensemble.n_rounds)
    if "conformity" in parts:
        parts["conformity"] = Conformity(**parts["conformity"])
        parts["conformity"].check(len(fitted["classes_"]))
    model = FittedModel(ensemble, fitted["classes_"], base, scale, **parts)
    if "training_state" in header:
        state = decoder.decode(header["training_state"], "training_state")
        if not isinstance(state, dict) or "ensemble" in state:
            raise ModelFileError("training_state must be a dict of the fields that training saves")
        n_rounds, kept = ensemble.n_rounds, fitted.get("best_iteration_")
        if kept != n_rounds:
            if kept is None or not 0 < kept < n_rounds:
                raise ModelFileError(f"best_iteration_ must lie in 1..{n_rounds}, got {kept!r}")
            model = replace(model, ensemble=ensemble.truncate(kept))
            state["ensemble"] = ensemble
        vars(classifier)[STATE_ATTRIBUTE] = state
    vars(classifier).update(fitted, family_=family, model_=model)
    classifier._check_model()
    return classifier


def _check_parts(parts: dict, n_features: int, n_rounds: int) -> None:
    """Check the arrays that a model may hold, by name; `Conformity.check` has its own."""
    lengths = {"importances": n_features, "stage_scales": n_rounds}
    numbers = {name: parts[name] for name in lengths if name in parts}
    check_arrays(numbers, {name: ("float64", (lengths[name],)) for name in numbers})
    if "importances" in parts and not (abs(parts["importances"] - 0.5) <= 0.5 + 1e-9).all():
        raise ModelFileError("importances must hold numbers from 0 to 1")
    if type(parts.get("examples", 0)) is not int:
        raise ModelFileError("examples must be an integer")
    scales = parts.get("stage_scales", np.ones(1))
    if not ((scales > 0) & (scales <= MAX_SCALE)).all():
        raise ModelFileError(f"stage_scales must be positive and at most {MAX_SCALE}")
    shapes = {
        "monotonic": ("int8", ("n_scores", n_features)),
        "interactions": ("bool", ("n_sets", n_features)),
    }
    found = parts.get("constraints", {})
    if not isinstance(found, dict) or not found.keys() <= shapes.keys():
        raise ModelFileError(f"constraints must be a dict with the keys {sorted(shapes)}")
    check_arrays(found, {name: shapes[name] for name in found})
    if "monotonic" in found and not np.isin(found["monotonic"], (-1, 0, 1)).all():
        raise ModelFileError("constraints: monotonic must hold -1, 0 and 1")


def _decode_fitted(cls: type[Any], nodes: dict, decoder: Decoder) -> dict:
    required = COMMON_ATTRIBUTES | cls._model_attributes
    known = required | OPTIONAL_ATTRIBUTES
    if not set(required) <= set(nodes) <= set(known):
        found = [str(name)[:40] for name in sorted(nodes)[:20]]
        raise ModelFileError(
            f"a {cls.__name__} must have the attributes {sorted(required)} (and may have "
            f"{sorted(OPTIONAL_ATTRIBUTES)}), the file has {found}"
        )
    fitted = {name: decoder.decode(node, f"fitted.{name}") for name, node in nodes.items()}
    for name, value in fitted.items():
        if type(value) is not known[name]:
            raise ModelFileError(
                f"{name} must be of type {known[name].__name__}, got {type(value).__name__}"
            )
    _check_common(fitted)
    return fitted


def _check_common(fitted: dict) -> None:
    """Check the attributes that all classifiers have."""
    classes, n_features = fitted["classes_"], fitted["n_features_in_"]
    if classes.size > MAX_CLASSES:
        raise ModelFileError(f"classes_ must hold at most {MAX_CLASSES} labels, got {classes.size}")
    # An array of bools, numbers or strings; NaN is not a label, but unique would keep one.
    if classes.ndim != 1 or len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ModelFileError("classes_ must hold at least two labels, sorted and distinct")
    if not 1 <= n_features <= MAX_FEATURES:
        raise ModelFileError(f"n_features_in_ must lie in 1..{MAX_FEATURES}, got {n_features}")
    names = fitted.get("feature_names_in_")
    if names is not None and (
        names.shape != (n_features,) or not all(isinstance(name, str) for name in names.tolist())
    ):
        raise ModelFileError(f"feature_names_in_ must hold {n_features} strings")
    for name, values in fitted["history_"].items():
        if not isinstance(name, str) or not isinstance(values, np.ndarray) or values.ndim != 1:
            raise ModelFileError("history_ must hold one-dimensional arrays by name")
    if len({len(values) for values in fitted["history_"].values()}) > 1:
        raise ModelFileError("the arrays of history_ must have the same length")


def _decode_base(header: dict, arrays: dict, fitted: dict, decoder: Decoder):
    """Return the base scores that a file holds, None if there are none."""
    if "init" not in header:
        return None
    section = _section(header, "init")
    model = decode_plugin(INIT_MODELS, section, decoder, "init")
    factor = section.get("factor")
    if type(factor) is not float or not 0 < factor < MAX_FACTOR:
        raise ModelFileError(f"init: factor must be positive, below {MAX_FACTOR}, got {factor!r}")
    own = _without_prefix(arrays, INIT_PREFIX)
    n_features, n_classes = fitted["n_features_in_"], len(fitted["classes_"])
    found = model.fitted_type.from_arrays(own, n_features, n_classes)
    return BaseScores(model, found, factor)


def _without_prefix(arrays: dict, prefix: str) -> dict:
    """Return the arrays whose names begin with a prefix, without it."""
    return {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}


def _decode_ensemble(section: dict, arrays: dict, family, n_columns: int) -> Ensemble:
    n_scores, staged = section.get("n_scores"), section.get("staged")
    if type(n_scores) is not int or not 1 <= n_scores <= MAX_CLASSES or type(staged) is not bool:
        raise ModelFileError(f"ensemble must have n_scores in 1..{MAX_CLASSES} and a bool staged")
    own = _without_prefix(arrays, ENSEMBLE_PREFIX)
    return Ensemble.from_arrays(own, type(family).learners_type, n_columns, n_scores, staged)
