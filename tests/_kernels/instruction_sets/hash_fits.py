"""Prints hashes of models, histories and scores: every family, both corrections, the rivals."""

import hashlib
import json

import numpy as np
from sklearn.datasets import make_classification

import cwboost


def hashed(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def main():
    X, y = make_classification(
        403, 11, n_informative=7, n_classes=5, n_clusters_per_class=1, random_state=0
    )
    found = {"instruction set": cwboost.show_config()["instruction_set"]}
    for family in ("stump", "tree", "projection"):
        for correction in ("total", "stagewise"):
            for dtype in (np.float64, np.float32):
                model = cwboost.CWBoostClassifier(
                    weak_learner=family, correction=correction, subsample=1.0,
                    learning_rate=1.0, n_estimators=8, C=1e3, random_state=0, n_jobs=1,
                ).fit(X.astype(dtype), y)  # fmt: skip
                history = [v for k, v in model.history_.items() if "seconds" not in k]
                found[f"{family}, {correction}, {np.dtype(dtype)}"] = hashed(
                    *model.ensemble_.arrays().values(),
                    *history,
                    model.decision_function(X),
                    model.decision_function(X.astype(np.float32)),
                )
    for name in ("MultiBoost", "AdaBoostECC", "AdaBoostMH", "AdaBoostMO"):
        model = getattr(cwboost, f"{name}Classifier")(n_estimators=5, random_state=0).fit(X, y)
        found[name] = hashed(*model.ensemble_.arrays().values(), model.decision_function(X))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
