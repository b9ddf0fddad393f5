"""Complete fits on the bundled data."""

from cwboost import CWBoostClassifier, datasets

from .common import Settings


class Fit(Settings):
    params = [["vowel", "pendigits"], ["stump", "projection", "tree"], ["total", "stagewise"]]
    param_names = ["data", "weak_learner", "correction"]

    def setup(self, data, weak_learner, correction):
        self.X, self.y = getattr(datasets, f"load_{data}")(return_X_y=True)

    def time_fit(self, data, weak_learner, correction):
        CWBoostClassifier(
            weak_learner=weak_learner,
            correction=correction,
            C=1e4,
            subsample=1.0,
            learning_rate=1.0,
            n_estimators=30,
            random_state=0,
            n_jobs=1,
            probability_scale=2.0,
        ).fit(self.X, self.y)


class Overhead(Settings):
    """Time of a round outside pricing and solver, on a problem where both are very fast."""

    def setup(self):
        self.X, self.y = datasets.load_vowel(return_X_y=True)

    def track_round_overhead(self):
        from time import perf_counter

        clf = CWBoostClassifier(
            learning_rate=1.0,
            weak_learner="stump",
            correction="stagewise",
            C=1e4,
            subsample=1.0,
            n_estimators=200,
            tol=0,
            random_state=0,
            n_jobs=1,
        )
        lowest = float("inf")
        for _ in range(5):
            start = perf_counter()
            clf.fit(self.X, self.y)
            outside = perf_counter() - start
            outside -= clf.history_["pricing_seconds"].sum() + clf.history_["solver_seconds"].sum()
            lowest = min(lowest, outside / len(clf.history_["objective"]))
        return lowest * 1e6

    track_round_overhead.unit = "microseconds per round"
