"""Fast coordinate descent: layers, passes, solving to epsilon, the solver's part of a training.

Columns are packed and added to a master in `setup`; what is timed is the solver, and the way back
to the start (copies of the coefficients and pair weights) where it is short beside it.
"""

from time import perf_counter, process_time

import numpy as np

from cwboost import CWBoostClassifier, solve_master
from cwboost.datasets import load_pendigits
from cwboost.families.outputs import pack_outputs
from cwboost.master import RestrictedMaster
from cwboost.solvers import solve_master as solver

from .common import Settings, best_of, columns, generator

C = 1e3
MANY = {"max_working_sets": 10_000, "random_state": 0}
N_COLUMNS = N_ROUNDS = 80


class Start:
    """A restricted master over columns of some classes, and the way back to where it was."""

    def __init__(self, n_samples, n_classes, n_columns):
        H, y = columns(n_samples, n_classes, n_columns)
        self.packed = np.stack([pack_outputs(h.T) for h in H], axis=1)
        self.master = RestrictedMaster(np.bincount(y), C)
        self.layers = np.empty((0, n_classes), dtype=np.int64)
        self.rng = generator()
        self.draws = self.rng.bit_generator.state

    def add(self, first, end):
        """Add the columns from `first` to `end` - 1 of every class, a layer each."""
        classes = np.arange(self.master.n_classes)
        rows = [self.master.add(classes, layer)[0] for layer in self.packed[first:end]]
        self.layers = np.stack(rows)

    def keep(self):
        """Make the present coefficients and pair weights those of the start."""
        self.coef, self.pairs = self.master.coef_matrix.copy(), self.master.pairs.state()

    def back(self):
        self.master.coef_matrix[:] = self.coef
        self.master.pairs.restore(self.pairs)
        self.rng.bit_generator.state = self.draws

    def solve(self, **options):
        """Run the solver over the newest columns, as `solve_master` and training do."""
        return solver.fcd(self.master, self.layers, rng=self.rng, **options)

    def update_layers(self):
        for rows in self.layers:
            self.master.update_layer(rows)


def at_zero(n_samples, n_classes, n_columns):
    """Return a master whose columns are all new, at coefficients of zero."""
    start = Start(n_samples, n_classes, n_columns)
    start.add(0, n_columns)
    start.keep()
    return start


def in_training(n_samples, n_classes):
    """Return a master after 80 rounds of CW, with one new column per class."""
    start = Start(n_samples, n_classes, N_ROUNDS + 1)
    for r in range(N_ROUNDS):
        start.add(r, r + 1)
        start.solve(max_working_sets=2)
    start.add(N_ROUNDS, N_ROUNDS + 1)
    start.keep()
    return start


class Sizes(Settings):
    params = [[1_000, 10_000], [5, 25]]
    param_names = ["n_samples", "n_classes"]


class Layers(Sizes):
    def setup(self, n_samples, n_classes):
        self.start = at_zero(n_samples, n_classes, N_COLUMNS)

    def time_80_layers(self, n_samples, n_classes):
        self.start.back()
        self.start.update_layers()

    time_80_layers.pretty_name = "FCD: 80 layers of one column per class, one after the other"


class Pass(Sizes):
    def setup(self, n_samples, n_classes):
        self.start = at_zero(n_samples, n_classes, N_COLUMNS)

    def time_pass(self, n_samples, n_classes):
        self.start.back()
        self.start.solve(max_working_sets=1)

    time_pass.pretty_name = "FCD: first pass over 80 new columns per class"


class Round(Sizes):
    """The solver alone, since the way back would take a fifth of the time."""

    repeat = (1, 2, 1.0)
    rounds = 1

    def setup(self, n_samples, n_classes):
        self.start = in_training(n_samples, n_classes)

    def track_warm_pass(self, n_samples, n_classes):
        times = []
        for _ in range(50):
            self.start.back()
            start = process_time()
            self.start.solve(max_working_sets=2)
            times.append(process_time() - start)
        return min(times)

    track_warm_pass.unit = "seconds"
    track_warm_pass.pretty_name = (
        "FCD: warm solve of a round of CW, the 81st, with one new column per class"
    )


class ToEpsilon(Settings):
    params = [0.1, 1e-3, 1e-6]
    param_names = ["epsilon"]

    def setup(self, epsilon):
        self.start = at_zero(2_000, 8, 40)

    def solve(self, epsilon):
        self.start.back()
        return self.start.solve(epsilon=epsilon, max_working_sets=10_000)

    def time_solve(self, epsilon):
        self.solve(epsilon)

    time_solve.pretty_name = "FCD: 40 columns per class, from zero to no violation above epsilon"

    def track_updates(self, epsilon):
        return self.solve(epsilon).n_updates

    track_updates.unit = "coordinate updates"


class Training(Settings):
    rounds = 1

    def setup(self):
        X, y = load_pendigits(return_X_y=True)
        self.X, self.y = X[:2_000], y[:2_000]

    def fitted(self):
        return CWBoostClassifier(
            "stump",
            init=None,
            correction="total",
            C=1e4,
            subsample=1.0,
            learning_rate=1.0,
            n_estimators=50,
            random_state=0,
            n_jobs=1,
            probability_scale=2.0,
        ).fit(self.X, self.y)

    def track_solver_seconds(self):
        return min(self.fitted().history_["solver_seconds"].sum() for _ in range(5))

    track_solver_seconds.unit = "seconds"
    track_solver_seconds.pretty_name = "FCD: solver's part of 50 rounds of CW with stumps"


class AgainstLBFGSB(Settings):
    """Time of SciPy's L-BFGS-B over that of FCD, to within 1e-3 of the optimum."""

    repeat = (1, 2, 1.0)
    rounds = 1

    def setup(self):
        self.H, self.y = columns(2_000, 8, 40)
        optimum = solve_master(self.H, self.y, 1e3, epsilon=1e-9, **MANY)
        self.target = optimum.objective * (1 + 1e-3)

    def setting_that_reaches(self, solver, name, values):
        """Return the loosest setting with which a solver comes within 1e-3 of the optimum."""
        for value in values:
            options = {name: value, **MANY}
            if solve_master(self.H, self.y, 1e3, solver, **options).objective <= self.target:
                return options
        raise AssertionError(f"{solver} does not come within 1e-3 of the optimum")

    def track_speed_up(self):
        loosest = 10.0 ** np.arange(0, -9.0, -0.5)
        fcd = self.setting_that_reaches("fcd", "epsilon", loosest)
        lbfgsb = self.setting_that_reaches("lbfgsb", "tol", loosest)
        seconds = best_of(lambda: solve_master(self.H, self.y, 1e3, "fcd", **fcd))
        start = perf_counter()
        solve_master(self.H, self.y, 1e3, "lbfgsb", **lbfgsb)
        return (perf_counter() - start) / seconds

    track_speed_up.unit = "times"
