"""Where boosting starts: what is tried first, and what may challenge it in the race."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite

from cwboost.families.discovery import get_init
from cwboost.families.init_contract import InitModel
from cwboost.families.init_models import resolve_init
from cwboost.recipe import constants as at
from cwboost.recipe.initial import Start
from cwboost.recipe.parameters import Parameters
from cwboost.support.clock import Clock
from cwboost.support.warnings import warn_caller

FITTED = "that of the fitted model"


@dataclass(frozen=True, eq=False)
class FirstStart:
    """The start that is tried first, and why.

    `model` is the default init model if a race may take it or leave it, and `sample_loss` its log
    loss on a sample.
    """

    start: Start
    reason: str
    model: InitModel | None = None
    sample_loss: float = inf

    def challengers(self, bench, loss: float) -> Iterator[Start]:
        """Yield the starts that challenge a holdout run of this log loss.

        Fitting the default init model would be most of the time of a fit. It is done if all rows
        have told more than the sample, and if a small model is lower than the holdout run. The
        linear one is fitted in no time; it must be nearly as low alone.
        """
        if self.model is None:
            return
        if self.start.base is not None:
            yield Start()
        elif bench.changes_start:
            if loss < at.TOLD_MORE * self.sample_loss:
                small = get_init(at.DEFAULT_INIT)(max_landmarks=at.FEW_LANDMARKS)
                if bench.init_loss(small, at.MORE)[0] < (1.0 - at.LEAST_GAIN) * loss:
                    yield bench.start(self.model)
            linear = bench.start(get_init(at.LINEAR_INIT)())
            if linear.loss < at.NEARLY * loss:
                yield linear


def first_start(parameters: Parameters, bench, clock: Clock) -> FirstStart:
    """Return the start to try first; a race may take another one."""
    if bench.previous is not None:
        return FirstStart(bench.start(None), FITTED)
    if not parameters.chooses_init:
        return _given_start(parameters, bench)
    if parameters.constraints:
        kept = " and ".join(parameters.constraints)
        return FirstStart(Start(), f"an init model would not keep {kept}")
    if not parameters.settings.stagewise:
        return FirstStart(Start(), "correction='total' uses no init model by default")
    if clock.left <= 0:
        return FirstStart(Start(), "the time limit has passed")
    if bench.n_examples < at.FEWEST:
        return FirstStart(Start(), f"there are fewer than {at.FEWEST} rows")
    return _default_start(bench, clock)


def _default_start(bench, clock: Clock) -> FirstStart:
    """Return the start from the default init model if the classes hardly overlap, else without."""
    model, began = resolve_init(at.DEFAULT_INIT), clock.seconds
    n = min(bench.n_examples, max(at.SAMPLE, at.PER_CLASS * bench.n_classes))
    loss, of_shares = bench.init_loss(model, n)
    if not isfinite(loss):
        why = f"the {model.name} model does not suit these columns and classes"
        return FirstStart(Start(), why)
    needed, left = (clock.seconds - began) * bench.n_examples / n, clock.left
    if needed > at.SHARE_OF_TIME * left:
        seconds = f"{needed:.2g} seconds, more than half of the {max(0.0, left):.2g} left"
        return FirstStart(Start(), f"the {model.name} model would take about {seconds}")
    is_worth_it = loss < at.MOST_LOSS_LEFT * of_shares
    reason = (
        f"on a sample, the {model.name} model has log loss {loss:.3g}, "
        f"{'less' if is_worth_it else 'not less'} than half of that of the class frequencies, "
        f"{of_shares:.3g}"
    )
    return FirstStart(bench.start(model) if is_worth_it else Start(), reason, model, loss)


def _given_start(parameters: Parameters, bench) -> FirstStart:
    """Return the start from the init model that the user named."""
    model = resolve_init(parameters.init)
    if model is None:
        return FirstStart(Start(), "as given")
    if parameters.constraints:
        raise ValueError(
            f"init must be 'auto' or None with {' and '.join(parameters.constraints)}, since an "
            f"init model keeps no constraints, got {parameters.init!r}"
        )
    start = bench.start(model)
    if start.base is not None:
        return FirstStart(start, "as given")
    why = f"init={parameters.init!r} cannot be fitted to these examples"
    warn_caller(f"{why}: boosting starts without it, as with init=None")
    return FirstStart(start, why)
