"""The start of boosting: an init model is fitted, its scores become an offset of the margins."""

from copy import deepcopy
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from cwboost.calibration.calibration import LOSS_SCALE, LeftOut
from cwboost.families.init_contract import InitContext, InitModel
from cwboost.families.init_models import checked_fit, checked_scores
from cwboost.families.sealing.sample import read_only
from cwboost.fitted_model import BaseScores
from cwboost.input.examples import Examples
from cwboost.input.splits import cross_fitting
from cwboost.support.lazy import made_once
from cwboost.support.samples import evenly_spaced

MOST_FOR_SCALE = 50_000
"""Examples that determine the scale of base scores to three digits; all would take copies of
scores."""


@dataclass(frozen=True, eq=False)
class Start:
    """Where boosting starts: base scores, and those of the training examples, out of sample.

    Without base scores, columns start from zero, and leaves from the class shares. The `scores` are
    an array, (n_samples, n_classes), or what a bench has in its place, and `loss` is their log
    loss, if a bench knows it.
    """

    base: BaseScores | None = None
    scores: Any = None
    loss: float = inf

    @property
    def name(self) -> str | None:
        """Name of the init model, None without one."""
        return None if self.base is None else self.base.model.name


@dataclass(frozen=True, eq=False)
class InitFitter:
    """Fits init models to training examples; `categorical` as in `InitContext`."""

    rng: np.random.Generator
    n_threads: int
    categorical: np.ndarray | None

    def start(self, model: InitModel, examples: Examples) -> Start:
        """Fit an init model; start without one if the data do not suit it.

        Its out-of-sample scores are scaled to half of the log-odds, which is what boosting with
        the exponential loss estimates.
        """
        fitted, scores = self._fit(model, examples)
        if fitted is None:
            return Start()
        rows = evenly_spaced(len(examples.y), MOST_FOR_SCALE)
        scale, loss = _as_left_out(examples.take(rows)).scale_and_loss(scores[rows])
        factor = scale / LOSS_SCALE
        return Start(BaseScores(deepcopy(model), fitted, factor), factor * scores, loss)

    def start_again(self, base: BaseScores | None, examples: Examples) -> Start:
        """Start from the base scores of a fitted model.

        Its init model is fitted again for out-of-sample scores of the training examples. It stays
        the fitted one nevertheless: weak learners were trained to correct it.
        """
        if base is None:
            return Start()
        fitted, scores = self._fit(base.model, examples)
        if fitted is None:
            return Start(base, base(examples.X(), self.n_threads))
        return Start(base, base.factor * scores)

    def sample_loss(self, model: InitModel, examples: Examples, n: int) -> tuple[float, float]:
        """Return the out-of-sample log loss on `n` examples, and that of the class shares.

        The former is infinite if the data do not suit the model.
        """
        sample = examples.take(evenly_spaced(len(examples.y), n))
        fitted, scores = self._fit(model, sample)
        if fitted is None:
            return inf, 0.0
        left_out = _as_left_out(sample)
        return left_out.scale_and_loss(scores)[1], left_out.loss_of_shares()

    @made_once
    def _seed(self) -> int:
        """Seed of every fit: a training that goes on has the base scores that it began with."""
        return int(self.rng.integers(2**31))

    def _fit(self, model: InitModel, examples: Examples):
        """Return a fitted init model and its out-of-sample scores, or None of each."""
        folds, alone = cross_fitting(examples, self._seed)
        if not alone and (folds == folds[0]).all():
            return None, None  # nothing can be left out
        context = InitContext(
            n_classes=len(examples.counts),
            weight=examples.weight,
            folds=folds,
            alone=alone,
            random_state=self._seed,
            n_threads=self.n_threads,
            categorical=self.categorical,
        )
        X, rows = read_only(examples.given.X), read_only(examples.rows)
        fitted, scores = checked_fit(model.fit_rows(X, rows, examples.y, context), model)
        if fitted is None:
            return None, None
        scores = checked_scores(scores, model, (len(examples.y), len(examples.counts)))
        return fitted, np.ascontiguousarray(scores)


def _as_left_out(examples: Examples) -> LeftOut:
    """Return examples, in the shares of their weights, as if training had left them out."""
    weight = examples.row_weight
    return LeftOut.weighed(examples.y, weight, examples.weight / weight)
