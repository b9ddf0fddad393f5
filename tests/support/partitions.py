"""Training on partitions in this process, without a cluster."""

import numpy as np

from cwboost.dask.crew import LocalCrew
from cwboost.dask.input.chunks import make_chunk
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.problem import descriptions_of, planned, shared_encoding, shared_problem
from cwboost.dask.training import PartitionedPricer, PartitionedTraining
from cwboost.solvers.schedule import Settings


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
    settings = Settings(**{"max_working_sets": 1, "tol": 0.0, **settings})
    chunks = [make_chunk(index, "training", *block) for index, block in enumerate(blocks)]
    crew = LocalCrew(chunks, n_workers, count_bytes=True)
    rng = np.random.default_rng(seed)
    encoding, columns = shared_encoding(crew.columns(categorical), family, categorical)
    reports = crew.describe(family, encoding)
    problem = shared_problem(reports, encoding, family, C, class_weight)
    problem = planned(problem, family, descriptions_of(reports), columns, rng)
    crew.bind(problem.setup)
    master = PartitionedMaster(crew, problem.masses, C, keeps_columns=not settings.stagewise)
    pricer = PartitionedPricer(master, problem.setup.plan, family, problem.n_samples, rng)
    training = PartitionedTraining(pricer, master, settings, rng)
    training.crew, training.problem = crew, problem
    while training.n_rounds < n_rounds and training.round():
        pass
    training.finish()
    return training


def split(X, y, *sizes):
    """Return blocks of these numbers of rows, and one of the rest."""
    ends = np.cumsum(sizes)
    return list(zip(np.split(X, ends), np.split(y, ends)))
