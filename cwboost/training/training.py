"""What the trainings share: master, growing model, schedule, and the record of rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from cwboost.ensemble.growing import GrowingEnsemble
from cwboost.ensemble.recorded_columns import Changes
from cwboost.families.sealing.pricer import SealedPricer
from cwboost.master import Master
from cwboost.solvers.row_sampling import RowSampler
from cwboost.solvers.schedule import BoostingSettings, Schedule

PAYS = 1.0 + 1e-10
"""A learner lowers the objective if its edge is above this: one, and the rounding of an edge."""

MOST_DRAWS = 10
"""Learners that do not pay, in a row, after which training ends, unless pricing is exact."""


class Training(ABC):
    """Training in progress, round by round: `ColumnGeneration` or `LeafBoosting`.

    The pricer is the family, bound to the training matrix; it shares `rng`, the one source of
    randomness. The scores of `held_out` examples follow every round. `model` is that of the
    finished rounds, with their history; `between_rounds` is False while a round is unfinished, so
    that the master is ahead of the model. `first_priced` is the first class that gets learners: 1
    if one score serves two classes, else 0. `C` is the present one, and `best_bound` the largest
    dual bound so far there, NaN if pricing is not exact.
    """

    extra_names: ClassVar[tuple[str, ...]] = ()
    """Names of history arrays that only this kind of training has."""

    def __init__(self, pricer, master, settings, rng, held_out=()):
        self.pricer: SealedPricer = pricer
        self.master: Master = master
        self.settings: BoostingSettings = settings
        self.rng: np.random.Generator = rng
        self.sampler = RowSampler(settings.subsample, pricer.n_targets)
        self.first_priced = master.n_classes - pricer.n_targets
        self.exact = pricer.exact and self.sampler.takes_all
        self.model = GrowingEnsemble(master.n_classes, held_out, self.extra_names)
        self.begin(settings.C)
        self.between_rounds = True

    def begin(self, C: float) -> None:
        """Begin at a value of C, with no bound yet."""
        self.C, self.rounds_before = C, self.n_rounds
        self.schedule = Schedule(self.settings, self.exact)
        self.best_bound = np.nan

    @abstractmethod
    def round(self) -> bool:
        """Do one round; return False when training is over, whether or not it did a round."""

    @property
    def n_rounds(self) -> int:
        """Number of finished rounds."""
        return self.model.n_rounds

    @property
    def mean_loss(self) -> float:
        """Mean of the pair weights of the training examples, 1 before the first round."""
        return self.master.mean_loss

    @property
    def stop_reason(self) -> str | None:
        """Reason for stopping, or None; see `Schedule`."""
        return self.schedule.stop_reason

    def skip_draws(self, n_rounds: int) -> None:
        """Skip the random numbers of former rounds, whose features and examples would come again.

        No round draws 2**64 numbers.
        """
        self.rng.bit_generator.advance(n_rounds << 64)

    def add_learners(self, learners, edges) -> np.ndarray:
        """Add learners to the model, with edges as shares of all weight; return their ids."""
        return self.model.add_learners(learners, edges / self.master.C)

    def record(self, changes: Changes, entry: Mapping[str, Any]) -> float:
        """Add a round to the model, with its entry of the history; return its objective."""
        objective = self.master.objective
        usual = {
            "learning_rate": self.settings.step,
            "objective": objective,
            "train_error": self.master.train_error,
        }
        _, *moved, offset = changes
        self.model.end_round(*moved, {**usual, **entry}, offset)
        self.between_rounds = True
        return objective

    def end(self, learners) -> bool:
        """End training at the present C without these learners; return False."""
        if not self.n_rounds:
            self.model.add_learners(learners.take([]), [])
        self.schedule.end()
        self.between_rounds = True
        return False
