"""Peak memory of a process that fits, including the interpreter and the data."""

import numpy as np
from scipy import sparse

from cwboost import CWBoostClassifier

from .common import Settings, blobs


class Pixels(Settings):
    """10,000 x 784 pixels, 10 classes; generated in a separate process, which needs more memory."""

    rounds = 1

    def setup_cache(self):
        X, y = blobs(10_000, 784, 10, "uint8")
        np.savez("pixels.npz", X=X, y=y)

    def setup(self, *parameters):
        with np.load("pixels.npz") as stored:
            self.X, self.y = stored["X"], stored["y"]


class Fit(Pixels):
    params = ["total", "stagewise"]
    param_names = ["correction"]

    def peakmem_fit(self, correction):
        CWBoostClassifier(
            weak_learner="stump",
            init=None,
            correction=correction,
            C=1e4,
            subsample=1.0,
            learning_rate=1.0,
            n_estimators=30,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, self.y)


class Default(Pixels):
    """The default on a fifth of the rows, and a prediction of all."""

    def peakmem_fit(self):
        CWBoostClassifier(random_state=0, n_jobs=1).fit(self.X[::5], self.y[::5]).predict(self.X)


class Data(Pixels):
    """Memory of the process without the fit."""

    def peakmem_data(self):
        return self.X.sum()


class BagOfWords(Settings):
    """20,000 x 50,000 at 0.2% density: 15 MB of entries, 4 GB as a dense matrix."""

    params = ["none", "stump", "tree", "projection"]
    param_names = ["weak_learner"]
    rounds = 1

    def setup(self, weak_learner):
        rng = np.random.default_rng(0)
        n_rows, n_words, a_row = 20_000, 50_000, 100
        words = rng.integers(0, n_words, n_rows * a_row).astype(np.int32)
        starts = np.arange(0, len(words) + 1, a_row)
        self.X = sparse.csr_array(
            (np.ones(len(words), np.float32), words, starts), shape=(n_rows, n_words)
        )
        self.X.sum_duplicates()
        self.y = rng.integers(0, 5, n_rows)

    def peakmem_fit(self, weak_learner):
        if weak_learner == "none":  # memory of the process without the fit
            return
        CWBoostClassifier(
            weak_learner,
            init=None,
            learning_rate=1.0,
            n_estimators=3,
            correction="stagewise",
            C=1e4,
            subsample=1.0,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, self.y)
