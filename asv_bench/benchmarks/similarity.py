"""Scores of similarity: the regression with all landmarks and with some, and scores of new rows."""

import numpy as np

from cwboost.datasets import load_pendigits
from cwboost.similarity import SimilarityScores

from .common import Settings


class Similarity(Settings):
    params = [2_000, 8_000]
    param_names = ["n_samples"]

    def setup(self, n_samples):
        X, y = load_pendigits(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(y))[:n_samples]
        rows = rows[np.argsort(y[rows], kind="stable")]
        self.X, self.y = X[rows], y[rows]
        self.weight = np.ones(len(rows))
        self.similarity, _ = SimilarityScores.fit(self.X, self.y, 10, self.weight)

    def time_fit(self, n_samples):
        SimilarityScores.fit(self.X, self.y, 10, self.weight)

    def time_scores(self, n_samples):
        self.similarity(self.X)

    def time_one_row(self, n_samples):
        self.similarity(self.X[:1])
