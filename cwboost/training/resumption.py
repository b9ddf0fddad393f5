"""Taking up training where an earlier fit ended: bit for bit, or from its coefficients."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cwboost.ensemble.model import Ensemble
from cwboost.families.outputs import pack_outputs
from cwboost.fitted_model import FittedModel
from cwboost.input.columns import column_label
from cwboost.input.examples import Examples, fingerprint
from cwboost.input.schema import InputSchema
from cwboost.master import LARGEST_C, RestrictedMaster
from cwboost.training.column_generation import ColumnGeneration
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.training import Training

STATE_TYPES = {
    "pairs": dict,
    "solves_since_rebuild": int,
    "C": float,
    "best_bound": float,
    "precision": list,
    "generator": dict,
    "data": int,
    "identity": str,
}
PAIRS_TYPES = {"weights": np.ndarray, "scores": np.ndarray}
PRECISION_TYPES = [float, int, bool, int, str]

PARAMETER_OF = {"monotonic": "monotonic_cst", "interactions": "interaction_cst"}
IMPLIES = {
    "monotonic": lambda kept, asked: ((asked == 0) | (asked == kept)).all(),
    # Every set of features lies in one of those that are asked for.
    "interactions": lambda kept, asked: (kept[:, None] <= asked).all(axis=2).any(axis=1).all(),
}
"""Whether scores that keep some constraints keep others, by the names of `BindContext`."""

LEARNERS_PER_CHUNK = 256
"""Learners whose outputs on the training set are computed together."""


@dataclass(frozen=True, eq=False)
class PreviousFit:
    """A fitted model that training goes on from.

    `ensemble` has all rounds that were trained, also those after the best one, and `state` what
    continues them bit for bit, or None.
    """

    model: FittedModel
    schema: InputSchema
    history: Mapping[str, np.ndarray]
    ensemble: Ensemble
    state: dict | None


def previous_fit(classifier) -> PreviousFit | None:
    """Return what `warm_start` goes on from, None for a cold start."""
    if not (classifier.warm_start and classifier.__sklearn_is_fitted__()):
        return None
    model, state = classifier.model_, dict(getattr(classifier, "_state", None) or {})
    ensemble = state.pop("ensemble", model.ensemble)
    n_estimators, n_kept = classifier.n_estimators, model.ensemble.n_rounds
    if not isinstance(n_estimators, str) and n_estimators < n_kept:
        raise ValueError(
            f"n_estimators must be at least {n_kept}, the rounds of the fitted model, if "
            f"warm_start=True, got {n_estimators}"
        )
    return PreviousFit(model, classifier._schema, classifier.history_, ensemble, state or None)


def check_continues(
    previous: PreviousFit, schema: InputSchema, classes, constraints, divides: bool
) -> None:
    """Check that training on new data, of this schema and these classes, can go on.

    `constraints` are those of the scores, in the form of `BindContext`. With `divides`, its rounds
    grow one learner for all classes.
    """
    if previous.state is not None:
        _check_state(previous.state)
    before, learners = previous.schema, previous.ensemble.learners
    labels = previous.model.labels
    _require(np.array_equal(labels, classes), f"y must have the classes {labels} of", classes)
    n_features, n_before = schema.n_features, before.n_features
    _require(n_features == n_before, f"X must have the {n_before} features of", n_features)
    if schema.names is not None and before.names is not None:
        for place, (name, known) in enumerate(zip(schema.names, before.names)):
            rule = f"column {place} of X must have the name {known!r} that it has in"
            _require(name == known, rule, repr(name))
    family = schema.family
    is_of_kind = isinstance(learners, family.learners_type)
    _require(is_of_kind, "weak_learner must be of the kind of", repr(family.name))
    grown = "rounds of one learner " + ("for all classes" if divides else "per class")
    is_of_kind = not len(learners) or learners.is_graded == divides
    _require(is_of_kind, "correction and monotonic_cst must be of the kind of", grown)
    for name, asked in constraints.items():
        kept = previous.model.constraints.get(name)
        rule = f"{PARAMETER_OF[name]} must constrain nothing more than in"
        _require(kept is not None and IMPLIES[name](kept, asked), rule, "other constraints")
    for place in sorted(before.categories.keys() | schema.categories.keys()):
        is_same = set(before.categories.get(place, ())) == set(schema.categories.get(place, ()))
        where = f"others in {column_label(place, schema.names)}"
        _require(is_same, "X must hold the categories of", where)


def _require(holds: bool, rule: str, got) -> None:
    """Raise ValueError with the text of a `rule` unless it holds, so that training can go on."""
    if not holds:
        raise ValueError(
            f"{rule} the fitted model if warm_start=True, got {got}: fit again, with "
            "warm_start=False"
        )


def origin_of(training: Training, examples: Examples, constraints: Mapping) -> dict:
    """Return what tells a training from others: checksums of its data, and of all.

    The latter, "identity", covers all that a dual bound and a reason to stop belong to: the family
    with its parameters and constraints, the settings, the data, their weights and base scores.
    """
    data, constraints = fingerprint(examples), sorted(constraints.items())
    # How far a path of C leads changes nothing of the way.
    settings = replace(training.settings, later_C=(), most_columns=None)
    parts = _description([training.pricer.family, settings, constraints, data])
    return {"data": data, "identity": hashlib.sha256(repr(parts).encode()).hexdigest()}


def _description(value):
    """Return a value that is equal, and prints as equal, for equal parameters."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = sorted(value.get_params(deep=False).items())
        return type(value).__qualname__, _description(params)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return [_description(item) for item in value] if isinstance(value, list | tuple) else value


def training_state(training: Training, origin: Mapping | None) -> dict | None:
    """Return what continues training bit for bit, besides ensemble and history.

    Without its `origin_of`, or if an interrupt left the master ahead of the model, return None:
    training can go on from the coefficients alone.
    """
    if origin is None or not training.between_rounds:
        return None
    return {
        **training.master.state(),
        "C": training.C,
        "best_bound": training.best_bound,
        "precision": training.schedule.state(),
        "generator": training.rng.bit_generator.state,
        **origin,
    }


def _check_state(state: Mapping) -> None:
    """Check names and types of the fields of a training state: a file may hold anything."""
    if not (
        {name: type(value) for name, value in state.items()} == STATE_TYPES
        and [type(value) for value in state["precision"]] == PRECISION_TYPES
        and {name: type(value) for name, value in state["pairs"].items()} == PAIRS_TYPES
    ):
        raise ValueError("training_state must have the fields that training saves, each its type")
    if not 0.0 < state["C"] <= LARGEST_C:
        raise ValueError(f"training_state: C must lie in (0, {LARGEST_C:g}], got {state['C']}")


def resume(training: Training, previous: PreviousFit, X, origin: Mapping) -> None:
    """Take up a new training on X, still without columns, where the previous fit ended.

    With a state of the same data, the continuation equals one uninterrupted run bit for bit;
    without, the pair weights are formed from the coefficients. Bound and precision are taken up if
    they belong to a training of this `origin_of`.
    """
    ensemble, state = previous.ensemble, previous.state
    if state is None or state["data"] != origin["data"]:
        ensemble, state = previous.model.ensemble, None
    rounds = ensemble.n_rounds
    history = {name: a[:rounds] for name, a in previous.history.items()}
    if isinstance(training, LeafBoosting):
        training.restore(ensemble, X, history)
    else:
        _restore_columns(training, ensemble, X)
    training.model.resume(ensemble, history)
    if state is None:
        training.master.rebuild()
        training.skip_draws(rounds)
        return
    training.master.restore(state)
    if state["identity"] == origin["identity"]:
        if isinstance(training, ColumnGeneration):
            training.take_place(state["C"], history["C"])
        if state["best_bound"] > training.master.objective * (1.0 + 1e-9):
            raise ValueError(
                f"training_state: best_bound must not lie above the objective "
                f"{training.master.objective}, got {state['best_bound']}"
            )
        training.best_bound = state["best_bound"]
        training.schedule.restore(state["precision"], training.model.latest["objective"])
        if isinstance(training, ColumnGeneration) and training.stop_reason is not None:
            training.next_C()
    try:
        training.rng.bit_generator.state = state["generator"]
    except (ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(f"training_state: not a state of a generator: {error!r}") from error


def _restore_columns(training: ColumnGeneration, ensemble: Ensemble, X) -> None:
    """Fill the master with the learners of an ensemble as columns, and their coefficients."""
    master, columns = training.master, training.columns
    if len(every := np.arange(len(ensemble.learners))):
        classes, rows, _ = add_columns(master, ensemble, every, X)
        columns.assign(classes, rows, every, master.coef_matrix.shape[1])
        values = np.asarray(ensemble.coef().sum(axis=1)).ravel()
        np.add.at(master.coef_matrix, (classes, rows), values)
    columns.record_all(master.coef_matrix)


def add_columns(
    master: RestrictedMaster, ensemble: Ensemble, ids, X
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add the outputs of some learners to `master` as columns of their classes.

    Return classes, rows in the master, and whether these are new.
    """
    classes = np.zeros(len(ensemble.learners), dtype=np.int64)
    classes[ensemble.path.column] = ensemble.path.score_index
    added = []
    for start in range(0, len(ids), LEARNERS_PER_CHUNK):
        chunk = ids[start : start + LEARNERS_PER_CHUNK]
        packed = pack_outputs(ensemble.learners.take(chunk).outputs(X))
        added.append(master.add(classes[chunk], packed))
    rows, is_new = map(np.concatenate, zip(*added))
    return classes[ids], rows, is_new
