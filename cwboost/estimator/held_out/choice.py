"""The choice among settings of a family, by pilots that leave the same examples out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cwboost.estimator.held_out.calibration import mean_and_error
from cwboost.estimator.held_out.pilot import Pilot, PilotPlan, Pilots, plan_of_pilot
from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.sealing import SealedPricer, alternatives_of
from cwboost.solvers.schedule import Settings

__all__ = ["MOST_EXAMPLES", "ROUNDS", "chosen_pricer", "deciding_plan", "preferred_pricer"]

MOST_EXAMPLES = 2**16
"""With more, families keep their own settings: pilots would take long."""

ROUNDS, MOST_ROUNDS = 400, 40
"""A pilot that decides has the rounds of one for a training of 400, but not more than 40, whatever
is asked for, so that a training in two parts decides as a whole one."""

SURE = 1.0
"""An alternative must be better by this many standard errors of the difference of log losses."""


def chosen_pricer(
    family: WeakLearnerFamily,
    bind: Callable[[WeakLearnerFamily], SealedPricer],
    pilots: Pilots,
    settings: Settings,
    C: float,
    rng: np.random.Generator,
    is_enough: Callable[[Pilot], bool] = lambda own: False,
) -> SealedPricer:
    """Bind a family, or the one of its alternatives that a pilot prefers.

    Parameters
    ----------
    family : WeakLearnerFamily
    bind : callable
        Binds a family to the training matrix; it may draw from `rng`.
    pilots : Pilots
    settings : Settings
    C : float
    rng : numpy.random.Generator
        Afterwards in the state in which binding of the chosen family leaves it.
    is_enough : callable, optional
        Returns True if no alternative matters, by the pilot of the family itself.
    """
    pricer = bind(family)
    if not alternatives_of(family):
        return pricer
    own = pilots.run(pricer, deciding_plan(settings, C, pricer.n_samples))
    if own is None:
        return pricer
    if is_enough(own):
        pilots.keep(own)
        return pricer
    return preferred_pricer(own, family, bind, pilots, rng)


def preferred_pricer(own: Pilot, family: WeakLearnerFamily, bind, pilots: Pilots, rng):
    """Return the pricer of a pilot of a family, or that of the alternative that pilots prefer.

    Alternatives are tried in their order, until one is better, be it by less than is sure. Other
    parameters are those of `chosen_pricer`; the generator is in the state in which binding the
    family left it.
    """
    best, state = own, rng.bit_generator.state
    for other in alternatives_of(family, own.model.ensemble().learners):
        rng.bit_generator.state = pilots.first_state
        pilot = pilots.run(bind(other), own.plan)
        difference, error = _difference(pilot, own)
        if difference < -SURE * error:
            best, state = pilot, rng.bit_generator.state
        if difference < 0.0:
            break
    rng.bit_generator.state = state
    pilots.keep(best)
    return best.pricer


def deciding_plan(settings: Settings, C: float, n_samples: int) -> PilotPlan:
    """Return the plan of a pilot that decides, whatever the number of rounds of the training."""
    plan = plan_of_pilot(settings, C, ROUNDS, n_samples)
    return replace(plan, n_rounds=min(plan.n_rounds, MOST_ROUNDS))


def _difference(pilot: Pilot, other: Pilot) -> tuple[float, float]:
    """Return the difference of the mean log losses of two pilots, and its standard error."""
    return mean_and_error(pilot.log_losses - other.log_losses, pilot.weight)
