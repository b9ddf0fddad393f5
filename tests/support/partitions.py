"""Training on partitions in this process, without a cluster, and the same training on all rows."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("distributed")

from cwboost import CWBoostClassifier
from cwboost.dask.crew import Crew
from cwboost.dask.host import Host
from cwboost.dask.input.chunks import Chunk, report
from cwboost.dask.input.encoding import columns_of
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.problem import coordinator_of, described, shared_encoding, shared_problem
from cwboost.dask.training import (
    PartitionedColumnGeneration,
    PartitionedLeafBoosting,
    PartitionedPricer,
)
from cwboost.solvers.schedule import BoostingSettings
from cwboost.support.weights import size_of


class LocalCrew(Crew):
    """Partitions in this process, on some pretended workers.

    `sent` and `received` count the bytes that messages to all workers, and their replies, would
    take.
    """

    def __init__(self, chunks, n_workers):
        super().__init__()
        self.hosts = [Host(chunks[k::n_workers], n_threads=1) for k in range(n_workers)]
        self.sent = self.received = 0

    @property
    def n_workers(self):
        return len(self.hosts)

    def share(self, question):
        tasks = question.tasks
        dealt = pickle.loads(pickle.dumps(list(enumerate(tasks)), protocol=5))
        shared = [
            host.share(dict(dealt[k :: len(self.hosts)])) for k, host in enumerate(self.hosts)
        ]
        return [shared[k % len(self.hosts)][k] for k in range(len(tasks))]

    def _on_all(self, method, *arguments):
        replies = [getattr(host, method)(*arguments) for host in self.hosts]
        if method == "run":
            self.sent += len(self.hosts) * len(pickle.dumps(*arguments, protocol=5))
            self.received += sum(len(pickle.dumps(reply, protocol=5)) for reply in replies)
        return replies


def train(
    family,
    blocks,
    n_rounds,
    *,
    C=100.0,
    n_workers=1,
    seed=0,
    class_weight=None,
    categorical=None,
    **settings,
):
    """Return training on blocks (X, y) or (X, y, weight), done, with its crew as `crew`."""
    given = {"C": C, "solver": "fcd", "max_working_sets": 1, "tol": 0.0, **settings}
    settings = BoostingSettings(penalizes_steps=True, **given)
    chunks = [Chunk(index, "training", *block) for index, block in enumerate(blocks)]
    crew = LocalCrew(chunks, n_workers)
    rng = np.random.default_rng(seed)
    found = crew.collect(columns_of, None, categorical)
    encoding, schema = shared_encoding(found, categorical, family)
    reports = crew.collect(report, encoding, family)
    setup = shared_problem(reports, encoding, C, class_weight)
    found = crew.collect(described, encoding, setup, family)
    found = [own for _, own in sorted(found.items())]
    setup = replace(setup, size=size_of(own.size for own in found))
    descriptions = [own.description for own in found]
    coordinator = coordinator_of(setup, descriptions, schema, rng, family)
    setup = replace(setup, coordinator=coordinator)
    crew.bind(setup)
    master = PartitionedMaster(crew, setup, keeps_columns=not settings.stagewise)
    pricer = PartitionedPricer(master, family, rng)
    divides = settings.stagewise and family.capabilities.divides
    kind = PartitionedLeafBoosting if divides else PartitionedColumnGeneration
    training = kind(pricer, master, settings, rng)
    training.crew, training.setup = crew, setup
    while training.n_rounds < n_rounds and training.round():
        pass
    training.finish()
    return training


def local(family, X, y, n_rounds, weight=None, **settings):
    """Return a classifier trained on all rows, as `train` trains on partitions."""
    steps = {"correction": "stagewise", "learning_rate": 1.0, "subsample": 1.0}
    settings = {"C": 100.0, "tol": 0.0, "init": None, **steps, **settings}
    return CWBoostClassifier(family, n_estimators=n_rounds, **settings).fit(X, y, weight)


def assert_same_learners(one, other, rtol=0.0):
    """Compare the learners of ensembles."""
    one, other = (ensemble.learners.arrays() for ensemble in (one, other))
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_allclose(array, other[name], rtol, rtol / 1000, err_msg=name)


def split(X, y, *sizes):
    """Return blocks of these numbers of rows, and one of the rest."""
    ends = np.cumsum(sizes)
    return list(zip(np.split(X, ends), np.split(y, ends)))
