"""The bench of a fit on one machine: data, family, generators and threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from cwboost.calibration.scores import held_out_scores
from cwboost.calibration.stopping import EarlyStopping, patience_for
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.init_contract import InitModel
from cwboost.families.sealing.pricer import candidates_of
from cwboost.input.checks import generator_of
from cwboost.input.examples import VALID, Examples
from cwboost.input.splits import Split, given_splits, holdout_splits, split_off, with_blocks
from cwboost.recipe.holdout import HoldoutRun
from cwboost.recipe.initial import InitFitter, Start
from cwboost.recipe.parameters import Parameters
from cwboost.recipe.plan import Plan
from cwboost.support.lazy import made_once
from cwboost.training.binding import Binder
from cwboost.training.column_generation import ColumnGeneration
from cwboost.training.leaf_boosting import LeafBoosting
from cwboost.training.outcome import BoostingOutcome
from cwboost.training.resumption import PreviousFit, check_continues, origin_of, resume
from cwboost.training.runner import Runner


class Bench:
    """What a fit works with. `cwboost.dask.bench` has one of the same methods.

    Use it as a context: at its end, the bench lets go of X. `previous` is the fitted model that
    training goes on from.
    """

    def __init__(self, examples: Examples, wanted: Parameters, previous: PreviousFit | None):
        schema = examples.schema
        self._given = given_splits(wanted.cv, examples.problem)
        problem = with_blocks(examples.problem, self._given)
        held_out = examples.held_out
        if wanted.early_stopping is not None and VALID not in held_out:
            fraction, seed = wanted.validation_fraction, wanted.split_seed
            problem, own = split_off(problem, fraction, seed, self._given)
            held_out = {VALID: own, **held_out}
        self._problem, self._schema, self._held_out = problem, schema, held_out
        self._wanted, self.previous = wanted, previous
        self._training = LeafBoosting if wanted.divides else ColumnGeneration
        self._rng = generator_of(wanted.random_state)
        init_rng, self._holdout_rng = self._rng.spawn(2)
        self._init_models = InitFitter(init_rng, wanted.n_threads, schema.categorical)
        n_priced = wanted.family.capabilities.n_priced(len(problem.classes))
        releases = previous is None and not wanted.keeps_state
        self._binder = Binder(
            schema, problem, n_priced, wanted.n_threads, wanted.constraints, releases
        )
        if previous is not None:
            constraints = self._binder.constraints
            check_continues(previous, schema, problem.classes, constraints, wanted.divides)

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._problem.holder.release()

    @property
    def has_validation(self) -> bool:
        """True if held-out examples can stop training and fit the scale of the probabilities."""
        return VALID in self._held_out

    @property
    def is_elsewhere(self) -> bool:
        """True if training goes on from a model that these examples alone may not have made."""
        previous = self.previous
        return previous is not None and previous.model.examples != self._problem.checksum

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return len(self._problem.y)

    @property
    def candidates(self) -> Sequence[WeakLearnerFamily]:
        """Families that training may take in place of the one that is wanted."""
        return candidates_of(self._wanted.family, self._binder.size)

    def init_loss(self, model: InitModel, n: int) -> tuple[float, float]:
        """Return log losses on a sample of `n` examples; see `InitFitter.sample_loss`."""
        return self._init_models.sample_loss(model, self._problem, n)

    def start(self, model: InitModel | None) -> Start:
        """Return the start of boosting from an init model, or that of the previous fit."""
        if self.previous is not None:
            return self._init_models.start_again(self.previous.model.base, self._problem)
        return Start() if model is None else self._init_models.start(model, self._problem)

    @contextmanager
    def holdout(
        self, family: WeakLearnerFamily, start: Start, learning_rate: float
    ) -> Iterator[HoldoutRun | None]:
        """Provide a holdout run from a start, None if no class has an example to spare.

        All runs leave the same examples out and draw the same random numbers. These examples keep
        their place: no part of X is copied, and the masters have their scores.
        """
        splits, seed = self._splits
        if not splits:
            yield None
            return
        problem = replace(self._problem, base=start.scores)
        settings = replace(self._wanted.settings, learning_rate=learning_rate, tol=0.0)
        rng, trainings = np.random.default_rng(seed), []
        for split in splits:
            own = problem.without(split.left_out)
            master = own.master(settings.C, self._wanted.n_threads)
            pricer = self._binder.bind(family, own, rng)
            trainings.append(self._training(pricer, master, settings, rng))

        def scores() -> np.ndarray:
            parts = [one.master.scores_of(at) for one, (_, at) in zip(trainings, splits)]
            return np.concatenate(parts)

        measured = np.concatenate([split.measured for split in splits])
        yield HoldoutRun(trainings, scores, problem.y[measured], problem.weight[measured])

    def loop(self, start: Start, plan: Plan) -> Runner:
        """Return the loop of the training, before its first round."""
        wanted, previous = self._wanted, self.previous
        problem = replace(self._problem, base=start.scores)
        settings = replace(wanted.settings, learning_rate=plan.learning_rate)
        held_out = held_out_scores(
            self._held_out,
            problem.classes,
            n_scores=len(problem.classes),
            metric=plan.metric,
            base=start.base,
        )
        pricer = self._binder.bind(plan.family, problem, self._rng)
        master = problem.master(settings.C, wanted.n_threads)
        training = self._training(pricer, master, settings, self._rng, held_out)
        # This takes a pass over all data, so do it only if a continuation may need it.
        origin = None
        if wanted.keeps_state:
            origin = origin_of(training, problem, self._binder.constraints)
        if previous is not None:
            resume(training, previous, problem.X(), origin)
        problem.holder.release()
        return planned_loop(
            BoostingOutcome,
            wanted,
            plan,
            training=training,
            schema=self._schema,
            classes=problem.classes,
            base=start.base,
            constraints=self._binder.constraints,
            examples=None if self.is_elsewhere else problem.checksum,
            origin=origin,
        )

    @made_once
    def _splits(self) -> tuple[list[Split], int]:
        return holdout_splits(self._problem, self._given, self._holdout_rng)


def planned_loop(
    outcome: type[BoostingOutcome], wanted: Parameters, plan: Plan, *, training, schema, **facts
) -> Runner:
    """Return the loop of a planned training; `facts` are the other fields of its outcome."""
    stopping = None
    if plan.metric is not None:
        patience = patience_for(wanted.n_iter_no_change, plan.learning_rate)
        stopping = EarlyStopping(plan.metric, patience)
    return Runner(
        training=training,
        n_rounds=max(plan.n_rounds, training.n_rounds),
        outcome=outcome(
            training=training,
            schema=replace(schema, family=plan.family),
            wanted=wanted,
            plan=plan,
            early_stopping=stopping,
            **facts,
        ),
        callbacks=list(wanted.callbacks),
        early_stopping=stopping,
        score=wanted.score,
    )
