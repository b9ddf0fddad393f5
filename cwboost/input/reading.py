"""Reading of the arguments of `fit` as examples: checked, encoded, sorted by class."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.utils.validation import check_consistent_length

from cwboost.ensemble.growing import HISTORY_NAMES
from cwboost.input.checks import errors_naming
from cwboost.input.examples import VALID, Examples, HeldOut, sort_by_class
from cwboost.input.labels import encode_labels, read_labels
from cwboost.input.schema import read_columns
from cwboost.support.weights import check_relative, check_weight


@dataclass(frozen=True, eq=False)
class Arguments:
    """The arguments of `fit`."""

    X: Any
    y: Any
    sample_weight: Any = None
    groups: Any = None
    X_val: Any = None
    y_val: Any = None
    sample_weight_val: Any = None
    eval_sets: Mapping[str, tuple[Any, ...]] | None = None

    def held_out(self) -> dict[str, tuple]:
        """Return (X, y, weight or None) of each held-out set, by name."""
        if (self.X_val is None) != (self.y_val is None):
            raise ValueError("X_val and y_val must be given together")
        held_out: dict[str, tuple] = {}
        if self.X_val is not None:
            held_out[VALID] = self.X_val, self.y_val, self.sample_weight_val
        elif self.sample_weight_val is not None:
            raise ValueError("sample_weight_val needs X_val and y_val")
        return held_out | _check_eval_sets(self.eval_sets)


def read(
    arguments: Arguments, schema_of: Callable, kind: type, class_weight, labels=None
) -> Examples:
    """Check and encode the examples that `fit` was given, or a method of a model of these `labels`.

    ``schema_of(X, weight)`` returns the schema of the columns, and `kind` is the class of the
    classifier. Held-out examples are of the `labels`, or else of those of y.
    """
    X = read_columns(arguments.X)
    weight = check_weight(arguments.sample_weight, X.shape[0])
    schema = schema_of(X, weight)
    X = schema.encode(X, kind)
    if arguments.y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    y = read_labels(arguments.y, warn=True)
    check_consistent_length(X, y)
    examples = sort_by_class(X, y, weight, class_weight, arguments.groups)
    held_out = {}
    labels = examples.classes if labels is None else labels
    for name, (X_held, y, weight_held) in arguments.held_out().items():
        names = names_of_set(name)
        with errors_naming(names[0]):
            X_held = schema.encode(X_held, kind)
        held_out[name] = read_held_out(X_held, y, weight_held, labels, names)
    return replace(examples, schema=schema, held_out=held_out)


def read_held_out(X, y, weight, classes, names=("X", "y", "sample_weight")) -> HeldOut:
    """Check labels and weights of held-out examples, X encoded, in arguments of these names."""
    X_name, y_name, weight_name = names
    y = read_labels(y, y_name)
    if len(y) != X.shape[0]:
        raise ValueError(
            f"{X_name} and {y_name} must have as many rows, got {X.shape[0]} and {len(y)}"
        )
    weight = check_relative(weight, len(y), weight_name)
    return HeldOut(X, encode_labels(y, classes, y_name, weight), weight)


def names_of_set(name: str) -> tuple[str, ...]:
    """Return the names of the arguments that hold X, y and weights of a held-out set."""
    if name == VALID:
        return "X_val", "y_val", "sample_weight_val"
    return tuple(f"eval_sets[{name!r}][{k}]" for k in range(3))


def _check_eval_sets(eval_sets) -> dict[str, tuple]:
    """Check the argument `eval_sets`; return (X, y, weight or None) by name."""
    if eval_sets is None:
        return {}
    expected = "eval_sets must be a dict of (X, y) or (X, y, sample_weight) by name"
    if not isinstance(eval_sets, Mapping):
        raise TypeError(f"{expected}, got {eval_sets!r}")
    checked = {}
    for name, members in eval_sets.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"{expected}, got the name {name!r}")
        if f"{name}_error" in HISTORY_NAMES:
            raise ValueError(
                f"eval_sets may not have the name {name!r}: history_ has a {name}_error already"
            )
        if not isinstance(members, Sequence) or len(members) not in (2, 3):
            raise TypeError(f"{expected}, got {type(members).__name__} for {name!r}")
        checked[name] = (*members, None)[:3]
    return checked
