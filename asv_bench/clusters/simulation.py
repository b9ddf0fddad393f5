"""Bytes, messages and processor time of a round of trees on many workers, counted in one process.

    python asv_bench/clusters/simulation.py [--workers 2 16 64] [--record]

Every worker of the simulation holds one partition. Messages are pickled and read again as on a
cluster, and counted; the time of the client, and of the worker that takes longest, is that of one
thread. What a network and Dask add is left out: `NETWORK` and `CALL` are what they would be.
"""

import argparse
import pickle
import sys
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from fits import SEED, block
from report import Row, append, number

from cwboost import TreeFamily, show_config
from cwboost.dask.crew import Crew
from cwboost.dask.host import Host
from cwboost.dask.input.chunks import Chunk, report
from cwboost.dask.input.encoding import columns_of
from cwboost.dask.master import PartitionedMaster
from cwboost.dask.problem import coordinator_of, described, shared_encoding, shared_problem
from cwboost.dask.training import PartitionedLeafBoosting, PartitionedPricer
from cwboost.solvers.schedule import BoostingSettings
from cwboost.support.weights import size_of

RESULTS = Path(__file__).parents[1] / "results" / "clusters.jsonl"

TABLES = ((1_000_000, 20, 2), (4_000_000, 20, 2), (1_000_000, 20, 10), (1_000_000, 80, 2))
"""Numbers of rows, features and classes."""

NETWORK = 1e9
"""Bytes that go to or from the client in a second: those of ten gigabits."""

CALL = 1e-3
"""Seconds of an exchange of empty messages."""


class CountingCrew(Crew):
    """Workers in this process, whose messages and times are counted, by name, for a round."""

    def __init__(self, chunks):
        super().__init__()
        self.hosts = [Host([chunk]) for chunk in chunks]
        self.begin()

    def begin(self):
        self.counts = dict.fromkeys(("exchanges", "sent", "received", "worker", "began"), 0.0)
        self.counts["began"], self._others = process_time(), 0.0

    def client(self):
        """Return the time of the client since the round began."""
        return process_time() - self.counts["began"] - self._others

    @property
    def n_workers(self):
        return len(self.hosts)

    def share(self, question):
        numbers = np.argsort(question.costs)[::-1].tolist()
        dealt = [numbers[k :: self.n_workers] for k in range(self.n_workers)]
        tasks = [{k: question.tasks[k] for k in own} for own in dealt]
        replies = self._exchange("share", [pickle.dumps((own,), 5) for own in tasks])
        found = {k: result for reply in replies for k, result in reply.items()}
        return [found[k] for k in range(len(numbers))]

    def _on_all(self, method, *arguments):
        return self._exchange(method, [pickle.dumps(arguments, 5)] * self.n_workers)

    def _exchange(self, method, messages):
        start, longest, answers = process_time(), 0.0, []
        for host, message in zip(self.hosts, messages):
            began = process_time()
            answers.append(pickle.dumps(getattr(host, method)(*pickle.loads(message)), 5))
            longest = max(longest, process_time() - began)
        self._others += process_time() - start
        self.counts["worker"] += longest
        self.counts["exchanges"] += 1
        self.counts["sent"] += sum(map(len, messages))
        self.counts["received"] += sum(map(len, answers))
        return [pickle.loads(answer) for answer in answers]


def training(n_workers, n, n_features, n_classes):
    """Return leaf boosting of trees of depth 8 on this number of workers."""
    family, rng = TreeFamily(8), np.random.default_rng(SEED)
    blocks = [block(n // n_workers, n_features, n_classes, k) for k in range(n_workers)]
    crew = CountingCrew([Chunk(k, "training", *own) for k, own in enumerate(blocks)])
    del blocks
    encoding, schema = shared_encoding(crew.collect(columns_of, None, None), None, family)
    setup = shared_problem(crew.collect(report, encoding, family), encoding, 1e4, None)
    found = [own for _, own in sorted(crew.collect(described, encoding, setup, family).items())]
    setup = replace(setup, size=size_of(own.size for own in found))
    descriptions = [own.description for own in found]
    setup = replace(setup, coordinator=coordinator_of(setup, descriptions, schema, rng, family))
    crew.bind(setup)
    settings = BoostingSettings(
        C=1e4, learning_rate=0.1, solver="fcd", max_working_sets=1, tol=0.0, penalizes_steps=True
    )
    master = PartitionedMaster(crew, setup)
    return PartitionedLeafBoosting(PartitionedPricer(master, family, rng), master, settings, rng)


def measured(n_workers, *size):
    """Return the medians of three rounds."""
    own, rounds = training(n_workers, *size), []
    crew = own.master.crew
    for _ in range(4):
        crew.begin()
        own.round()
        rounds.append({**crew.counts, "client": crew.client()})
    return {name: median(each[name] for each in rounds[1:]) for name in rounds[0]}


def rows_of(counts, size):
    """Yield the rows of one table, given the counts by the number of workers."""
    n, d, k = size
    first = min(counts)
    for n_workers, own in counts.items():
        network = (own["sent"] + own["received"]) / NETWORK + CALL * own["exchanges"]
        parts = {"the slowest worker": own["worker"], "the client": own["client"]}
        parts["the client's network"] = network
        seconds = ", ".join(f"{name} {number(1e3 * part)} ms" for name, part in parts.items())
        detail = (
            f"{own['exchanges']:.0f} exchanges; {number(own['sent'] / n_workers / 1e6)} MB to each "
            f"worker, {number(own['received'] / n_workers / 1e6)} MB from it; {seconds}"
        )
        own["seconds"] = sum(parts.values())
        ratio = counts[first]["seconds"] / own["seconds"]
        workers = "1 worker" if n_workers == 1 else f"{n_workers} workers"
        what = f"{n:,} × {d}, {k} classes: a round of trees on {workers}"
        if n_workers != first:
            detail += f"; {number(ratio)} times as fast as on {first}"
        yield Row(f"simulated: {what}", 1.0, 1e3 * own["seconds"], "ms", detail, at_most=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", nargs="*", type=int, default=[1, 2, 16, 64])
    parser.add_argument("--tables", nargs="*", type=int, default=range(len(TABLES)))
    parser.add_argument("--record", action="store_true", help="append the rows to the results")
    options = parser.parse_args()
    for size in (TABLES[k] for k in options.tables):
        counts = {n_workers: measured(n_workers, *size) for n_workers in options.workers}
        for row in rows_of(counts, size):
            print(" | ".join(row.cells()), flush=True)
            if options.record:
                known = {"threads": 1, "instruction_set": show_config()["instruction_set"]}
                append(RESULTS, {"group": "simulation", "row": asdict(row), **known}, "cwboost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
