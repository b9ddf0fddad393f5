"""Partitions on the workers of a Dask cluster, as actors; lost ones are rebuilt."""

import logging
from collections import defaultdict
from concurrent.futures import CancelledError
from time import perf_counter, sleep

import dask
import numpy as np
from distributed import Client, get_worker, wait
from distributed.protocol.pickle import dumps, loads

from cwboost.dask.crew import Crew, PartitionsLost
from cwboost.dask.host import Host
from cwboost.dask.input.chunks import Chunk, Source
from cwboost.dask.input.collections import evenly, rests_on, started
from cwboost.dask.one_worker import Job, Progress, WorkerFit
from cwboost.families.partitioned import Tasks
from cwboost.families.sealing.faults import add_note
from cwboost.support.warnings import kept_warnings, warn_caller

logger = logging.getLogger(__name__)

DIRECT_SECONDS = 5.0
"""Time in which a worker must answer a direct call; else calls go through the scheduler."""

RELEASE_SECONDS = 2.0
"""Time to wait until a worker has let go of the sources, so that memory holds them once."""

LOOK_SECONDS = 2.0
"""Interval at which whoever waits for a worker looks whether it is still there."""

PATIENCE_SECONDS = 45.0
"""Time to wait for a worker if none is left."""

SHARE = 0.25
"""Data that take at most this share of a worker's memory may be trained on there as a whole: at its
peak, a fit takes three times as much."""

HELD = 0.4
"""Data that may take more than this share of the memory of all workers are read in passes."""

SMALL = 2**24
"""Bytes of data below which messages take longer than a round, if a round asks few questions."""

MOST_LOSSES = 100
"""Losses of workers after which training gives up."""

MOST_CANCELLED = 3
"""Times that the sources of partitions may be cancelled while they are computed."""


class RemoteHost(Host):
    """A `Host` on a worker, which also holds the sources of the partitions until they are bound."""

    def call(self, method, message: list | None = None) -> list:
        """Return result, error and warnings of a method: an error that it raises means loss."""
        arguments = () if message is None else unpacked(message)
        with kept_warnings() as kept:
            try:
                result, error = getattr(self, method)(*arguments), None
            except Exception as raised:
                result, error = None, raised
        return packed((result, error, kept))

    def nothing(self) -> None:
        """Do nothing."""

    def prepare(self, method, given, released=()) -> None:
        """Call `bind` or `train`, once the worker has let go of the data of released keys."""
        data, end = get_worker().data, perf_counter() + RELEASE_SECONDS
        while any(key in data for key in released) and perf_counter() < end:
            sleep(0.005)
        getattr(self, method)(given)

    def train(self, job: Job) -> None:
        """Begin a fit on the examples of all partitions."""
        self.fit = WorkerFit(self.sources, job, self.n_threads)

    def ask_fit(self, method, *arguments):
        """Return the result of a method of the fit."""
        return getattr(self.fit, method)(*arguments)


class ActorCrew(Crew):
    """Partitions on a cluster.

    One actor per worker holds the partitions whose blocks the scheduler put there. If a worker is
    lost, its partitions are computed again from their sources, arguments of `Chunk` whose blocks
    are Delayed, and brought to the present state by repeating the logged operations.

    If all data fit on one worker, that one gets all partitions, and `place` is the reason. With
    `asks_once`, only small data do. `packages` are the distributions that all workers need, and
    the data take at most `n_bytes`, NaN if this is unknown.
    """

    def __init__(
        self,
        client: Client,
        sources,
        asks_once: bool = True,
        packages=("cwboost",),
        n_bytes: float = 0.0,
    ):
        super().__init__()
        self._n_bytes = n_bytes
        self.client, self._packages = client, list(packages)
        self._checked: set[str] = set()  # addresses of workers that have the packages
        self.sources = list(sources)
        self.asks_once = asks_once
        self.place = ""
        self.is_whole: bool | None = None
        self.is_streamed = False
        self.n_losses = 0
        self._prepared: tuple | None = None
        self._n_rounds = 0
        self._chunks: dict = {}
        self._actors: dict = {}
        self._partitions: dict = {}
        self._was_direct = client.direct_to_workers

    def start(self) -> None:
        """Let the workers compute the sources of the partitions and hold them.

        If these would take too much memory, they compute one after the other in several passes.
        """
        if not self._n_bytes <= self._room() and self.sources:
            place, n = len(self.sources) // 2, len(self.sources)
            if not rests_on(self._tasks([place]).values(), self.client.futures):
                self._chunks = self._computed([place])
                n_bytes = n * sum(self.client.nbytes([self._chunks[place].key]).values())
                self._release_chunks()
                self.is_streamed = n_bytes > self._room()
                self.place = f"{n} partitions hold about {n_bytes:,} bytes of data, read in passes"
        self._place(range(len(self.sources)))
        self._prefer_direct()

    def _prepare(self, method, given) -> None:
        # The actors alone hold the blocks now, unless the user keeps them too, and let go of one
        # partition's after the other.
        self._on_all("prepare", method, given, self._release_chunks())
        self._release_chunks()
        self._prepared = method, given

    def train(self, job: Job) -> None:
        """Begin a fit on the one worker that holds all partitions."""
        self._prepare("train", job)

    def advance(self, until: int, seconds: float) -> Progress:
        """Let the one worker go on; see `WorkerFit`."""
        progress = self.ask_fit("advance", until, seconds)
        self._n_rounds = progress.n_rounds
        return progress

    def ask_fit(self, method, *arguments):
        """Return the result of a method of the one worker's fit."""
        (result,) = self._on_all("ask_fit", method, *arguments)
        return result

    def _release_chunks(self) -> list:
        """Tell the scheduler that the chunks are not needed, and return their keys.

        To drop the futures is not enough: after a wait that timed out, its frames refer to them
        until garbage is collected.
        """
        futures, self._chunks = list(self._chunks.values()), {}
        for future in futures:
            future.release()
        return [future.key for future in futures]

    def close(self) -> None:
        for actor in self._actors.values():
            _release(actor)
        self._release_chunks()
        self._actors, self._partitions = {}, {}
        self.client.direct_to_workers = self._was_direct

    # ---------------------------------------------------------------- calls

    def _on_all(self, method, *arguments) -> list:
        """Call a method of every host and return the results; replace what is lost meanwhile."""
        try:
            return self._on_present(method, arguments)
        except PartitionsLost:
            self.is_lost = True
            raise

    def _on_present(self, method, arguments) -> list:
        results, lost = self._call(self._actors, method, arguments)
        while lost:
            self._count_losses(len(lost))
            partitions = sorted(index for key in lost for index in self._partitions.pop(key))
            for key in lost:
                _release(self._actors.pop(key))
            more, lost = self._replaced(partitions, method, arguments)
            results += more
        return results

    @property
    def n_workers(self) -> int:
        return len(self._actors)

    def share(self, question: Tasks) -> list:
        done: dict = {}
        dearest_first = np.argsort(question.costs)[::-1].tolist()
        while missing := [k for k in dearest_first if k not in done]:
            costs, dealt = dict.fromkeys(self._actors, 0), {key: {} for key in self._actors}
            for k in missing:
                key = min(costs, key=costs.get)
                costs[key] += question.costs[k]
                dealt[key][k] = question.tasks[k]
            results, lost = self._call(self._actors, "share", dealt)
            done.update(pair for own in results for pair in own.items())
            if lost:
                self.ask()  # finds and replaces them
        return [done[k] for k in range(len(done))]

    def _call(self, actors, method, arguments) -> tuple[list, list]:
        """Return the results, and the keys of the actors that are lost; raise a host's error.

        The arguments are those of all, or one by key. Hosts with the same warning warn once.
        """
        lost, results, errors, calls, warned = [], [], [], {}, {}
        message = None if isinstance(arguments, dict) else packed(arguments)
        for key, actor in actors.items():
            try:
                own = packed((arguments[key],)) if message is None else message
                calls[key] = actor.call(method, own)
            except (OSError, RuntimeError, ValueError):
                lost.append(key)
        for key, call in calls.items():
            try:
                answer = self._answer(actors[key], call)
            except Exception:
                lost.append(key)
                continue
            result, error, kept = unpacked(answer)
            warned |= dict.fromkeys(kept)
            (results if error is None else errors).append(result if error is None else error)
        for warning in warned:
            warn_caller(*warning)
        if errors:
            # The same one whichever worker holds it.
            raise min(errors, key=lambda error: getattr(error, "partition", np.inf))
        return results, lost

    def _answer(self, actor, future):
        """Return the answer to a call; raise an error if it cannot come any more.

        Dask leaves a call unanswered if the scheduler reports the loss of the worker before the
        connection breaks. An actor does one thing after the other, so that it has answered a call
        when it answers a later one.
        """
        later = None
        while True:
            answered = later is not None and later.done()
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if answered or not self._holds(actor):
                    raise PartitionsLost("a call was not answered") from None
            if later is None:
                later = actor.call("nothing")

    def _holds(self, actor) -> bool:
        """Return whether the worker of an actor is there and has not lost it."""
        kept = actor._future is None or actor._future.status == "finished"
        return kept and actor._address in self._known_workers()

    def _replaced(self, partitions, method, arguments) -> tuple[list, list]:
        """Rebuild partitions on other workers, then call the method there."""
        new = self._place(partitions)
        if self._prepared is not None:
            repeated = "run", (self.history(),)
            if self.is_whole:
                repeated = "ask_fit", ("advance", self._n_rounds)
            for step, given in (("prepare", self._prepared), repeated):
                _, lost = self._call(new, step, given)
                if lost:
                    return [], list(new)  # all of them are given up
            self._release_chunks()
        return self._call(new, method, arguments)

    def _count_losses(self, n) -> None:
        self.n_losses += n
        if self.n_losses > MOST_LOSSES:
            raise PartitionsLost(f"{self.n_losses} workers were lost during training")

    # ---------------------------------------------------------------- placement

    def _place(self, partitions) -> dict:
        """Compute the chunks of partitions and start an actor where each of them is."""
        missing, new = list(partitions), {}
        while missing:
            if self.is_streamed:
                while not (numbers := self._numbers()):
                    self._wait_for_worker()
                given = {index: Source(self.sources[index]) for index in missing}
                by_worker = evenly(missing, numbers)
            else:
                # Before any wait for workers: an adaptive cluster starts some when tasks wait.
                given = self._computed(missing)
                self._chunks.update(given)
                by_worker = self._by_worker(given)
            missing = []
            for address, indices in by_worker.items():
                actor = self._start(address, [given[i] for i in indices])
                if actor is None:
                    self._count_losses(1)
                    missing += indices
                    continue
                self._actors[actor.key], self._partitions[actor.key] = actor, indices
                new[actor.key] = actor
        return new

    def _computed(self, partitions) -> dict:
        """Return the finished futures of the chunks of partitions."""
        for _ in range(MOST_CANCELLED):
            numbers = self._numbers()
            futures = started(self.client, self._tasks(partitions), numbers)
            while any(future.status == "pending" for future in futures.values()):
                try:
                    wait(list(futures.values()), timeout=LOOK_SECONDS)
                except TimeoutError:
                    self._wait_for_worker()
                    if not numbers.keys() <= self._known_workers().keys():
                        # Dask may wait for ever for the worker that a source was to be on.
                        for future in futures.values():
                            future.release()
                        break
                except CancelledError:
                    break
            if all(future.status in ("finished", "error") for future in futures.values()):
                break
        for index, future in futures.items():
            if future.status == "error":
                error = future.exception()
                add_note(error, f"raised while the source of partition {index} was computed")
                raise error
            if future.status != "finished":
                raise PartitionsLost(
                    f"the source of partition {index} cannot be computed again ({future.status}): "
                    "data that were scattered, or persisted before a restart of the cluster, are "
                    "lost with it"
                )
        return futures

    def _tasks(self, partitions) -> dict:
        """Return new tasks: a key that the scheduler is about to forget may be cancelled."""
        make = dask.delayed(Chunk, pure=False)
        return {index: make(*self.sources[index]) for index in partitions}

    def _room(self) -> float:
        """Return the bytes of data that the workers hold."""
        limits = [worker["memory_limit"] or np.inf for worker in self._workers().values()]
        return HELD * sum(limits)

    def _numbers(self) -> dict:
        """Return the number of partitions of every worker, by its address."""
        numbers = dict.fromkeys(self._workers(), 0)
        for key, actor in self._actors.items():
            if actor._address in numbers:
                numbers[actor._address] += len(self._partitions[key])
        return numbers

    def _by_worker(self, futures) -> dict:
        """Return the partitions by the address that holds their chunk."""
        holders = self.client.who_has(list(futures.values()))
        there, grouped = self._wait_for_worker(), defaultdict(list)
        if self.is_whole is None:
            self._decide_place(futures, there)
        if self.is_whole:
            return {_strongest(there): list(futures)}
        for index, future in futures.items():
            addresses = [a for a in holders.get(future.key, ()) if a in there] or list(there)
            least = min(addresses, key=lambda address: len(grouped[address]))
            grouped[least].append(index)
        return {address: indices for address, indices in grouped.items() if indices}

    def _decide_place(self, futures, workers) -> None:
        """Decide whether one worker gets all chunks."""
        keys = [future.key for future in futures.values()]
        n_bytes = sum(self.client.nbytes(keys, summary=False).values())
        limit = workers[_strongest(workers)]["memory_limit"] or np.inf
        self.is_whole = n_bytes <= min(SHARE * limit, SMALL if self.asks_once else np.inf)
        where = "one worker has room for" if self.is_whole else f"{len(keys)} partitions hold"
        self.place = f"{where} {n_bytes:,} bytes of data"
        logger.info("%s", self.place)

    def _start(self, address, chunks):
        """Start an actor on a worker; None if the worker is gone."""
        workers = self._workers()
        if address not in workers:
            return None
        future = self.client.submit(
            RemoteHost,
            chunks,
            threads_of_host(address, workers) if self.is_whole else workers[address]["nthreads"],
            actor=True,
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )
        while True:
            try:
                return future.result(timeout=LOOK_SECONDS)
            except TimeoutError:
                if address not in self._workers():
                    future.cancel()
                    return None
            except Exception:
                if address in self._workers():
                    raise
                return None

    def _workers(self) -> dict:
        """Return the workers that take tasks, or will when they have memory again."""
        known = self._known_workers()
        if not known.keys() <= self._checked:
            self._check_packages()
        return {key: of for key, of in known.items() if of["status"] in ("running", "paused")}

    def _check_packages(self) -> None:
        """Raise ImportError unless all workers have the packages in the client's versions."""
        versions = self.client.get_versions(packages=self._packages)
        for address, there in versions["workers"].items():
            for name in self._packages:
                here, found = versions["client"]["packages"][name], there["packages"].get(name)
                if found != here:
                    raise ImportError(
                        f"every worker must have {name} {here}, as the client, got "
                        f"{found or 'none'} on {address}: install it there"
                    )
            self._checked.add(address)

    def _known_workers(self) -> dict:
        """Return all workers of the cluster, retiring ones included."""
        known = None
        if self.client.status == "running":
            known = self.client.scheduler_info(n_workers=-1).get("workers")
        if known is None:
            raise PartitionsLost(
                f"the client is not connected to a cluster any more (status {self.client.status}): "
                "it or the cluster was closed during fit; the finished rounds are kept"
            )
        return known

    def _wait_for_worker(self) -> dict:
        """Return the workers when there is one."""
        end = perf_counter() + PATIENCE_SECONDS
        while not (there := self._workers()):
            if perf_counter() > end:
                raise PartitionsLost(f"no worker has come within {PATIENCE_SECONDS} s")
            sleep(0.05)
        return there

    def _prefer_direct(self) -> None:
        """Call workers without the scheduler between, if they can be reached."""
        if self._was_direct is not None:
            return
        self.client.direct_to_workers = True
        for actor in self._actors.values():
            try:
                actor.call("nothing").result(timeout=DIRECT_SECONDS)
            except Exception:
                self.client.direct_to_workers = self._was_direct
                return


def packed(value) -> list:
    """Return a pickle, and the arrays in it as bytes, which Dask sends without a copy."""
    buffers: list = []
    head = dumps(value, buffer_callback=buffers.append)
    return [head, *(np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers)]


def unpacked(message: list):
    """Return a value that was packed; its arrays, which arrive unaligned, are copied."""
    head, *buffers = message
    return loads(head, buffers=[bytearray(buffer) for buffer in buffers])


def _release(actor) -> None:
    """Let the cluster forget an actor, with its sources and where these were to be.

    To drop it is not enough: the cluster keeps it until garbage is collected here.
    """
    if actor._future is not None:
        actor._future.release()


def _strongest(workers) -> str:
    """Return the address of the worker whose host has most threads, then of most memory."""

    def strength(address):
        limit = workers[address]["memory_limit"] or np.inf
        return threads_of_host(address, workers), limit, address

    return max(workers, key=strength)


def threads_of_host(address, workers) -> int:
    """Return the number of threads of all workers on the host of one, which is the only to work."""
    host = workers[address]["host"]
    return sum(own["nthreads"] for own in workers.values() if own["host"] == host)
