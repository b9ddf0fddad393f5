"""cwboost as a model of AutoGluon."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from autogluon.core.models import AbstractModel

from cwboost import CWBoostClassifier
from cwboost.callbacks import TimeLimit

__all__ = ["CWBoostModel"]


class CWBoostModel(AbstractModel):
    """`cwboost.CWBoostClassifier` for ``TabularPredictor.fit(hyperparameters={CWBoostModel: {}})``.

    The hyper-parameters are those of the classifier. If AutoGluon gives held-out rows, they stop
    training and set the scale of the probabilities; a refit on all rows does as many rounds, of the
    same steps and scale. Categories and missing values stay as they are.
    """

    ag_key = "CWBOOST"
    ag_name = "CWBoost"
    seed_name = "random_state"
    _supported_problem_types: ClassVar = ["binary", "multiclass"]
    _default_auxiliary_params_extra: ClassVar = {"valid_raw_types": ["int", "float", "category"]}

    def _fit(
        self,
        X: pd.DataFrame,
        y: pd.Series,
        X_val: pd.DataFrame | None = None,
        y_val: pd.Series | None = None,
        time_limit: float | None = None,
        num_cpus: int = 1,
        sample_weight: np.ndarray | None = None,
        sample_weight_val: np.ndarray | None = None,
        **kwargs: Any,
    ) -> None:
        held_out: dict[str, Any] = {}
        X = self.preprocess(X, y=y, is_train=True)
        if X_val is not None:
            held_out = {"X_val": self.preprocess(X_val), "y_val": y_val}
            held_out["sample_weight_val"] = sample_weight_val
        callbacks = [] if time_limit is None else [TimeLimit(max(1.0, time_limit))]
        given = {"n_jobs": num_cpus, "callbacks": callbacks} | self._get_model_params()
        model = CWBoostClassifier(**given).fit(X, y, sample_weight, **held_out)
        self.model = model.set_params(callbacks=None)
        self.params_trained = {
            "n_estimators": model.best_iteration_,
            "learning_rate": model.learning_rate_,
            "probability_scale": model.probability_scale_,
        }

    def _more_tags(self) -> dict[str, Any]:
        return {"can_refit_full": True}
