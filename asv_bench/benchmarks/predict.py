"""Scores of a fitted model: many rows at once, and one row."""

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits

from .common import Settings


class Predict(Settings):
    params = ["stump", "projection", "tree"]
    param_names = ["weak_learner"]

    def setup(self, weak_learner):
        self.X, y = load_pendigits(return_X_y=True)
        self.clf = CWBoostClassifier(
            learning_rate=1.0,
            weak_learner=weak_learner,
            init=None,
            correction="stagewise",
            C=1e4,
            subsample=1.0,
            n_estimators=50,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, y)
        self.row = self.X[:1]
        self.clf.decision_function(self.row)

    def time_all_rows(self, weak_learner):
        self.clf.decision_function(self.X)

    def time_one_row(self, weak_learner):
        self.clf.decision_function(self.row)
