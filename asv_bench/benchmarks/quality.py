"""What training yields: error, certificate, size. These do not depend on the machine."""

import os
import tempfile

from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits

from .common import SEED, Settings


class Quality(Settings):
    rounds = 1
    params = [["stump", "projection", "tree"], ["total", "stagewise"]]
    param_names = ["weak_learner", "correction"]

    def setup(self, weak_learner, correction):
        X, y = load_pendigits(return_X_y=True)
        train, self.X_test, y_train, self.y_test = train_test_split(
            X, y, stratify=y, random_state=SEED
        )
        self.clf = CWBoostClassifier(
            weak_learner=weak_learner,
            correction=correction,
            n_estimators=50,
            random_state=0,
            n_jobs=1,
        ).fit(train, y_train)

    def track_test_error(self, weak_learner, correction):
        return 100 * (1 - self.clf.score(self.X_test, self.y_test))

    track_test_error.unit = "percent"

    def track_objective_gap(self, weak_learner, correction):
        """Gap over objective; NaN (no value) where pricing is not exact."""
        return self.clf.history_["gap"][-1] / self.clf.history_["objective"][-1]

    track_objective_gap.unit = "of the objective"

    def track_model_bytes(self, weak_learner, correction):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.cwb")
            self.clf.save(path)
            return os.path.getsize(path)

    track_model_bytes.unit = "bytes"
