"""A fit on one machine: data, family, generators and threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cwboost.calibration.scores import HeldOutScores, held_out_scores
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.init_contract import InitModel
from cwboost.families.sealing.sample import Sample
from cwboost.input.checks import generator_of
from cwboost.input.constraints import read_constraints
from cwboost.input.examples import VALID, Examples
from cwboost.input.splits import (
    Split,
    cross_fitting,
    given_splits,
    holdout_splits,
    split_off,
    with_blocks,
)
from cwboost.recipe.holdout import HoldoutRun, left_out_of
from cwboost.recipe.initial import InitFitter, Start
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.plan import Plan
from cwboost.support.lazy import made_once
from cwboost.support.weights import effective_size
from cwboost.target_statistics import TargetStatistics, cross_fitted, statistical_columns
from cwboost.training.binding import Binder
from cwboost.training.column_generation import ColumnGeneration
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.outcome import BoostingOutcome
from cwboost.training.place import Bench
from cwboost.training.resumption import PreviousFit, check_continues, origin_of, resume
from cwboost.training.runner import Runner


class Encoded(NamedTuple):
    """The examples with an encoding of categories, and its target statistics if it has some."""

    binder: Binder
    statistics: TargetStatistics | None


class OneMachine(Bench):
    """The place of a fit whose examples are in the memory of this process."""

    def __init__(self, examples: Examples, parameters: Parameters, previous: PreviousFit | None):
        super().__init__(parameters, previous)
        schema = examples.schema
        self._splits_given = given_splits(parameters.cv, examples)
        examples = with_blocks(examples, self._splits_given)
        if parameters.early_stopping is not None and VALID not in examples.held_out:
            fraction, seed = parameters.validation_fraction, parameters.split_seed
            examples = split_off(examples, fraction, seed, self._splits_given)
        self._examples = examples
        self._training = LeafBoosting if parameters.divides else ColumnGeneration
        self._rng = generator_of(parameters.random_state)
        init_rng, self._holdout_rng = self._rng.spawn(2)
        self._init_models = InitFitter(init_rng, parameters.n_threads, schema.categorical)
        self._n_targets = parameters.family.capabilities.n_priced(len(examples.classes))
        self._constraints = read_constraints(
            parameters.constraints, schema, examples.classes, self._n_targets
        )
        self._encoded: dict[tuple[str, int], Encoded] = {}
        if previous is not None:
            check_continues(
                previous, schema, examples.classes, self._constraints, parameters.divides
            )

    def close(self) -> None:
        self._examples.given.release()

    @property
    def has_validation(self) -> bool:
        return VALID in self._examples.held_out

    @property
    def is_elsewhere(self) -> bool:
        previous = self.previous
        return previous is not None and previous.model.examples != self._examples.checksum

    @property
    def n_examples(self) -> int:
        return len(self._examples.y)

    @property
    def n_classes(self) -> int:
        return len(self._examples.classes)

    @property
    def size(self) -> float:
        return effective_size(self._examples.row_weight)

    @property
    def has_statistics(self) -> bool:
        return len(statistical_columns(self._examples.schema.n_categories)) > 0

    def init_loss(self, model: InitModel, n: int) -> tuple[float, float]:
        return self._init_models.sample_loss(model, self._examples, n)

    def start(self, model: InitModel | None) -> Start:
        if self.previous is not None:
            return self._init_models.start_again(self.previous.model.base, self._examples)
        return Start() if model is None else self._init_models.start(model, self._examples)

    @contextmanager
    def holdout(
        self, family: WeakLearnerFamily, start: Start, learning_rate: float, encoding: str
    ) -> Iterator[HoldoutRun | None]:
        """Provide a holdout run from a start, None if no class has an example to spare.

        If there are held-out examples, a run is measured on them. Else all runs leave the same
        examples out and draw the same random numbers. These examples keep their place: no part of X
        is copied, and the masters have their scores.
        """
        settings = self._parameters.settings.of_holdout(learning_rate)
        examples = replace(self._examples, base=start.scores)
        if self.has_validation:
            yield self._validation_run(family, examples, settings, start, self._encoding(encoding))
            return
        splits, seed = self._splits
        if not splits:
            yield None
            return
        rng, trainings = np.random.default_rng(seed), []
        for number, split in enumerate(splits):
            others = examples.downweighted(split.left_out)
            master = others.master(settings.C, self._parameters.n_threads)
            pricer = self._encoding(encoding, number).binder.bind(family, others, rng)
            trainings.append(self._training(pricer, master, settings, rng))

        def scores() -> np.ndarray:
            pairs = zip(trainings, splits)
            parts = [training.master.scores_of(split.measured) for training, split in pairs]
            return np.concatenate(parts)

        measured = np.concatenate([split.measured for split in splits])
        left_out = left_out_of(examples, measured, is_given=bool(self._splits_given))
        yield HoldoutRun(trainings, scores, left_out)

    def _validation_run(self, family, examples, settings, start, encoded: Encoded) -> HoldoutRun:
        """Return a holdout run on all examples, which is measured on the held-out ones."""
        rng = np.random.default_rng(self._parameters.split_seed)
        (valid,) = self._held_out_scores({VALID: self._examples.held_out[VALID]}, start, encoded)
        pricer = encoded.binder.bind(family, examples, rng)
        master = examples.master(settings.C, self._parameters.n_threads)
        training = self._training(pricer, master, settings, rng, [valid])
        return HoldoutRun([training], lambda: valid.class_scores, valid.left_out)

    def _held_out_scores(
        self, held_out, start: Start, encoded: Encoded, metric=None
    ) -> list[HeldOutScores]:
        """Return the scores of held-out sets, which start where boosting does."""
        statistics, classes = encoded.statistics, self._examples.classes
        return held_out_scores(
            held_out,
            classes,
            n_scores=len(classes),
            metric=metric,
            base=start.base,
            features=None if statistics is None else statistics.features,
        )

    def begin(self, start: Start, plan: Plan) -> Runner:
        parameters, previous = self._parameters, self.previous
        examples = replace(self._examples, base=start.scores)
        settings = parameters.settings.planned(plan.learning_rate, plan.Cs)
        encoded = self._encoding(plan.encoding)
        statistics = encoded.statistics
        held_out = self._held_out_scores(self._examples.held_out, start, encoded, plan.metric)
        columns = None
        if statistics is not None:
            columns = Sample(examples.given.X, examples.rows, examples.weight)
        pricer = encoded.binder.bind(plan.family, examples, self._rng)
        master = examples.master(settings.C, parameters.n_threads)
        training = self._training(pricer, master, settings, self._rng, held_out)
        # This takes a pass over all data, so do it only if a continuation may need it.
        origin = None
        if parameters.keeps_state:
            origin = origin_of(training, examples, self._constraints)
        if previous is not None:
            resume(training, previous, encoded.binder.examples.X(), origin)
        examples.given.release()
        self._encoded.clear()
        return self.planned_runner(
            BoostingOutcome,
            plan,
            training=training,
            schema=self._examples.schema,
            classes=examples.classes,
            base=start.base,
            constraints=self._constraints,
            examples=None if self.is_elsewhere else examples.checksum,
            origin=origin,
            statistics=statistics,
            columns=columns,
        )

    def _encoding(self, encoding: str, split: int | None = None) -> Encoded:
        """Return the features of all examples, learned without those that a split leaves out."""
        learns = encoding == "target" or self._examples.schema.categories
        key = encoding, split if learns else None
        if key not in self._encoded:
            self._encoded[key] = self._encode(*key)
        return self._encoded[key]

    def _encode(self, encoding: str, split: int | None) -> Encoded:
        examples, schema, parameters = self._examples, self._examples.schema, self._parameters
        statistics, constraints = None, self._constraints
        left_out = [] if split is None else self._splits[0][split].left_out
        if encoding == "target":
            statistics, features = self._statistics(left_out)
            examples = examples.with_features(features)
            schema = schema.with_statistics(statistics)
            constraints = {k: array[:, statistics.column] for k, array in constraints.items()}
        elif split is not None:
            new = examples.as_new(left_out)
            if np.array_equal(new, examples.X(left_out), equal_nan=True):
                return self._encoding(encoding)
            features = examples.X()
            features[left_out] = new
            examples = examples.with_features(features)
        needed = parameters.keeps_state or parameters.chooses_init or schema.categories
        releases = self.previous is None and not needed
        binder = Binder(
            schema, examples, self._n_targets, parameters.n_threads, constraints, releases
        )
        return Encoded(binder, statistics)

    def _statistics(self, left_out) -> tuple[TargetStatistics, np.ndarray]:
        """Return target statistics, and the features of all examples.

        A model that training goes on from keeps its own.
        """
        examples, parameters, previous = self._examples, self._parameters, self.previous
        X, is_left_out = examples.X(), np.zeros(len(examples.y), dtype=bool)
        if self.is_elsewhere:
            kept = previous.model.statistics
            return kept, kept.features(X)
        is_left_out[left_out] = True
        folds, _ = cross_fitting(examples, parameters.split_seed)
        statistics, features = cross_fitted(
            X,
            examples.y,
            examples.weight,
            examples.row_weight,
            folds=folds,
            left_out=is_left_out,
            n_classes=len(examples.classes),
            n_categories=self._examples.schema.n_categories,
        )
        return (statistics if previous is None else previous.model.statistics), features

    @made_once
    def _splits(self) -> tuple[list[Split], int]:
        return holdout_splits(self._examples, self._splits_given, self._holdout_rng)
