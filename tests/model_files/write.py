"""Write one small file per kind of model, and what each predicts, into a folder of this version.

Run it once per release, from anywhere: `python tests/model_files/write.py`. A folder that a release
has is never written again: tests/model_file/test_saving.py loads the files of every version.
"""

from functools import partial
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
from distributed import Client
from sklearn.linear_model import RidgeClassifier

import cwboost
from cwboost import CWBoostClassifier, SklearnFamily, get_init
from cwboost.dask import DaskCWBoostClassifier

FOLDER = Path(__file__).parent / cwboost.__version__

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)).round(3)
X[:, 3] = rng.integers(0, 6, 150)
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 3] > 3)]
GAPS = np.where(rng.random(X.shape) < 0.1, np.nan, X)
COLOURS = np.array(list("rgbcmy"))[X[:, 3].astype(int)]
FRAME = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(COLOURS)})
SHOWN = 30  # rows whose predictions are kept


def fitted(weak_learner="tree", X=X, y=Y, classifier=CWBoostClassifier, **params):
    if classifier is CWBoostClassifier:
        params = {"init": None} | params
    return classifier(weak_learner, **{"n_estimators": 5, "random_state": 0} | params).fit(X, y)


def on_a_cluster():
    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
        rows = da.from_array(X, chunks=(60, 4)), da.from_array(Y, chunks=60)
        return DaskCWBoostClassifier(n_estimators=5, init=None, random_state=0).fit(*rows)


KINDS = {
    "default": partial(fitted, n_estimators="auto", init="auto"),
    "stumps": partial(fitted, "stump", X=GAPS),
    "total-correction": partial(fitted, "stump", correction="total", C=1e4),
    "certified": partial(fitted, "stump", correction="total", n_estimators="auto"),
    "trees": partial(fitted, X=GAPS),
    "two-classes": partial(fitted, y=Y == "a"),
    "numbers-as-labels": partial(fitted, "stump", y=np.searchsorted(["a", "b", "c"], Y) * 10),
    "projections": partial(fitted, "projection"),
    "mixed": partial(fitted, ["stump", "tree", "projection"]),
    "categories": partial(fitted, categorical_features=[3]),
    "named-categories": partial(fitted, X=FRAME),
    "trees-of-scikit-learn": partial(fitted, SklearnFamily()),
    "ridge-of-scikit-learn": partial(fitted, SklearnFamily(RidgeClassifier())),
    "kernel": partial(fitted, "stump", init=get_init("kernel")(max_landmarks=50)),
    "linear": partial(fitted, "stump", init="linear"),
    "thinned": lambda: fitted().thin(X, Y, C=1e4),
    "early-stopping": partial(fitted, n_estimators=20, early_stopping=True),
    "cluster": on_a_cluster,
    "MultiBoost": partial(fitted, "stump", classifier=cwboost.MultiBoostClassifier),
    "AdaBoost.ECC": partial(fitted, "stump", classifier=cwboost.AdaBoostECCClassifier),
    "AdaBoost.MH": partial(fitted, "stump", classifier=cwboost.AdaBoostMHClassifier),
    "AdaBoost.MO": partial(fitted, "stump", classifier=cwboost.AdaBoostMOClassifier),
}


def main():
    FOLDER.mkdir(exist_ok=True)
    for former in FOLDER.iterdir():
        former.unlink()
    known = {}
    for kind, train in KINDS.items():
        model = train()
        model.save(FOLDER / f"{kind}.cwb")
        rows = FRAME if kind == "named-categories" else GAPS if kind in ("stumps", "trees") else X
        known[f"{kind}: X"] = np.asarray(rows[:SHOWN], dtype="U8" if rows is FRAME else float)
        known[f"{kind}: scores"] = model.decision_function(rows[:SHOWN])
        known[f"{kind}: chances"] = model.predict_proba(rows[:SHOWN])
        known[f"{kind}: labels"] = model.predict(rows[:SHOWN])
    np.savez_compressed(FOLDER / "predictions.npz", **known)


if __name__ == "__main__":
    main()
