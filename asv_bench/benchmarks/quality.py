"""Results of training that do not depend on the machine: error, certificate, model size."""

import os
import tempfile

from sklearn.model_selection import train_test_split

from cwboost import CWBoostClassifier
from cwboost.datasets import load_pendigits
from cwboost.families.discovery import get_family

from .common import SEED, Settings

PINNED = {
    "stump": {"max_bins": 256, "max_features": None},
    "projection": {"n_projections": 100},
    "tree": {
        "criterion": "gini",
        "max_bins": 256,
        "max_depth": 5,
        "max_features": None,
        "max_leaf_nodes": None,
        "min_leaf_weight": 10,
    },
}
"""Parameters of the families: a changed default is no change of quality."""


def pinned(name):
    """Return a family with those of its `PINNED` parameters that this revision has."""
    family = get_family(name)()
    known = family.get_params()
    return family.set_params(**{k: v for k, v in PINNED[name].items() if k in known})


class Quality(Settings):
    version = "pinned families"
    rounds = 1
    params = [["stump", "projection", "tree"], ["total", "stagewise"]]
    param_names = ["weak_learner", "correction"]

    def setup_cache(self):
        """Train every model once; the benchmarks look up their figures."""
        X, y = load_pendigits(return_X_y=True)
        parts = train_test_split(X, y, stratify=y, random_state=SEED)
        return {
            (weak_learner, correction): figures(weak_learner, correction, *parts)
            for weak_learner in self.params[0]
            for correction in self.params[1]
        }

    def track_test_error(self, found, weak_learner, correction):
        return found[weak_learner, correction]["error"]

    track_test_error.unit = "percent"

    def track_objective_gap(self, found, weak_learner, correction):
        """Return the gap over the objective; NaN (no value) if pricing is not exact."""
        return found[weak_learner, correction]["gap"]

    track_objective_gap.unit = "of the objective"

    def track_model_bytes(self, found, weak_learner, correction):
        return found[weak_learner, correction]["bytes"]

    track_model_bytes.unit = "bytes"


def figures(weak_learner, correction, X_train, X_test, y_train, y_test):
    clf = CWBoostClassifier(
        weak_learner=pinned(weak_learner),
        init=None,
        correction=correction,
        C=1e4,
        subsample=1.0,
        learning_rate=1.0,
        n_estimators=50,
        random_state=0,
        n_jobs=1,
    ).fit(X_train, y_train)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.cwb")
        clf.save(path)
        size = os.path.getsize(path)
    return {
        "error": 100 * (1 - clf.score(X_test, y_test)),
        "gap": clf.history_["gap"][-1] / clf.history_["objective"][-1],
        "bytes": size,
    }
