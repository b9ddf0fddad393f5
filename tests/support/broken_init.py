"""Broken init models: that of the template with one method replaced, and what a check must say.

`BROKEN_INIT` is as `broken.BROKEN`.
"""

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
from broken import case

SOURCE = Path(__file__).resolve().parents[2] / "plugins/templates/init/src/cwboost_acme.py"
_spec = importlib.util.spec_from_file_location("reference_init", SOURCE)
reference_init = sys.modules["reference_init"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference_init)
Acme, FittedAcme = reference_init.Acme, reference_init.FittedAcme


def patched(fit=None, **fitted):
    """Return the init model with `fit` replaced, and methods of what it fits."""
    fitted_type = type("Fitted", (FittedAcme,), fitted)

    def with_type(self, X, y, context):
        made, scores = Acme.fit(self, X, y, context)
        made = made and fitted_type(made.means)
        return (made, scores) if fit is None or made is None else fit(X, made, scores)

    return type("Broken", (Acme,), {"fit": with_type, "fitted_type": fitted_type})()


def on_scores(change):
    return {"scores": lambda self, X, n_threads=1: change(FittedAcme.scores(self, X))}


def drawn(X, made, scores):
    noise = np.random.default_rng().normal(size=made.means.shape)
    return type(made)(made.means + noise), scores


BROKEN_INIT = {
    "init: scores in single precision": case(
        partial(patched, **on_scores(lambda scores: scores.astype(np.float32))),
        scores_of_every_matrix="scores must be a float64 array",
    ),
    "init: training scores have seen the labels": case(
        partial(patched, fit=lambda X, made, scores: (made, made.scores(X))),
        scores_without_own_label="guess 77% of random labels right",
    ),
    "init: scores are centred over the rows": case(
        partial(patched, **on_scores(lambda scores: scores - scores.mean(axis=0))),
        scores_of_rows="scores differ: one row at a time",
    ),
    "init: a seed of its own": case(
        partial(patched, fit=drawn),
        fit_is_repeatable="1 threads against 1: the arrays differ",
    ),
    "init: shares are differences": case(
        partial(patched, feature_shares=lambda self, n_features: np.array([-1.0, 0.5, 0.5, 1.0])),
        shares="shares must sum to 1",
    ),
    "init: arrays are trusted": case(
        partial(patched, from_arrays=classmethod(lambda cls, arrays, *sizes: cls(**arrays))),
        damaged_arrays="without means: expected a ValueError, got TypeError",
    ),
}
