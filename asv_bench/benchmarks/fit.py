"""Complete fits on the bundled data."""

import numpy as np

from cwboost import CWBoostClassifier, DerivedFeatureFamily, datasets

from .common import Settings


class Fit(Settings):
    params = [["vowel", "pendigits"], ["stump", "projection", "tree"], ["total", "stagewise"]]
    param_names = ["data", "weak_learner", "correction"]

    def setup(self, data, weak_learner, correction):
        self.X, self.y = getattr(datasets, f"load_{data}")(return_X_y=True)

    def time_fit(self, data, weak_learner, correction):
        CWBoostClassifier(
            weak_learner=weak_learner,
            init=None,
            correction=correction,
            C=1e4,
            subsample=1.0,
            learning_rate=1.0,
            n_estimators=30,
            random_state=0,
            n_jobs=1,
            probability_scale=2.0,
        ).fit(self.X, self.y)


class Products(DerivedFeatureFamily):
    """Thresholds on products of two features that are drawn anew in every round."""

    name = "products"
    api_version = 1
    layout = {"pair": ("int64", (2,))}

    def draw(self, context):
        return {"pair": context.random_state.integers(context.X.shape[1], size=(50, 2))}

    @staticmethod
    def transform(X, pair):
        return X[:, pair[:, 0]] * X[:, pair[:, 1]]


class Derived(Settings):
    """Features that a plugin computes."""

    def setup(self):
        self.X, self.y = datasets.load_pendigits(return_X_y=True)

    def time_fit(self):
        CWBoostClassifier(Products(), init=None, n_estimators=30, random_state=0, n_jobs=1).fit(
            self.X[:4_000], self.y[:4_000]
        )


class Overhead(Settings):
    """Time of a round outside pricing and solver, on a problem where both are very fast."""

    def setup(self):
        self.X, self.y = datasets.load_vowel(return_X_y=True)

    def track_round_overhead(self):
        from time import perf_counter

        clf = CWBoostClassifier(
            learning_rate=1.0,
            weak_learner="stump",
            init=None,
            correction="stagewise",
            C=1e4,
            subsample=1.0,
            n_estimators=200,
            tol=0,
            random_state=0,
            n_jobs=1,
            probability_scale=2.0,
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


class Default(Settings):
    """The default: digits, and a table with categories and gaps."""

    params = [["pendigits", "table"]]
    param_names = ["data"]

    def setup(self, data):
        self.X, self.y, self.categories = DATA[data]()
        self.clf = self.fitted()

    def fitted(self):
        clf = CWBoostClassifier(categorical_features=self.categories, random_state=0, n_jobs=1)
        return clf.fit(self.X, self.y)

    def time_fit(self, data):
        self.fitted()

    def time_predict(self, data):
        self.clf.predict_proba(self.X)

    def time_one_row(self, data):
        self.clf.predict_proba(self.X[:1])


def pendigits():
    """Return 2,000 examples, their classes, and no categories."""
    X, y = datasets.load_pendigits(return_X_y=True)
    return X[:2_000], y[:2_000], None


def table(n=2_000):
    """Return examples with 6 numbers, two columns of categories, and 5% gaps."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    X[:, 6:] = rng.integers(0, [300, 8], (n, 2))
    y = (X[:, 0] + (X[:, 7] > 3) + rng.normal(size=n) > 0.5) + (X[:, 6] % 3 == 0)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y, [6, 7]


DATA = {"pendigits": pendigits, "table": table}
