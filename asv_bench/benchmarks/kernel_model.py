"""The kernel model: its fit, with leave-one-out scores, and the scores of new rows."""

from inspect import signature

import numpy as np

from cwboost import InitContext, get_init
from cwboost.datasets import load_pendigits

from .common import Settings


class KernelModel(Settings):
    params = [2_000, 8_000]
    param_names = ["n_samples"]

    def setup(self, n_samples):
        X, y = load_pendigits(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
        rows = rows[np.argsort(y[rows], kind="stable")]
        self.X, self.y = X[rows], np.unique(y[rows], return_inverse=True)[1].astype(np.int64)
        known = {"n_classes": 10, "weight": np.ones(len(rows)), "folds": np.arange(len(rows)) % 5}
        if "folds" not in signature(InitContext).parameters:  # revisions that drew folds inside
            del known["folds"]
        self.context = InitContext(**known)
        self.fitted, _ = get_init("kernel")().fit(self.X, self.y, self.context)

    def time_fit(self, n_samples):
        get_init("kernel")().fit(self.X, self.y, self.context)

    def time_scores(self, n_samples):
        self.fitted.scores(self.X)

    def time_one_row(self, n_samples):
        self.fitted.scores(self.X[:1])
