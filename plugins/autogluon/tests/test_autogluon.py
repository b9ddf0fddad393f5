"""`CWBoostModel` in AutoGluon: alone, bagged, refitted, in time."""

import time

import numpy as np
import pandas as pd
import pytest
from autogluon.tabular import TabularPredictor
from cwboost_autogluon import CWBoostModel
from sklearn.metrics import log_loss


def table(n_classes, n=600):
    rng = np.random.default_rng(0)
    numbers, places = rng.normal(size=(n, 3)), rng.integers(0, 5, n)
    score = numbers[:, 0] + places - 2 + 0.3 * rng.normal(size=n)
    X = pd.DataFrame(numbers, columns=list("abc")).mask(rng.random((n, 3)) < 0.05)
    X["place"] = pd.Categorical(np.array(["Ulm", "Bonn", "Kiel", "Jena", "Hof"])[places])
    cuts = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X.assign(label=np.array(["low", "middle", "high"])[np.digitize(score, cuts)])


def fitted(rows, folder, **params):
    predictor = TabularPredictor("label", path=folder, eval_metric="log_loss", verbosity=0)
    params = {"hyperparameters": {CWBoostModel: {}}} | params
    return predictor.fit(rows, num_cpus=1, raise_on_model_failure=True, **params)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_held_out_rows_stop_training_and_a_refit_does_the_same_rounds(tmp_path, n_classes):
    rows, new = table(n_classes)[:400], table(n_classes)[400:]
    predictor = fitted(rows, tmp_path)
    model = predictor._trainer.load_model("CWBoost").model
    assert list(model.categories_) == [3] and model.plan_.curve is None
    (full,) = set(predictor.refit_full("CWBoost").values()) - {"WeightedEnsemble_L2_FULL"}
    again = predictor._trainer.load_model(full).model
    assert again.n_iter_ == model.best_iteration_ and again.plan_.curve is None
    assert again.probability_scale_ == model.probability_scale_
    for name in ("CWBoost", full):
        probabilities = predictor.predict_proba(new, model=name)
        loss = log_loss(new["label"], probabilities, labels=probabilities.columns)
        assert loss < {2: 0.35, 3: 0.55}[n_classes]
        assert (predictor.predict(new, model=name) == new["label"]).mean() > 0.75


def test_bags_parameters_and_time_limits(tmp_path):
    rows = table(3)
    params = {CWBoostModel: {"init": None, "n_estimators": 15, "weak_learner": "tree"}}
    bags = fitted(rows, tmp_path / "bag", hyperparameters=params, num_bag_folds=3, num_bag_sets=1,
                  ag_args_ensemble={"fold_fitting_strategy": "sequential_local"})  # fmt: skip
    (name,) = [own for own in bags.model_names() if own.startswith("CWBoost")]
    children = bags._trainer.load_model(name)
    assert [children.load_child(one).model.n_iter_ for one in children.models] == [15] * 3
    start = time.perf_counter()
    slow = {CWBoostModel: {"n_estimators": 1_000_000, "early_stopping": False}}
    short = fitted(rows, tmp_path / "short", hyperparameters=slow, time_limit=8)
    assert time.perf_counter() - start < 60
    assert short._trainer.load_model("CWBoost").model.n_iter_ < 1_000_000
