"""The paper's study of its solver: FCD with a limit on working sets against L-BFGS-B.

"FCD-n" makes up to n passes per round. "FCD-n printed" is Algorithm 2 exactly as printed: later
passes draw with replacement, and no subspace steps follow them. FCD-1 is both.

Each solver trains separately by column generation on the same data. The study compares the
objective after each round and the time spent in the solver so far.
"""

from __future__ import annotations

from cwboost import CWBoostClassifier
from cwboost.datasets import DataAbsent, load
from cwboost.experiments.methods import EPSILON
from cwboost.experiments.protocols import PROTOCOLS, prepare
from cwboost.experiments.records import find_done
from cwboost.experiments.runner import train_and_measure
from cwboost.support.progress import progress_bar

__all__ = ["PRINTED", "SETS", "SOLVERS", "C", "run"]

PRINTED = " printed"
C = 1e4
SETS = ("VOWEL", "USPS", "SCENE15")
SOLVERS = {f"FCD-{n}": {"max_working_sets": n} for n in (1, 2, 3, 5, 10, 20)}
for n in (2, 3, 5, 10, 20):
    SOLVERS[f"FCD-{n}{PRINTED}"] = {"max_working_sets": n, "solver": "fcd_printed"}
SOLVERS["L-BFGS-B"] = {"solver": "lbfgsb"}


class _Solver:
    """A solver setting with the interface of a method."""

    def __init__(self, name):
        self.name = name

    def make(self, **parameters):
        """Return a classifier that trains with this solver."""
        options = {"probability_scale": 2.0, **SOLVERS[self.name], **parameters}
        return CWBoostClassifier(correction="total", C=C, epsilon=EPSILON, tol=0.0, **options)


def run(plan) -> dict[str, str]:
    """Make the runs missing from the plan's results; return the absent sets with the reasons."""
    absent = {}
    for name in SETS:
        if plan.datasets is not None and name not in plan.datasets:
            continue
        protocol = PROTOCOLS[name]
        keys = [_key(plan, name, solver, run) for run in range(plan.runs) for solver in SOLVERS]
        records = plan.records.read()
        todo = [key for key in keys if find_done(records, key, None) is None]
        try:
            bunch = load(protocol.dataset, plan.data_dir)
        except DataAbsent as error:
            absent[f"{name} (solver)"] = str(error)
            continue
        with progress_bar(todo, desc=f"{name}, solvers", unit="run", disable=plan.quiet) as bar:
            for key in bar:
                bar.set_postfix_str(f"{key['solver']}, run {key['run'] + 1} of {plan.runs}")
                plan.records.append(_run(plan, protocol, bunch, key))
    return absent


def _key(plan, name, solver, run):
    return {
        "kind": "solver",
        "protocol": name,
        "solver": solver,
        "run": run,
        "rounds": plan.rounds,
        "seed": plan.seed,
        "n_jobs": plan.n_jobs,
        "weak_learner": plan.weak_learner,
    }


def _run(plan, protocol, bunch, key):
    split = prepare(protocol, bunch, key["run"], seed=plan.seed, memory=plan.memory)
    parameters = {**plan.parameters, "random_state": plan.seed * 1000 + key["run"]}
    with progress_bar(
        total=plan.rounds, desc=f"  {key['solver']}", unit="round", leave=False, disable=plan.quiet
    ) as bar:
        measured = train_and_measure(
            _Solver(key["solver"]),
            split,
            rounds=plan.rounds,
            parameters=parameters,
            bar=bar,
        )
    return {"key": key, **plan.provenance, "C": C, **measured}
