"""Taking up training where an earlier fit ended: bit for bit, or from its coefficients."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cwboost.column_generation import ColumnGeneration
from cwboost.ensemble.model import Ensemble
from cwboost.estimator.input.columns import column_label
from cwboost.estimator.input.schema import InputSchema
from cwboost.families.outputs import pack_outputs
from cwboost.fitted_model import FittedModel

STATE_TYPES = {
    "pairs": dict,
    "solves_since_rebuild": int,
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
    "monotonic": lambda kept, wanted: ((wanted == 0) | (wanted == kept)).all(),
    # Every set of features lies in one of those that are wanted.
    "interactions": lambda kept, wanted: (kept[:, None] <= wanted).all(axis=2).any(axis=1).all(),
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
    wanted, n_kept = classifier.n_estimators, model.ensemble.n_rounds
    if not isinstance(wanted, str) and wanted < n_kept:
        raise ValueError(
            f"n_estimators must be at least {n_kept}, the rounds of the fitted model, if "
            f"warm_start=True, got {wanted}"
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
    before, family = previous.schema, schema.family
    if not np.array_equal(previous.model.labels, classes):
        raise ValueError("y must have the classes of the fitted model if warm_start=True")
    if before.n_features != schema.n_features:
        raise ValueError(
            f"X must have the {before.n_features} features of the fitted model if "
            f"warm_start=True, got {schema.n_features}"
        )
    names, known = schema.names, before.names
    if names is not None and known is not None and not np.array_equal(names, known):
        place = int(np.flatnonzero(names != known)[0])
        raise ValueError(
            "X must have the columns of the fitted model, in their order, if warm_start=True: "
            f"column {place} must be {known[place]!r}, got {names[place]!r}"
        )
    if not isinstance(previous.ensemble.learners, family.learners_type):
        raise ValueError(
            "weak_learner must be of the kind of the fitted model if warm_start=True, got "
            f"{family.name!r}"
        )
    learners = previous.ensemble.learners
    if len(learners) and learners.is_graded != divides:
        grown = "one learner for all classes" if learners.is_graded else "one learner per class"
        raise ValueError(
            "correction and monotonic_cst must be of the kind of the fitted model if "
            f"warm_start=True, of which a round has {grown}: fit again, with warm_start=False"
        )
    for name, wanted in constraints.items():
        kept = previous.model.constraints.get(name)
        if kept is None or not IMPLIES[name](kept, wanted):
            raise ValueError(
                f"{PARAMETER_OF[name]} must constrain nothing more than in the fitted model if "
                "warm_start=True, since what that has learned stays, got other constraints: fit "
                "again, with warm_start=False"
            )
    for place in sorted(before.categories.keys() | schema.categories.keys()):
        if set(before.categories.get(place, ())) != set(schema.categories.get(place, ())):
            raise ValueError(
                "X must hold the categories of the fitted model if warm_start=True, got others in "
                f"{column_label(place, names)}"
            )


def identity_of(training: ColumnGeneration, constraints: Mapping, data: int) -> str:
    """Return a digest of all that a dual bound and a reason to stop belong to.

    That is the family with its parameters, its constraints, the settings, and the `data`, of this
    fingerprint, with their weights and base scores.
    """
    constraints = sorted(constraints.items())
    parts = _description([training.pricer.family, training.settings, constraints, data])
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _description(value):
    """Return a value that is equal, and prints as equal, for equal parameters."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        own = sorted(value.get_params(deep=False).items())
        return type(value).__qualname__, _description(own)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return [_description(one) for one in value] if isinstance(value, list | tuple) else value


def training_state(
    training: ColumnGeneration, data: int | None, identity: str | None
) -> dict | None:
    """Return what continues training bit for bit, besides ensemble and history.

    `data` is the fingerprint of the training data, `identity` that of the whole training. Without
    them, or if an interrupt left the master ahead of the model, return None: training can go on
    from the coefficients alone.
    """
    if data is None or not training.between_rounds:
        return None
    return {
        **training.master.state(),
        "best_bound": training.best_bound,
        "precision": training.schedule.state(),
        "generator": training.rng.bit_generator.state,
        "data": data,
        "identity": identity,
    }


def _check_state(state: Mapping) -> None:
    """Check names and types of the fields of a training state: a file may hold anything."""
    if not (
        {name: type(value) for name, value in state.items()} == STATE_TYPES
        and [type(value) for value in state["precision"]] == PRECISION_TYPES
        and {name: type(value) for name, value in state["pairs"].items()} == PAIRS_TYPES
    ):
        raise ValueError("training_state must have the fields that training saves, each its type")


def resume(
    training: ColumnGeneration, ensemble: Ensemble, X, history: Mapping, state, identity
) -> None:
    """Take up a new training on X, still without columns, where `ensemble` ended.

    With its `state`, from `training_state`, the continuation equals one uninterrupted run bit for
    bit; without, the pair weights are formed from the coefficients. Bound and precision are taken
    up if they belong to a training of this `identity`.
    """
    _restore_columns(training, ensemble, X)
    rounds = ensemble.n_rounds
    training.model.resume(ensemble, {name: a[:rounds] for name, a in history.items()})
    if state is None:
        training.master.rebuild()
        return
    training.master.restore(state)
    if state["identity"] == identity:
        if state["best_bound"] > training.master.objective * (1.0 + 1e-9):
            raise ValueError(
                f"training_state: best_bound must not lie above the objective "
                f"{training.master.objective}, got {state['best_bound']}"
            )
        training.best_bound = state["best_bound"]
        training.schedule.restore(state["precision"], training.model.latest["objective"])
    try:
        training.rng.bit_generator.state = state["generator"]
    except (ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(f"training_state: not a state of a generator: {error!r}") from error


def _restore_columns(training: ColumnGeneration, ensemble: Ensemble, X) -> None:
    """Fill the master with the learners of an ensemble as columns, and their coefficients."""
    master, columns = training.master, training.columns
    if ensemble.learners.is_graded:
        # They are not columns: what they add to the scores is a constant from here on.
        steps = [step for *_, step in ensemble.path.changes(ensemble.n_scores)]
        # Round by round, as training adds them, for the same bits.
        master.start_from(ensemble.scores(X), sum(float(step.sum()) for step in steps))
        training.n_steps = sum(map(np.count_nonzero, steps))
        return
    values = np.asarray(ensemble.coef().sum(axis=1)).ravel()
    every = np.arange(len(ensemble.learners))
    for ids, classes, rows, _ in add_columns(master, ensemble, every, X):
        columns.assign(classes, rows, ids, master.coef_matrix.shape[1])
        np.add.at(master.coef_matrix, (classes, rows), values[ids])
    columns.record_all(master.coef_matrix)


def add_columns(master, ensemble: Ensemble, ids, X) -> Iterator[tuple]:
    """Add the outputs of learners `ids` to `master` as columns of their classes, in chunks.

    Yield the learners, classes, rows in the master, and whether these are new, of each chunk.
    """
    of_class = np.zeros(len(ensemble.learners), dtype=np.int64)
    of_class[ensemble.path.column] = ensemble.path.score_index
    for start in range(0, len(ids), LEARNERS_PER_CHUNK):
        chunk = ids[start : start + LEARNERS_PER_CHUNK]
        packed = pack_outputs(ensemble.learners.take(chunk).outputs(X))
        rows, is_new = master.add(of_class[chunk], packed)
        yield chunk, of_class[chunk], rows, is_new
