"""Probabilities from scores: softmax of the scores times a scale."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cwboost._kernels.common.elementary import softmax_likelihood
from cwboost.conformity import Conformity
from cwboost.kernels import exp, log
from cwboost.support.lazy import made_once
from cwboost.support.warnings import warn_caller
from cwboost.support.weights import size_with_factors

LOSS_SCALE = 2.0
"""Scale that inverts the loss: the minimiser of the expected pairwise exponential loss has exp(F_y)
proportional to the square root of P(y | x)."""

LOWEST, HIGHEST = log(1e-6), log(1e3)
"""Limits of the logarithm of a scale."""

MOST_STEPS, SMALLEST_STEP = 60, 1e-5
"""Newton steps at most, and the step after which the error of the next one, its square, is
rounding."""

PRIOR_SPREAD = 1.0
"""Standard deviation of the logarithm of the scale, normal around that of the loss: it keeps the
scale near that one if examples are few, and counts less the more there are."""

UNKNOWN = 0.5
"""Number of examples of unknown class that count beside the others, with their mean scores: without
a misclassified one, few examples do not make the model certain (Krichevsky and Trofimov 1981)."""

LARGEST_DIFFERENCE = 1e300
"""Between two scores: times a scale it is finite."""


def predict_prior(model, class_weights, C, most_columns=None):
    """Return a model without columns that predicts its base, or the shares of the classes; warn.

    None lowered the objective at C, or, with `most_columns`, the first ones were more.

    Without base scores, the offsets of its ensemble are the constant scores of least loss, half the
    logarithms of the shares of `class_weights`: for constant scores b the loss is the sum over
    c != a of share_a exp(b_c - b_a), and there its gradient vanishes.
    """
    what = "shares of the classes, whatever the features" if model.base is None else "base scores"
    why = f"no weak learner lowers the objective at C={C:g}"
    remedy = "check that features differ between the classes, or raise C"
    if most_columns is not None:
        why, remedy = f"the first columns are more than max_columns={most_columns}", "raise it"
    warn_caller(f"{why}: the model predicts the {what}; {remedy}")
    if model.base is not None:
        return model
    scores = log(class_weights / class_weights.sum()) / LOSS_SCALE
    return replace(model, ensemble=replace(model.ensemble, offsets=scores[np.newaxis]))


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Examples that training leaves out, which measure a model.

    Of each there are the class index in `y` and the number of examples, `weight`, for which it
    counts. `unseen` are the shares of the classes of which none is left out, 0 of others: as far as
    anyone knows, each example has such a class with this probability, whatever its scores. `size`
    is the number of independent examples, None that of all.
    """

    y: np.ndarray
    weight: np.ndarray
    unseen: np.ndarray | None = None
    size: float | None = None

    @classmethod
    def of(cls, held_out) -> LeftOut:
        """Return examples with the attributes of `HeldOut`; drawn ones stand for all."""
        weight = np.ones(len(held_out.y)) if held_out.weight is None else held_out.weight
        if held_out.masses is None:
            return cls.weighed(held_out.y, weight, groups=held_out.groups)
        return cls.in_shares(held_out.y, weight, held_out.masses, held_out.groups)

    @classmethod
    def weighed(cls, y, weight, factor=None, unseen=None, groups=None) -> LeftOut:
        """Return examples of these weights, which count; factors of these, None for ones, do not.

        `groups` are the keys of the examples that belong together, None if all are alone.
        """
        factor = np.ones(len(y)) if factor is None else factor
        own, size = weight * factor, None if groups is None else float(len(np.unique(groups)))
        n_used = size_with_factors(weight, factor)
        return cls(y, own * (n_used / own.sum()), unseen, size)

    @classmethod
    def in_shares(cls, y, weight, masses, groups=None) -> LeftOut:
        """Return drawn examples, with factors that give each class its share of the `masses`."""
        drawn = np.bincount(y, weight, minlength=len(masses))
        factor = np.divide(masses, drawn, out=np.zeros(len(masses)), where=drawn > 0)
        unseen = np.where(drawn > 0, 0.0, masses / masses.sum())
        return cls.weighed(y, weight, factor[y], unseen, groups)

    @made_once
    def n_used(self) -> float:
        """Number of examples that the weights stand for."""
        return float(self.weight.sum())

    @property
    def n_known(self) -> float:
        """Number of independent examples that the weights stand for."""
        return self.n_used if self.size is None else min(self.n_used, self.size)

    def loss_of_shares(self) -> float:
        """Return the log loss of the shares of the classes."""
        shares = np.bincount(self.y, self.weight) / self.n_used
        if self.unseen is not None:
            seen = np.resize(shares, len(self.unseen)) * (self.unseen == 0)
            shares = self.unseen + (1.0 - self.unseen.sum()) * seen
        shares = shares[shares > 0]
        return float(-(shares * log(shares)).sum())

    def calibrated(self, model, scores, fits_scale: bool = True):
        """Return a model of these scores with their conformity, and their scale if it fits one."""
        scale = self.scale_and_loss(scores)[0] if fits_scale else model.scale
        conformity = Conformity.of(scale * scores, self.y, self.weight)
        return replace(model, scale=scale, stage_scales=None, conformity=conformity)

    def scale_and_loss(self, scores, start: float = LOSS_SCALE) -> tuple[float, float]:
        """Return the most likely scale and the mean negative log-likelihood of the labels there.

        The scale s > 0 minimises the negative log-likelihood of smoothed labels under softmax(s F):
        a share UNKNOWN / (n + UNKNOWN) of each label is divided among all classes (Platt 1999), n
        being the `size`, and log(s / LOSS_SCALE)^2 / (2 PRIOR_SPREAD^2) is added.

        Newton's method on the derivative in log s, kept inside a bracket: the likelihood is convex
        in s, so the derivative changes its sign once. A `start` close to the scale, such as that of
        the round before, saves time.
        """
        # One row per class: sums over the classes then add rows, in a fraction of the time.
        differences = np.ascontiguousarray(scores.T) - scores[np.arange(len(self.y)), self.y]
        np.clip(differences, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=differences)
        weight = self.weight
        # The labels that are not known subtract s times these from loss and derivative.
        missed = 0.0
        if self.unseen is not None and self.unseen.any():
            missed = np.sum(weight * (self.unseen[:, None] * differences).sum(axis=0))
        mean = np.sum(weight * differences.mean(axis=0))
        smoothed = missed + UNKNOWN / (UNKNOWN + self.n_known) * mean
        centre = log(LOSS_SCALE)
        low, high, u = LOWEST, HIGHEST, log(start)
        for _ in range(MOST_STEPS):
            scale = exp(u)
            loss, first, second = softmax_likelihood(scale, differences, weight)
            slope = first - scale * smoothed + (u - centre) / PRIOR_SPREAD**2
            low, high = (u, high) if slope < 0 else (low, u)
            curvature = second - scale * smoothed + 1.0 / PRIOR_SPREAD**2
            target = u - slope / curvature if curvature > 0 else np.nan
            if not low < target < high:
                target = 0.5 * (low + high)
            step, u = target - u, target
            if abs(step) < SMALLEST_STEP:
                break
        # The likelihood is that before the last step, of which the first order is enough.
        loss += first * step - scale * missed * (1.0 + step)
        return float(exp(u)), float(loss / max(1, self.n_used))
