"""The paper's experiments as a resumable series of runs, for `cwboost reproduce`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from joblib import Memory

from cwboost import __version__
from cwboost.datasets import DataAbsent, load
from cwboost.experiments import features
from cwboost.experiments.methods import BASIC, METHODS, SOLVER_SETS, SOLVERS, Method
from cwboost.experiments.protocols import FIGURES, PROTOCOLS, Protocol, prepare
from cwboost.experiments.revision import code_digest, machine
from cwboost.experiments.runner import choose_C, train_and_measure
from cwboost.families.discovery import resolve_weak_learner
from cwboost.support.files import replacing

FEATURES = Path(features.__file__).parent


@dataclass(frozen=True)
class Study:
    """The runs to make and the folder to write to."""

    figures: Sequence[str]  # names from FIGURES, and "solver"
    out: Path  # folder for the results, the table and the figures
    data_dir: Path | None = None
    runs: int = 5
    rounds: int = 500
    selection_rounds: int = 100  # after which the values of C are compared
    methods: Sequence[str] = tuple(METHODS)
    datasets: Sequence[str] | None = None  # names of protocols; None for all of the figures
    seconds: float = 1000.0  # of processor time, the limit of each training of AdaBoost.MO
    seed: int = 0
    n_jobs: int = 1
    weak_learner: str = "stump"  # a registered name
    quiet: bool = False  # show no progress bars

    def __post_init__(self):
        for name, asked, known in (
            ("figures", self.figures, [*FIGURES, "solver"]),
            ("methods", self.methods, list(METHODS)),
            ("datasets", self.datasets or (), list(PROTOCOLS)),
        ):
            unknown = [each for each in asked if each not in known]
            if unknown:
                raise ValueError(
                    f"{name} must be among {', '.join(known)}, got {', '.join(unknown)}"
                )
        for name in ("runs", "rounds", "selection_rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be >= 1, got {getattr(self, name)}")
        if not self.seconds > 0:
            raise ValueError(f"seconds must be > 0, got {self.seconds}")
        resolve_weak_learner(self.weak_learner)

    @cached_property
    def memory(self) -> Memory:
        """Keeps the image features, apart for each state of their code."""
        return Memory(self.out / "features" / code_digest(FEATURES), verbose=0)

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

    def key(self, protocol: Protocol, method: Method, run: int) -> dict:
        """Return the key of a result: numbers and text by name."""
        return {
            "protocol": protocol.name,
            "method": method.name,
            "run": run,
            "rounds": self.rounds,
            "selection_rounds": self.selection_rounds if method.grid else None,
            "seed": self.seed,
            "n_jobs": self.n_jobs,
            "weak_learner": self.weak_learner,
        }

    def record(self, key: dict) -> dict | None:
        """Return the last record of a run with this key."""
        try:
            return json.loads(self._path(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def save(self, record: dict) -> None:
        """Save a record in place of any other with its key, as soon as it is whole."""
        path = self._path(record["key"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, "w", encoding="utf-8") as file:
            json.dump(record, file, allow_nan=False)

    def _path(self, key: dict) -> Path:
        digest = sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        name = f"{key['protocol']}-{key['method']}-{key['run']}-{digest[:12]}.json"
        return self.out / "results" / name


def reproduce(study: Study) -> dict[str, str]:
    """Make the missing runs of the study; return the protocols that were not run, with the reasons.

    Run 1 of every data set comes before run 2 of any, in case of an interruption.
    """
    absent = {}
    for kind in ("run", "solver"):
        for run in range(study.runs):
            for protocol in study.protocols(kind):
                try:
                    _run_protocol(study, protocol, study.methods_of(protocol, kind), run)
                except DataAbsent as error:
                    absent[protocol.name] = str(error)
    return absent


def _run_protocol(study, protocol, methods, run):
    """Make the missing results of one run of some methods on a data set."""
    from tqdm.auto import tqdm

    todo = []
    for method in methods:
        key = study.key(protocol, method, run)
        done = study.record(key)
        # A training that its time limit stopped counts for any limit up to that one.
        if done is None or (done["stopped"] and study.seconds > done["limit"]):
            todo.append((method, key))
    if not todo:
        return
    bunch = load(protocol.dataset, study.data_dir)
    split = prepare(protocol, bunch, run, seed=study.seed, memory=study.memory)
    if split is None:
        return
    with tqdm(todo, desc=protocol.name, unit="run", disable=study.quiet) as bar:
        for method, key in bar:
            bar.set_postfix_str(f"{method.name}, run {run + 1} of {study.runs}")
            study.save(_run(study, method, key, split))


def _run(study, method, key, split) -> dict:
    from tqdm.auto import tqdm

    limit = study.seconds if method.limited else None
    selection_rounds = min(study.selection_rounds, study.rounds)
    parameters = {
        "weak_learner": resolve_weak_learner(study.weak_learner),
        "n_jobs": study.n_jobs,
        "random_state": study.seed * 1000 + key["run"],
    }
    chosen = {}
    total = study.rounds + len(method.grid) * selection_rounds
    about = {"desc": f"  {method.name}", "unit": "round", "leave": False, "disable": study.quiet}
    with tqdm(total=total, **about) as bar:
        if method.grid:
            chosen = choose_C(method, split, selection_rounds, parameters, bar)
            parameters["C"] = chosen["C"]
        measured = train_and_measure(method, split, study.rounds, parameters, bar, limit)
    return {
        "key": key,
        "version": __version__,
        "code": code_digest(),
        "machine": machine(),
        "limit": limit,
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "n_features": split.X_train.shape[1],
        **chosen,
        **measured,
    }
