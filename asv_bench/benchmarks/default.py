"""The default in use: import, error, files, explanations, threads, a cluster."""

import os
import subprocess
import sys
import tempfile

from sklearn.model_selection import train_test_split

from .common import SEED, Settings
from .fit import DATA


class Import(Settings):
    """A process that imports the package, and one that imports scikit-learn alone."""

    params = ["sklearn", "cwboost"]
    param_names = ["package"]

    def time_import(self, package):
        subprocess.run([sys.executable, "-c", f"import {package}"], check=True)


class Default(Settings):
    params = [list(DATA)]
    param_names = ["data"]
    n_jobs = 1

    def setup(self, data):
        X, y, categories = DATA[data]()
        parts = train_test_split(X, y, stratify=y, random_state=SEED)
        self.X, self.X_test, self.y, self.y_test = parts
        self.categories = categories
        self.clf = self.fitted()

    def fitted(self):
        from cwboost import CWBoostClassifier

        clf = CWBoostClassifier(
            categorical_features=self.categories, random_state=0, n_jobs=self.n_jobs
        )
        return clf.fit(self.X, self.y)


class Error(Default):
    rounds = 1

    def track_test_error(self, data):
        return 100 * (1 - self.clf.score(self.X_test, self.y_test))

    track_test_error.unit = "percent"


class Files(Default):
    def setup(self, data):
        super().setup(data)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "model.cwb")
        self.clf.save(self.path)

    def teardown(self, data):
        self.folder.cleanup()

    def time_save(self, data):
        self.clf.save(self.path)

    def time_load(self, data):
        from cwboost import load_model

        load_model(self.path)


class Explain(Default):
    def time_explain(self, data):
        self.clf.explain(self.X_test[:50])


class TwoThreads(Default):
    n_jobs = 2

    def time_fit(self, data):
        self.fitted()


class Cluster(Settings):
    """A fit on two partitions by a cluster in this process."""

    rounds = 1

    def setup(self):
        import dask.array as da
        from distributed import Client

        X, y, _ = DATA["pendigits"]()
        self.client = Client(processes=False, n_workers=1, dashboard_address=None)
        self.X, self.y = da.from_array(X, chunks=(1_000, 16)), da.from_array(y, chunks=1_000)

    def teardown(self):
        self.client.close()

    def time_fit(self):
        from cwboost.dask import DaskCWBoostClassifier

        DaskCWBoostClassifier("stump", n_estimators=10, random_state=0).fit(self.X, self.y)
