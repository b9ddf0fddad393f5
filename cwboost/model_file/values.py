"""Conversion of Python values to JSON and flat arrays, without pickle and names of code.

Plain JSON values represent themselves. Any other value is an object with its kind under ``"$"``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import import_module

import numpy as np
from sklearn.base import BaseEstimator

from cwboost.families.composed.sklearn_learners import (
    FLAT_CLASSIFIERS,
    OpaqueModels,
    learners_class,
)
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import FamilyError, get_family
from cwboost.model_file.container import ModelFileError

__all__ = ["Decoder", "Encoder", "decode_family", "encode_family"]

KIND = "$"
DEPTH_LIMIT = 24
PADDING_LIMIT = 2**24
SCALARS = (str, int, float, bool, type(None))


class Encoder:
    """Encoder of values as JSON nodes; collects their arrays in `arrays` by name."""

    def __init__(self):
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value, where: str):
        """Return the node for `value`; `where` names the value in errors and its arrays.

        Raises
        ------
        TypeError
            For a type that cannot be stored without pickle.
        """
        if isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return {KIND: "float", "value": str(value)}
        if isinstance(value, str):
            return str(value)
        if type(value) in SCALARS:
            return value
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}.{i}") for i, item in enumerate(value)]
            return {KIND: type(value).__name__, "items": items}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            items = [
                [self.encode(key, f"{where}.key"), self.encode(item, f"{where}.{i}")]
                for i, (key, item) in pairs
            ]
            return {KIND: "dict", "items": items}
        if isinstance(value, np.ndarray):
            return self._encode_array(value, where)
        if isinstance(value, WeakLearnerFamily):
            return encode_family(value, self, where)
        if isinstance(value, BaseEstimator):
            return _encode_estimator(value, self, where)
        raise TypeError(
            f"{where} is a {type(value).__qualname__}, which a model file cannot hold (it holds "
            "str, int, float, bool, None, lists, dicts, arrays of these, and families)"
        )

    def _encode_array(self, array: np.ndarray, where: str) -> dict:
        if array.dtype.kind in "biuf":
            self.arrays[where] = array
            return {KIND: "array", "name": where}
        if array.dtype.kind not in "UO" or array.ndim != 1:
            raise TypeError(
                f"{where} is an array of dtype {array.dtype} and {array.ndim} dimensions; a model "
                "file holds arrays of numbers, and one-dimensional ones of str, int, float, bool"
            )
        for item in array:
            if not isinstance(item, str) and type(item) not in (int, float, bool):
                raise TypeError(
                    f"{where} holds a {type(item).__qualname__}; a model file holds labels of "
                    "type str, int, float and bool"
                )
        width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else 0
        items = [self.encode(item, where) for item in array.tolist()]
        return {KIND: "labels", "width": width, "items": items}


class Decoder:
    """Inverse of `Encoder`; raises ModelFileError or ValueError for invalid or hostile nodes."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self._arrays = arrays
        self._depth = 0
        self._padding = 0

    def decode(self, node, where: str):
        if type(node) in SCALARS:
            return node
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise ModelFileError(f"{where[:80]}: values are nested more than {DEPTH_LIMIT} deep")
        try:
            return self._decode(node, where)
        finally:
            self._depth -= 1

    def _decode(self, node, where: str):
        if not isinstance(node, dict) or not isinstance(node.get(KIND), str):
            raise ModelFileError(f"{where}: not a value of a model file")
        decoders = {
            "float": self._float,
            "list": self._sequence,
            "tuple": self._sequence,
            "dict": self._dict,
            "array": self._array,
            "labels": self._labels,
        }
        if node[KIND] == "family":
            return decode_family(node, self, where)
        if node[KIND] == "estimator":
            return _decode_estimator(node, self, where)
        if node[KIND] not in decoders:
            raise ModelFileError(f"{where}: unknown kind of value {node[KIND][:20]!r}")
        return decoders[node[KIND]](node, where)

    def _items(self, node, where) -> list:
        if not isinstance(node.get("items"), list):
            raise ModelFileError(f"{where}: items must be a list")
        return node["items"]

    def _float(self, node, where):
        if node.get("value") not in ("nan", "inf", "-inf"):
            raise ModelFileError(f"{where}: not one of nan, inf, -inf")
        return float(node["value"])

    def _sequence(self, node, where):
        items = [self.decode(item, where) for item in self._items(node, where)]
        return items if node[KIND] == "list" else tuple(items)

    def _dict(self, node, where):
        decoded = {}
        for pair in self._items(node, where):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) not in SCALARS:
                raise ModelFileError(f"{where}: a dict must be a list of pairs of key and value")
            decoded[pair[0]] = self.decode(pair[1], f"{where}[{str(pair[0])[:40]!r}]")
        return decoded

    def _array(self, node, where):
        name = node.get("name")
        if not isinstance(name, str) or name not in self._arrays:
            raise ModelFileError(f"{where}: the file does not have its array")
        return self._arrays[name]

    def _labels(self, node, where):
        items = self._items(node, where)
        width = node.get("width")
        if type(width) is not int or not 0 <= width <= 2**16:
            raise ModelFileError(f"{where}: width must be an integer up to {2**16}")
        if width == 0:
            # A number that is not finite has a node of its own; nothing else that nests is one.
            values = [
                self._float(item, where) if isinstance(item, dict) else item for item in items
            ]
            if not all(type(value) in (str, int, float, bool) for value in values):
                raise ModelFileError(f"{where}: labels must be str, int, float or bool")
            array = np.empty(len(values), dtype=object)
            array[:] = values
            return array
        if not all(isinstance(item, str) and len(item) <= width for item in items):
            raise ModelFileError(f"{where}: labels must be strings of at most {width} characters")
        # Of all labels together: what they take beyond the characters that the file holds.
        self._padding += 4 * (width * len(items) - sum(map(len, items)))
        if self._padding > PADDING_LIMIT:
            raise ModelFileError(f"{where}: {len(items)} strings of width {width} are too many")
        return np.array(items, dtype=f"<U{width}")


def encode_family(family: WeakLearnerFamily, encoder: Encoder, where: str) -> dict:
    """Encode a family by its registered name, API version and hyper-parameters."""
    try:
        registered = get_family(family.name)
    except FamilyError as error:
        raise ValueError(
            f"{where}: the family {family.name!r} must be registered, or the model could not be "
            f"loaded: {error}"
        ) from error
    if registered is not type(family):
        raise ValueError(
            f"{where}: the name {family.name!r} must be registered for "
            f"{type(family).__qualname__}, but is registered for another class"
        )
    params = {
        name: encoder.encode(value, f"{where}.{name}")
        for name, value in family.get_params(deep=False).items()
    }
    return {
        KIND: "family",
        "name": family.name,
        "api_version": family.api_version,
        "params": params,
    }


def decode_family(node: Mapping, decoder: Decoder, where: str) -> WeakLearnerFamily:
    """Decode a family encoded by `encode_family`.

    Raises
    ------
    ModelFileError
        If the family is not installed or is older than the model; the message names it.
    """
    name, version, params = (node.get(key) for key in ("name", "api_version", "params"))
    if not isinstance(name, str) or type(version) is not int or not isinstance(params, dict):
        raise ModelFileError(f"{where}: a family must have a name, an API version and parameters")
    try:
        family = get_family(name)
    except FamilyError as error:
        raise ModelFileError(
            f"the model needs the weak-learner family {name[:80]!r}, which is not available: "
            f"{error}"
        ) from error
    if version > family.api_version:
        raise ModelFileError(
            f"the model was saved with the family {name!r} of API version {version}, and the "
            f"installed one has version {family.api_version}"
        )
    unknown = sorted(set(params) - set(family().get_params(deep=False)))
    if unknown:
        raise ModelFileError(
            f"the installed family {name!r} has no parameter {unknown[0][:80]!r}: the model was "
            "saved by another version"
        )
    return family(**{key: decoder.decode(value, f"{where}.{key}") for key, value in params.items()})


def _encode_estimator(estimator: BaseEstimator, encoder: Encoder, where: str) -> dict:
    """A classifier of scikit-learn by its name and parameters, if its fitted form can be stored."""
    name = type(estimator).__name__
    if learners_class(estimator) is OpaqueModels:
        raise TypeError(
            f"{where} is a {name}, which a model file cannot hold: what it fits has no form in "
            "flat arrays, and the file holds no pickle. These can be saved: "
            f"{', '.join(FLAT_CLASSIFIERS)}"
        )
    params = estimator.get_params(deep=False).items()
    return {
        KIND: "estimator",
        "name": name,
        "params": {key: encoder.encode(value, f"{where}.{key}") for key, value in params},
    }


def _decode_estimator(node: Mapping, decoder: Decoder, where: str) -> BaseEstimator:
    """Inverse of `_encode_estimator`, for names of a fixed list."""
    name, params = node.get("name"), node.get("params")
    if not isinstance(name, str) or name not in FLAT_CLASSIFIERS or not isinstance(params, dict):
        raise ModelFileError(f"{where}: not a classifier that a model file can hold")
    estimator = getattr(import_module(FLAT_CLASSIFIERS[name]), name)()
    unknown = sorted(set(params) - set(estimator.get_params(deep=False)))
    if unknown:
        raise ModelFileError(
            f"the installed scikit-learn has no parameter {unknown[0][:80]!r} of {name}: the model "
            "was saved with another version"
        )
    decoded = {key: decoder.decode(value, f"{where}.{key}") for key, value in params.items()}
    return estimator.set_params(**decoded)
