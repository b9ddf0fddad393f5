"""Peak memory of a process that fits; asv counts the interpreter and the data with it."""

import numpy as np

from cwboost import CWBoostClassifier

from .common import Settings, blobs


class Pixels(Settings):
    """10,000 x 784 pixels, 10 classes, made in a process of their own: making them takes more."""

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
            correction=correction,
            n_estimators=30,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, self.y)


class Data(Pixels):
    """What the process holds without the fit."""

    def peakmem_data(self):
        return self.X.sum()
