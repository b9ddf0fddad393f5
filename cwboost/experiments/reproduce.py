"""The paper's experiments as a resumable series of runs, for `cwboost reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from joblib import Memory

from cwboost import __version__
from cwboost.datasets import DataAbsent, load
from cwboost.experiments.methods import BASIC, METHODS, SOLVER_SETS, SOLVERS, Method
from cwboost.experiments.protocols import FIGURES, PROTOCOLS, Batch, Protocol, prepare
from cwboost.experiments.records import RecordFile, find_done
from cwboost.experiments.revision import code_digest, machine
from cwboost.experiments.runner import choose_C, train_and_measure
from cwboost.experiments.weak_learner import parse_weak_learner
from cwboost.support.progress import progress_bar

__all__ = ["Plan", "reproduce"]

CHOICE = ("C", "validation_error", "selection_seconds", "selection_nonzero", "selection_learners")
"""What a result takes over from the record of its choice of C."""


@dataclass(frozen=True)
class Plan:
    """The runs to make and the folder to write to.

    Parameters
    ----------
    figures : sequence of str
        Names from `FIGURES`, and "solver".
    out : Path
        Folder for the results, the table and the figures.
    data_dir : Path or None
    runs, rounds : int
    selection_rounds : int
        Number of rounds after which the values of C are compared.
    methods : sequence of str
    datasets : sequence of str or None
        Names of protocols to run; None runs all protocols of the figures.
    seconds : float
        Limit on the processor time of each training of AdaBoost.MO; the others have none.
    seed : int
    n_jobs : int
    weak_learner : str
        As for `parse_weak_learner`.
    quiet : bool
        Do not show progress bars.
    """

    figures: Sequence[str]
    out: Path
    data_dir: Path | None = None
    runs: int = 5
    rounds: int = 500
    selection_rounds: int = 100
    methods: Sequence[str] = tuple(METHODS)
    datasets: Sequence[str] | None = None
    seconds: float = 1000.0
    seed: int = 0
    n_jobs: int = 1
    weak_learner: str = "stump"
    quiet: bool = False

    def __post_init__(self):
        for name, wanted, known in (
            ("figures", self.figures, [*FIGURES, "solver"]),
            ("methods", self.methods, list(METHODS)),
            ("datasets", self.datasets or (), list(PROTOCOLS)),
        ):
            unknown = [one for one in wanted if one not in known]
            if unknown:
                raise ValueError(
                    f"{name} must be among {', '.join(known)}; got {', '.join(unknown)}"
                )
        for name in ("runs", "rounds", "selection_rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be above 0, got {self.seconds}")
        parse_weak_learner(self.weak_learner)

    @cached_property
    def records(self) -> RecordFile:
        """File of the results."""
        return RecordFile(self.out / "results.jsonl")

    @cached_property
    def memory(self) -> Memory:
        """Keeps the image features."""
        return Memory(self.out / "features", verbose=0)

    @property
    def parameters(self) -> dict:
        """Parameters common to all estimators."""
        return {"weak_learner": parse_weak_learner(self.weak_learner), "n_jobs": self.n_jobs}

    def protocols(self, kind: str = "run") -> list[Protocol]:
        """Return the protocols of the requested figures, or of the study of solvers."""
        names = [name for figure in FIGURES if figure in self.figures for name in FIGURES[figure]]
        if kind == "solver":
            names = SOLVER_SETS if "solver" in self.figures else ()
        return [PROTOCOLS[n] for n in names if self.datasets is None or n in self.datasets]

    def methods_of(self, protocol: Protocol, kind: str = "run") -> list[Method]:
        """Return the requested methods that run on a protocol, or the solvers of the study."""
        if kind == "solver":
            return list(SOLVERS.values())
        return [METHODS[m] for m in self.methods if m in (*BASIC, *protocol.more_methods)]

    def limit_of(self, method) -> float | None:
        """Return the limit in seconds of processor time per training of a method, or None."""
        return self.seconds if method.limited else None

    @property
    def provenance(self) -> dict:
        """Version of cwboost, digest of the code that makes a result, and the machine."""
        return {"version": __version__, "code": code_digest(), "machine": machine()}


def reproduce(plan: Plan) -> dict[str, str]:
    """Make the runs of the plan that are not yet among the results.

    Run 1 of every data set comes before run 2 of any, so that an interrupted reproduction has
    equally many runs of all sets.

    Returns
    -------
    dict of str
        The protocols that were not run, each with the reason.
    """
    absent = {}
    for kind, suffix in (("run", ""), ("solver", " (solver)")):
        for run in range(plan.runs):
            for protocol in plan.protocols(kind):
                if protocol.name + suffix not in absent:
                    try:
                        _run_protocol(plan, kind, protocol, run)
                    except DataAbsent as error:
                        absent[protocol.name + suffix] = str(error)
    return absent


def _run_protocol(plan, kind, protocol, run):
    """Make the missing results of one run of all methods on a data set."""
    records = plan.records.read()
    todo = []
    for method in plan.methods_of(protocol, kind):
        key = _key(plan, kind, protocol, method, run)
        if find_done(records, key, plan.limit_of(method)) is None:
            todo.append((method, key))
    if not todo:
        return
    bunch = load(protocol.dataset, plan.data_dir)
    if isinstance(protocol.split, Batch) and run >= protocol.split.n_runs(bunch):
        return
    split = prepare(protocol, bunch, run, seed=plan.seed, memory=plan.memory)
    with progress_bar(todo, desc=protocol.name, unit="run", disable=plan.quiet) as bar:
        for method, key in bar:
            bar.set_postfix_str(f"{method.name}, run {run + 1} of {plan.runs}")
            plan.records.append(_run(plan, method, key, split))


def _key(plan, kind, protocol, method, run) -> dict:
    return {
        "kind": kind,
        "protocol": protocol.name,
        "method": method.name,
        "run": run,
        "rounds": plan.rounds,
        "selection_rounds": plan.selection_rounds if method.grid else None,
        "seed": plan.seed,
        "n_jobs": plan.n_jobs,
        "weak_learner": plan.weak_learner,
    }


def _run(plan, method, key, split) -> dict:
    limit = plan.limit_of(method)
    rng = np.random.default_rng([plan.seed, key["run"], 1])
    parameters = {**plan.parameters, "random_state": plan.seed * 1000 + key["run"]}
    chosen = {}
    with progress_bar(
        desc=f"  {method.name}", unit="round", leave=False, disable=plan.quiet
    ) as bar:
        bar.total = plan.rounds
        if method.grid:
            bar.total += len(method.grid) * min(plan.selection_rounds, plan.rounds)
            chosen = _choice(plan, key, method, split, rng, parameters, bar)
            parameters["C"] = chosen["C"]
        measured = train_and_measure(
            method, split, rounds=plan.rounds, limit=limit, parameters=parameters, bar=bar
        )
    return {
        "key": key,
        **plan.provenance,
        "limit": limit,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_features": split.X_train.shape[1],
        **chosen,
        **measured,
    }


def _choice(plan, key, method, split, rng, parameters, bar) -> dict:
    """Return the chosen C, recorded as a separate result that an interrupted training keeps.

    A choice made by another state of the code is repeated: the run's result would not show it.
    """
    key = {**key, "kind": "choice"}
    found = find_done(plan.records.read(), key, None)
    if found is None or found.get("code") != plan.provenance["code"]:
        chosen = choose_C(
            method,
            split,
            rounds=min(plan.selection_rounds, plan.rounds),
            rng=rng,
            parameters=parameters,
            bar=bar,
        )
        found = {"key": key, **plan.provenance, **chosen}
        plan.records.append(found)
    return {name: found[name] for name in CHOICE}
