"""Conversion of Python values to JSON and flat arrays, without pickle and names of code.

Plain JSON values represent themselves. Any other value is an object with its kind under ``"$"``.
What the encoder writes, the decoder reads: both keep the same limits.
"""

import math
import re
from collections.abc import Mapping, Sequence, Set
from importlib import import_module
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from cwboost.families.composed.sklearn_learners import (
    FLAT_CLASSIFIERS,
    OpaqueModels,
    learners_class,
)
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.discovery import distribution_of
from cwboost.families.init_contract import InitModel
from cwboost.families.plugin_loading import normalise
from cwboost.families.registry import INIT_MODELS, WEAK_LEARNERS, FamilyError, Registry
from cwboost.model_file.container import NAME, ModelFileError
from cwboost.support.warnings import warn_caller

KIND = "$"
KINDS = {"family": WEAK_LEARNERS, "init": INIT_MODELS}
DEPTH_LIMIT = 24
PADDING_LIMIT = 2**24
SCALARS = (str, int, float, bool, type(None))
DISTRIBUTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
VERSION = re.compile(r"[A-Za-z0-9.!+_-]{0,100}")


class Encoder:
    """Encoder of values as JSON nodes; collects their arrays in `arrays` by name."""

    def __init__(self):
        self.arrays: dict[str, np.ndarray] = {}
        self._depth = 0

    def encode(self, value, where: str):
        """Return the node for `value`; `where` names the value in errors and its arrays.

        Numbers of other types become int or float, other sequences and sets become lists, and other
        arrays (a Series, an Index) those of NumPy.
        """
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise ValueError(f"{where[:80]}: values are nested more than {DEPTH_LIMIT} deep")
        try:
            return self._encode(value, where)
        finally:
            self._depth -= 1

    def _encode(self, value, where: str):
        value = _plain(value)
        if isinstance(value, float) and not math.isfinite(value):
            return {KIND: "float", "value": str(value)}
        if isinstance(value, str):
            return str(value)
        if type(value) in SCALARS:
            return value
        if type(value) is tuple:
            return {KIND: "tuple", "items": self._items(value, where)}
        if isinstance(value, Mapping):
            return self._encode_mapping(value, where)
        if hasattr(value, "__array__"):
            return self._encode_array(np.asarray(value), where)
        if isinstance(value, WeakLearnerFamily | InitModel):
            return encode_plugin(value, self, where)
        if isinstance(value, BaseEstimator):
            return _encode_estimator(value, self, where)
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
            return {KIND: "list", "items": self._items(value, where)}
        if isinstance(value, Set):
            return {KIND: "list", "items": self._items(sorted(value, key=repr), where)}
        raise TypeError(
            f"{where} is a {type(value).__qualname__}, which a model file cannot hold (it holds "
            "str, int, float, bool, None, lists, dicts, arrays of these, and families)"
        )

    def encode_params(self, owner: BaseEstimator, where: str, skipped=()) -> dict:
        """Encode parameters by name, without `skipped` and generators, which have no form."""
        params = {}
        for name, value in owner.get_params(deep=False).items():
            if name in skipped:
                continue
            if isinstance(value, (np.random.RandomState, np.random.Generator)):
                warn_caller(
                    f"{where}.{name} is a generator object and is not stored; the loaded model has "
                    "its default"
                )
                continue
            params[name] = self.encode(value, f"{where}.{name}")
        return params

    def _items(self, values, where: str) -> list:
        return [self.encode(item, f"{where}.{i}") for i, item in enumerate(values)]

    def _encode_mapping(self, value: Mapping, where: str) -> dict:
        items = []
        for i, (key, item) in enumerate(value.items()):
            name = self.encode(key, f"{where}.key")
            if type(name) not in SCALARS:
                raise TypeError(
                    f"{where} has the key {str(key)[:80]!r}; a model file holds dicts whose keys "
                    "are str, finite numbers, bool or None"
                )
            items.append([name, self.encode(item, f"{where}.{i}")])
        return {KIND: "dict", "items": items}

    def _encode_array(self, array: np.ndarray, where: str) -> dict:
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            with np.errstate(over="ignore"):
                double = array.astype(np.float64)
            array = double if np.array_equal(array, double, equal_nan=True) else array
        if array.dtype.kind in "biuf":
            name = where if NAME.fullmatch(where) else f"value {len(self.arrays)}"
            self.arrays[name] = array
            return {KIND: "array", "name": name}
        if array.dtype.kind in "UO" and array.ndim != 1:
            return self.encode(array.tolist(), where)
        if array.dtype.kind not in "UO":
            raise TypeError(
                f"{where} is an array of dtype {array.dtype}; a model file holds arrays of "
                "numbers, str, int, float and bool"
            )
        items = [_plain(item) for item in array.tolist()]
        for item in items:
            if not isinstance(item, str) and type(item) not in (int, float, bool):
                raise TypeError(
                    f"{where} holds a {type(item).__qualname__}; a model file holds labels of "
                    "type str, int, float and bool"
                )
        width = array.dtype.itemsize // 4 if array.dtype.kind == "U" else 0
        return {KIND: "labels", "width": width, "items": [self.encode(x, where) for x in items]}


def _plain(value):
    """Return a number of any type as bool, int or float, and another value as it is."""
    if isinstance(value, np.generic) and not isinstance(value, (str, bytes)):
        value = value.item()
    if type(value) in SCALARS or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


class Decoder:
    """Inverse of `Encoder`; raises ModelFileError or ValueError for invalid or hostile nodes."""

    def __init__(self, arrays: Mapping[str, np.ndarray]):
        self._arrays = arrays
        self._padding = 0

    def decode(self, node, where: str):
        if type(node) in SCALARS:
            return node
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
        if node[KIND] in KINDS:
            return decode_plugin(KINDS[node[KIND]], node, self, where)
        if node[KIND] == "estimator":
            return _decode_estimator(node, self, where)
        if node[KIND] not in decoders:
            raise ModelFileError(f"{where}: unknown kind of value {node[KIND][:20]!r}")
        return decoders[node[KIND]](node, where)

    def decode_params(self, nodes: Mapping, known, where: str, owner: str) -> dict:
        """Decode the parameters of an owner, of which `known` are the names."""
        unknown = sorted(set(nodes) - set(known))
        if unknown:
            raise ModelFileError(
                f"{owner} has no parameter {unknown[0][:80]!r}: the model was saved by another "
                "version"
            )
        return {name: self.decode(node, f"{where}.{name}") for name, node in nodes.items()}

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
            key, value = pair
            decoded[key] = self.decode(value, f"{where}[{str(key)[:40]!r}]")
        return decoded

    def _array(self, node, where):
        name = node.get("name")
        if not isinstance(name, str) or name not in self._arrays:
            raise ModelFileError(f"{where}: the file does not have its array")
        return self._arrays[name]

    def _labels(self, node, where):
        # A number that is not finite has a node of its own.
        items = [
            self._float(item, where) if isinstance(item, dict) else item
            for item in self._items(node, where)
        ]
        width = node.get("width")
        if type(width) is not int or width < 0:
            raise ModelFileError(f"{where}: width must be an integer >= 0")
        if width == 0:
            if not all(type(value) in (str, int, float, bool) for value in items):
                raise ModelFileError(f"{where}: labels must be str, int, float or bool")
            return _objects(items)
        if not all(isinstance(item, str) and len(item) <= width for item in items):
            raise ModelFileError(f"{where}: labels must be strings of at most {width} characters")
        # Of all labels together: what they take beyond the characters that the file holds. One
        # long label makes all of them as long: if they took too much, they stay Python's strings.
        padding = 4 * (width * len(items) - sum(map(len, items)))
        if self._padding + padding > PADDING_LIMIT:
            return _objects(items)
        self._padding += padding
        return np.array(items, dtype=f"<U{width}")


def _objects(items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def encode_plugin(plugin: WeakLearnerFamily | InitModel, encoder: Encoder, where: str) -> dict:
    """Encode a family or an init model: its registered name, API version and hyper-parameters."""
    tag = "family" if isinstance(plugin, WeakLearnerFamily) else "init"
    kind = KINDS[tag]
    try:
        registered = kind.get(plugin.name)
    except FamilyError as error:
        raise ValueError(
            f"{where}: the {kind.noun} {plugin.name!r} must be registered, or the model could not "
            f"be loaded: {error}"
        ) from error
    if registered is not type(plugin):
        raise ValueError(
            f"{where}: the name {plugin.name!r} must be registered for "
            f"{type(plugin).__qualname__}, but is registered for another class"
        )
    node = {KIND: tag, "name": plugin.name, "api_version": plugin.api_version}
    owner = distribution_of(registered)
    if owner is not None and DISTRIBUTION.fullmatch(owner[0]) and VERSION.fullmatch(owner[1]):
        node |= dict(zip(("distribution", "version"), owner))
    return node | {"params": encoder.encode_params(plugin, where)}


def decode_plugin(kind: Registry, node: Mapping, decoder: Decoder, where: str):
    """Decode a family or an init model encoded by `encode_plugin`.

    A class that the program has registered itself (`cwboost.register_family`) is taken whatever
    the distribution that the file names.
    """
    name, version, params = (node.get(key) for key in ("name", "api_version", "params"))
    if not isinstance(name, str) or type(version) is not int or not isinstance(params, dict):
        raise ModelFileError(
            f"{where}: a {kind.noun} must have a name, an API version and parameters"
        )
    saved = _saved_owner(node, where)
    try:
        found = kind.get(name)
    except FamilyError as error:
        origin = "" if saved is None else f" It was saved with the distribution {' '.join(saved)}."
        raise ModelFileError(
            f"the model needs the {kind.noun} {name[:80]!r}, which is not available: "
            f"{error}{origin}"
        ) from error
    present = distribution_of(found)
    if saved and present and normalise(saved[0]) != normalise(present[0]):
        raise ModelFileError(
            f"the model was saved with the {kind.noun} {name!r} of the distribution "
            f"{' '.join(saved)}; here the name belongs to another one, {' '.join(present)}: "
            f"install {saved[0]}, or turn {present[0]} off (CWBOOST_DISABLE_PLUGINS)"
        )
    if version > found.api_version:
        raise ModelFileError(
            f"the model was saved with the {kind.noun} {name!r} of API version {version}, and the "
            f"installed one has version {found.api_version}"
        )
    owner = f"the installed {kind.noun} {name!r}"
    return found(**decoder.decode_params(params, found().get_params(deep=False), where, owner))


def _saved_owner(node: Mapping, where: str) -> tuple[str, str] | None:
    """Return distribution and version of a plugin as the file names them, None if it does not."""
    if "distribution" not in node:
        return None
    for key, form in (("distribution", DISTRIBUTION), ("version", VERSION)):
        if not isinstance(node.get(key), str) or not form.fullmatch(node[key]):
            raise ModelFileError(f"{where}: the {key} of a plugin must be a name, got another str")
    return node["distribution"], node["version"]


def _encode_estimator(estimator: BaseEstimator, encoder: Encoder, where: str) -> dict:
    """A classifier of scikit-learn by its name and parameters, if its fitted form can be stored."""
    name = type(estimator).__name__
    if learners_class(estimator) is OpaqueModels:
        raise TypeError(
            f"{where} is a {name}, which a model file cannot hold: what it fits has no form in "
            "flat arrays, and the file holds no pickle. These can be saved as weak learners: "
            f"{', '.join(FLAT_CLASSIFIERS)}"
        )
    return {KIND: "estimator", "name": name, "params": encoder.encode_params(estimator, where)}


def _decode_estimator(node: Mapping, decoder: Decoder, where: str) -> BaseEstimator:
    """Inverse of `_encode_estimator`, for names of a fixed list."""
    name, params = node.get("name"), node.get("params")
    if not isinstance(name, str) or name not in FLAT_CLASSIFIERS or not isinstance(params, dict):
        raise ModelFileError(f"{where}: not a classifier that a model file can hold")
    estimator = getattr(import_module(FLAT_CLASSIFIERS[name]), name)()
    owner = f"{name} of the installed scikit-learn"
    known = estimator.get_params(deep=False)
    return estimator.set_params(**decoder.decode_params(params, known, where, owner))
