"""Fast coordinate descent: one pass, solving to epsilon, comparison with L-BFGS-B."""

from time import perf_counter

import numpy as np

from cwboost import solve_master

from .common import Settings, best_of, columns, numpy_passes

MANY = {"max_working_sets": 10_000, "random_state": 0}


class Pass(Settings):
    """One pass over all columns, the first of Algorithm 2."""

    params = [[1_000, 10_000], [5, 25]]
    param_names = ["n_samples", "n_classes"]
    n_columns = 20

    def setup(self, n_samples, n_classes):
        self.H, self.y = columns(n_samples, n_classes, self.n_columns)

    def one_pass(self):
        return solve_master(self.H, self.y, 1e3, epsilon=1e-9, max_working_sets=1, random_state=0)

    def time_pass(self, n_samples, n_classes):
        self.one_pass()

    def track_update_over_numpy(self, n_samples, n_classes):
        """Return the time of a coordinate update in units of a NumPy pass over as many doubles.

        The difference between solves with all columns and with a fifth of them excludes the
        constant cost of a call; it includes packing the outputs.
        """
        few = [h[: self.n_columns // 5] for h in self.H]
        n_updates = (self.n_columns - self.n_columns // 5) * n_classes

        def small():
            solve_master(few, self.y, 1e3, epsilon=1e-9, max_working_sets=1, random_state=0)

        more = numpy_passes(self.one_pass, n_samples) - numpy_passes(small, n_samples)
        return more / n_updates

    track_update_over_numpy.unit = "NumPy passes"


class ToEpsilon(Settings):
    """Solving from zero until no violation exceeds epsilon."""

    params = [0.1, 1e-3, 1e-6]
    param_names = ["epsilon"]

    def setup(self, epsilon):
        self.H, self.y = columns(2_000, 8, 40)

    def solve(self, epsilon):
        return solve_master(self.H, self.y, 1e3, epsilon=epsilon, **MANY)

    def time_solve(self, epsilon):
        self.solve(epsilon)

    def track_updates(self, epsilon):
        return self.solve(epsilon).n_updates

    track_updates.unit = "coordinate updates"


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
