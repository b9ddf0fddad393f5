"""The kernel model: its fit, with leave-one-out scores, and the scores of new rows."""

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
        self.context = InitContext(n_classes=10, weight=np.ones(len(rows)))
        self.fitted, _ = get_init("kernel")().fit(self.X, self.y, self.context)

    def time_fit(self, n_samples):
        get_init("kernel")().fit(self.X, self.y, self.context)

    def time_scores(self, n_samples):
        self.fitted.scores(self.X)

    def time_one_row(self, n_samples):
        self.fitted.scores(self.X[:1])
