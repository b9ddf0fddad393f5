"""The default in use: import, error, files, explanations, threads, a cluster."""

import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import contextmanager

from sklearn.metrics import log_loss
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

    def track_log_loss(self, data):
        return log_loss(self.y_test, self.clf.predict_proba(self.X_test))

    track_log_loss.unit = "nats"


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

    def time_shap_values(self, data):
        self.clf.shap_values(self.X_test[:50])


class Export(Default):
    def time_to_onnx(self, data):
        from cwboost import to_onnx

        to_onnx(self.clf)


class TwoThreads(Default):
    n_jobs = 2

    def time_fit(self, data):
        self.fitted()


class TwoWorkers(Settings):
    """Two workers, processes of one thread; a fit uses one of them alone, or partitions."""

    param_names = ["weak_learner", "place"]
    rounds = 1

    def setup(self, weak_learner, place):
        import dask.array as da
        from distributed import Client

        from cwboost.dask import actors

        X, y, _ = DATA["pendigits"]()
        self.client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.X, self.y = da.from_array(X, chunks=(1_000, 16)), da.from_array(y, chunks=1_000)
        self.share = actors.SHARE
        if place == "partitions":
            actors.SHARE = 0.0

    def teardown(self, weak_learner, place):
        from cwboost.dask import actors

        actors.SHARE = self.share
        self.client.close()

    def fit(self, weak_learner, n_rounds):
        from cwboost.dask import DaskCWBoostClassifier

        settings = {"n_estimators": n_rounds, "init": None, "probability_scale": 2.0}
        DaskCWBoostClassifier(weak_learner, random_state=0, **settings).fit(self.X, self.y)


class Cluster(TwoWorkers):
    params = [["auto", "stump"], ["one worker", "partitions"]]

    def time_fit(self, weak_learner, place):
        self.fit(weak_learner, 10)


class Traffic(TwoWorkers):
    """Messages of a round on partitions, with both workers: the same counts on any machine."""

    params = [["auto", "stump"], ["partitions"]]

    def track_exchanges(self, weak_learner, place):
        return self.per_round(weak_learner)[0]

    def track_bytes(self, weak_learner, place):
        return self.per_round(weak_learner)[1]

    track_exchanges.unit = "exchanges"
    track_bytes.unit = "bytes"

    def per_round(self, weak_learner):
        """Return exchanges and bytes of a round: what ten rounds take beyond five."""
        counts = []
        for n_rounds in (5, 10):
            with counted() as total:
                self.fit(weak_learner, n_rounds)
            counts.append(total)
        return [(more - fewer) / 5 for fewer, more in zip(*counts)]


@contextmanager
def counted():
    """Count the exchanges of clusters and their bytes."""
    from cwboost.dask.actors import ActorCrew

    total, ask = [0, 0], ActorCrew._on_all

    def ask_and_count(crew, *call):
        replies = ask(crew, *call)
        total[0] += 1
        total[1] += sum(len(pickle.dumps(one, protocol=5)) for one in [*replies, *[call] * 2])
        return replies

    ActorCrew._on_all = ask_and_count
    try:
        yield total
    finally:
        ActorCrew._on_all = ask
