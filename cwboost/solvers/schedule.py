"""How precisely each restricted master is solved, and when training ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

POLISH_EPSILON, POLISH_WORKING_SETS = 1e-6, 2
"""If no new column pays, epsilon falls by tenths to the first; the second is the passes added."""

POLISHED = 1e-9
"""A solve at the smallest epsilon that lowers the objective by less than this fraction is the last
one."""

MOST_IDLE = 5
"""Rounds in a row that lower the objective by less than `tol` after which training ends, unless
pricing covers the family: the next sample, or the next kind of learner, may be worth more."""


@dataclass(frozen=True, kw_only=True)
class BoostingSettings:
    """Parameters of column generation.

    Parameters
    ----------
    C : float
        Weight of the loss relative to the sum of the coefficients.
    later_C : tuple of float
        Values of C that follow, ascending: when training ends at one, it goes on at the next, from
        the columns and coefficients that are there.
    most_columns : int or None
        Once a value of C gives more columns, bisection looks for the largest that gives no more.
    gap : float
        Training at a value of C ends when the dual bound proves that the objective is within this
        fraction of the optimum over the whole family, or, if pricing is not exact, when five rounds
        in a row lower it by less than a fifth of that each; `tol` does not count then. 0 is no such
        end.
    solver : {"fcd", "fcd_printed", "lbfgsb"}
    max_working_sets : int
        Passes of coordinate descent per round; 1 is the stage-wise mode.
    epsilon : float
        Violation above which a column enters a later working set.
    learning_rate : float
        Fraction of the exact coordinate step taken, stage-wise only.
    tol : float
        Training ends when a round lowers the objective by less than this fraction of it; five
        rounds in a row must, if pricing does not cover the whole family on all examples.
    subsample : float
        Fraction of the examples, drawn in each round, that are priced.
    penalizes_steps : bool
        Whether the steps of leaves have the penalty that coefficients have.
    """

    C: float
    later_C: tuple[float, ...] = ()
    most_columns: int | None = None
    gap: float = 0.0
    solver: str
    max_working_sets: int
    epsilon: float = 0.1
    learning_rate: float = 1.0
    tol: float
    subsample: float = 1.0
    penalizes_steps: bool = False

    @property
    def stagewise(self) -> bool:
        return self.solver != "lbfgsb" and self.max_working_sets == 1

    def of_holdout(self, learning_rate: float) -> BoostingSettings:
        """Return the settings of a holdout run; a stage-wise one goes on until it is stopped."""
        return replace(self, learning_rate=learning_rate, tol=0.0 if self.stagewise else self.tol)

    def planned(self, learning_rate: float, Cs: tuple[float, ...]) -> BoostingSettings:
        """Return the settings of a training that goes through some values of C, ascending."""
        C, *later = Cs or (self.C,)
        return replace(self, learning_rate=learning_rate, C=C, later_C=tuple(later))

    @property
    def step(self) -> float:
        """Fraction of the exact step that the first pass takes."""
        return self.learning_rate if self.stagewise else 1.0


class Schedule:
    """The state of training that decides when to solve more precisely and when to end.

    `exact` is True if pricing covers the whole family on all examples, so that pricing that finds
    no column proves that there is none. The next restricted master is solved to the violation
    `epsilon`, in up to `max_working_sets` passes.

    `stop_reason` is the reason for stopping, or None. "optimal": pricing proved that no weak
    learner of the family pays, and the restricted master is solved. "gap": the dual bound is within
    the `gap` of the settings. "no column": pricing found none
    that pays, which proves nothing of stage-wise coefficients or if it does not cover the family.
    """

    def __init__(self, settings: BoostingSettings, exact: bool):
        self._settings = settings
        self._exact = exact
        self.stop_reason: str | None = None
        self._previous: float | None = None
        self._n_idle = 0
        self.loosen()

    def loosen(self) -> None:
        """Solve at the precision of the settings, since there are new columns."""
        self.epsilon = self._settings.epsilon
        self.max_working_sets = self._settings.max_working_sets
        self._n_tighter = 0
        self._polished = False
        self._before_polish: float | None = None

    @property
    def polishing(self) -> bool:
        """True while the next solve only makes the coefficients more precise."""
        return self._before_polish is not None

    def tighten(self, objective: float) -> bool:
        """Ask for a more precise solve, since no new column pays.

        `objective` is the present one. Return False if there is nothing more to solve.
        """
        if self._settings.stagewise or self._polished:
            return False
        self._before_polish = objective
        if self.epsilon > POLISH_EPSILON:
            self.epsilon = max(self.epsilon / 10.0, POLISH_EPSILON)
            self._n_tighter += 1
        # Few passes at first: often a new column pays as soon as the master is solved a little
        # better.
        passes = 1 + POLISH_WORKING_SETS * self._n_tighter
        self.max_working_sets = max(self._settings.max_working_sets, passes)
        return True

    @property
    def _tol(self) -> float:
        """Fraction of the objective below which a fall counts as none."""
        gap = self._settings.gap
        if gap == 0.0:
            return self._settings.tol
        return 0.0 if self._exact else gap / MOST_IDLE

    def is_close(self, objective: float, bound: float) -> bool:
        """Return True, and note that training ends, if the bound is within the gap asked for."""
        gap = self._settings.gap
        if gap > 0.0 and objective - bound <= gap * objective:
            self.stop_reason = "gap"
        return self.stop_reason == "gap"

    def end(self) -> None:
        """Note why training ends, if that is not known yet: no column pays."""
        if self.stop_reason is not None:
            return
        proven = self._exact and not self._settings.stagewise
        self.stop_reason = "optimal" if proven else "no column"

    def goes_on(self, objective: float) -> bool:
        """Note the objective that a round ended with; return False if training ends there."""
        previous, self._previous = self._previous, objective
        if self.polishing:
            small = self._before_polish - objective <= POLISHED * self._before_polish
            self._polished = self.epsilon <= POLISH_EPSILON and small
            self._before_polish = None
            return True
        tol = self._tol
        is_idle = previous is not None and tol > 0.0 and previous - objective < tol * previous
        self._n_idle = self._n_idle + 1 if is_idle else 0
        if self._n_idle < (1 if self._exact else MOST_IDLE):
            return True
        self.stop_reason = "tol"
        return False

    def state(self) -> list:
        """Return what `restore` needs to go on where this one is."""
        reason = self.stop_reason or ""
        return [self.epsilon, self._n_tighter, self._polished, self._n_idle, reason]

    def restore(self, state, objective: float) -> None:
        """Go on from a state and the last objective, or stay ended."""
        self.epsilon, self._n_tighter, self._polished, self._n_idle, reason = state
        self.stop_reason = reason or None
        self._previous = objective
