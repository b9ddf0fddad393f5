"""Leaf boosting, the default: grow one tree per round, every class steps in every leaf."""

from time import perf_counter

import numpy as np

from cwboost._kernels.common.arrays import any_above
from cwboost.ensemble.recorded_columns import Changes
from cwboost.families.contract import Division, PricingRequest
from cwboost.master import CellSteps
from cwboost.training.training import MOST_DRAWS, PAYS, Training


class LeafBoosting(Training):
    """Training of learners that divide the examples into cells, such as the leaves of a tree.

    The steps begin at the class shares, unless there are base scores. The cells of a learner
    serve all classes. A step never changes again: it goes into the scores, and no column is kept.
    `n_steps` is the number of coefficients so far that are not zero.
    """

    n_steps = 0

    def round(self) -> bool:
        """Grow one tree, let every class step in every leaf; return False when training is over."""
        self.between_rounds = False
        start, offset = perf_counter(), None
        is_first = not self.n_rounds and not self.master.has_base
        for _ in range(MOST_DRAWS):
            division = self.divide()
            divided_at = perf_counter()
            if is_first and offset is None:
                # Not before: sums of weights that are no more than counts are exact, and many tie.
                offset = self.master.shift_to_shares(self.pricer.n_targets)
            steps = self.step(division)
            if any_above(steps.edges, PAYS):
                break
        else:
            return self.end(division.learners)
        self.n_steps += np.count_nonzero(steps.coef)
        changes = self.add(division, steps, offset)
        seconds = {
            "pricing_seconds": divided_at - start,
            "solver_seconds": perf_counter() - divided_at,
        }
        objective = self.record(changes, {"n_nonzero": self.n_steps, **seconds})
        return self.schedule.goes_on(objective)

    def divide(self) -> Division:
        """Return a division of the examples by a learner, from those that the round draws."""
        self.pricer.round = self.n_rounds + 1
        rows = self.sampler.draw_rows(self.master.n_samples, self.rng)
        return self.pricer.divide(self.master.weights[self.first_priced :], PricingRequest(rows))

    def step(self, division) -> CellSteps:
        """Let every class step in every cell."""
        settings, n_classes = self.settings, self.pricer.n_targets
        penalizes = settings.penalizes_steps
        return self.master.step_cells(division, n_classes, settings.step, PAYS, penalizes)

    def add(self, division, steps: CellSteps, offset) -> Changes:
        """Add the learner to the model with its steps as outputs; return what changes."""
        learners = division.learners.graded(steps.outputs, steps.cover)
        ids = self.add_learners(learners, steps.edges.sum(keepdims=True))
        n_classes = len(steps.coef)
        return Changes(
            places=np.empty(0, dtype=np.int64),
            ids=np.repeat(ids, n_classes),
            classes=np.arange(self.first_priced, self.master.n_classes),
            values=steps.coef,
            before=np.full(n_classes, np.nan),
            offset=offset,
        )

    def restore(self, ensemble, X, history) -> None:
        """Start from the learners of a model with this history, on the examples X.

        What they add to the scores is a constant from here on.
        """
        self.master.start_from(ensemble.scores(X))
        self.take_steps(history)

    def take_steps(self, history) -> None:
        """Take the number of steps of the last round of a history."""
        self.n_steps = int(history["n_nonzero"][-1]) if len(history["n_nonzero"]) else 0
