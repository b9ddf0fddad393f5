"""Peak memory of a process that fits; asv counts the interpreter and the data with it."""

from cwboost import CWBoostClassifier

from .common import Settings, blobs


class Fit(Settings):
    """10,000 x 784 pixels, 10 classes; `Data` alone is what the process holds without the fit."""

    rounds = 1
    params = ["total", "stagewise"]
    param_names = ["correction"]

    def setup(self, correction):
        self.X, self.y = blobs(10_000, 784, 10, "uint8")

    def peakmem_fit(self, correction):
        CWBoostClassifier(
            weak_learner="stump",
            correction=correction,
            n_estimators=30,
            random_state=0,
            n_jobs=1,
        ).fit(self.X, self.y)


class Data(Settings):
    rounds = 1

    def setup(self):
        self.X, self.y = blobs(10_000, 784, 10, "uint8")

    def peakmem_data(self):
        return self.X.sum()
