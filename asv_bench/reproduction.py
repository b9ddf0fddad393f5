"""Records of the paper's experiments, and the parts of the page that follow from them.

    python asv_bench/reproduction.py FOLDER [--commit REV]

adds the runs that ``cwboost reproduce --out FOLDER`` made to results/reproduction.jsonl, one line
per run: method, data set, split, seed, test error per round in percent, and for every tenth round
seconds of processor time, objective, weak learners and non-zero coefficients. `pages.py` writes the
tables, verdicts and the figure of the page from these lines.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
from peers.report import append, read
from run import revision

from cwboost.experiments.methods import METHODS, SOLVERS
from cwboost.experiments.protocols import PROTOCOLS

RESULTS = Path(__file__).resolve().parent / "results" / "reproduction.jsonl"
EVERY = 10
AT_ROUNDS = (25, 500)
PANELS = 4  # most of a row of the figure
RUN = ["set", "method", "run"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="of cwboost reproduce")
    parser.add_argument("--commit", type=revision, default="HEAD", help="of the runs")
    options = parser.parse_args()
    known = {tuple(record[name] for name in RUN) for record in read(RESULTS)}
    for path in sorted((options.folder / "results").glob("*.json")):
        record = condensed(json.loads(path.read_text(encoding="utf-8")), options.commit[:8])
        if tuple(record[name] for name in RUN) not in known:
            append(RESULTS, record)


def condensed(full, commit):
    """Return the line of a run, from its record in the folder of ``cwboost reproduce``."""
    key, n = full["key"], full["rounds"]
    tenth = [*range(EVERY - 1, n - 1, EVERY), n - 1]
    solver = np.array(full["solver_seconds"], dtype=float)
    wall = np.maximum(np.diff(full["seconds"], prepend=0.0), 1e-12)
    in_solver = np.cumsum(np.diff(full["cpu_seconds"], prepend=0.0) * solver / wall)
    return {
        "set": key["protocol"],
        "method": key["method"],
        "run": key["run"],
        "split": str(PROTOCOLS[key["protocol"]].split),
        "seed": key["seed"],
        "weak_learner": key["weak_learner"],
        "C": full["settings"].get("C"),
        "rounds": key["rounds"],
        "stop_reason": full["stop_reason"],
        "stopped": full["stopped"],
        "errors": [round(100 * error, 2) for error in full["test_error"]],
        "every": EVERY,
        "seconds": _at(full["cpu_seconds"], tenth),
        "solver_seconds": _at(in_solver, tenth),
        "objective": _at(full["objective"], tenth),
        "learners": [full["n_learners"][r] for r in tenth],
        "nonzero": [full["n_nonzero"][r] for r in tenth],
        "commit": commit,
        "code": full["code"],
        "machine": f"{full['machine']['processor']}, {full['machine']['cores']} cores",
    }


def _at(values, rounds):
    return [float(f"{values[r]:.5g}") for r in rounds]


class Runs:
    """Numbers of some records by data set, method and run, a column per round."""

    def __init__(self, records, methods):
        self.records = [record for record in records if record["method"] in methods]
        self.errors = self._table("errors", 1)

    def _table(self, name, every):
        rows = {tuple(r[key] for key in RUN): r for r in self.records}
        last = max((r["rounds"] for r in self.records), default=0)
        table = np.full((len(rows), last), np.nan)
        for row, record in zip(table, rows.values()):
            values = record[name]
            # A training that ended since no learner was left keeps its last number; so does one
            # of which every tenth round is known, until the next of these.
            places = np.minimum(np.arange(last) // every, len(values) - 1)
            row[:] = np.array(values)[places]
            if record["stopped"]:  # by its time limit
                row[len(record["errors"]) :] = np.nan
        index = pd.MultiIndex.from_tuples(rows, names=RUN) if rows else []
        return pd.DataFrame(table, index, range(1, last + 1)).sort_index()

    def mean(self, name):
        """Return the means over the runs: a row per data set and method, a column per round."""
        return self._table(name, EVERY).groupby(level=RUN[:2]).mean()

    def mean_errors(self):
        return self.errors.groupby(level=RUN[:2]).mean()

    def sets_with(self, *methods):
        """Return the data sets on which all of these methods ran."""
        ran = {(record["set"], record["method"]) for record in self.records}
        sets = dict.fromkeys(record["set"] for record in self.records)
        return [name for name in sets if all((name, method) in ran for method in methods)]

    def less(self, name, method, other, n_rounds):
        """Return whether one method's error is below another's on the same runs, and by how much.

        It is below if the mean difference exceeds two standard errors.
        """
        both = (self.errors[n_rounds].loc[(name, m)] for m in (method, other))
        difference = pd.concat(both, axis=1).dropna().diff(axis=1).iloc[:, 1].mul(-1)
        mean, error = difference.mean(), difference.std() / math.sqrt(len(difference))
        text = f"{mean:+.1f}" + ("" if math.isnan(error) else f" ± {error:.1f}")
        return mean < -2 * error, text

    def reached(self, name, method, target):
        """Return the first round at which the mean error is at most a target, None if never."""
        curve = self.mean_errors().loc[(name, method)]
        return next((n for n, error in curve.items() if error <= target + 1e-9), None)

    @property
    def last(self):
        return self.errors.columns[-1]


def settings(records):
    """Return what was run, a line per data set."""
    lines = ["| data set | split | runs | rounds | commit |", "|---|---|---|---|---|"]
    for name in dict.fromkeys(record["set"] for record in records):
        own = [record for record in records if record["set"] == name]
        counts = {m: sum(r["method"] == m for r in own) for m in METHODS}
        of_solvers = max(sum(r["method"] == m for r in own) for m in SOLVERS)
        runs = "; ".join(
            f"{n} of {', '.join(m for m in counts if counts[m] == n)}"
            for n in sorted({*counts.values()} - {0}, reverse=True)
        )
        if of_solvers:
            runs += f"; up to {of_solvers} of each solver"
        rounds, commits = (
            ", ".join(map(str, sorted({r[key] for r in own}))) for key in ("rounds", "commit")
        )
        lines.append(f"| {name} | `{own[0]['split']}` | {runs} | {rounds} | {commits} |")
    learners, machines = (
        "; ".join(sorted({record[key] for record in records}))
        for key in ("weak_learner", "machine")
    )
    return "\n".join([*lines, "", f"Weak learner: {learners}. Machine: {machines}."])


def errors(records):
    """Return the table of test errors, means and deviations over the runs, a column per method."""
    runs = Runs(records, METHODS)
    groups = runs.errors[list(AT_ROUNDS)].groupby(level=RUN[:2])
    mean, spread = groups.mean(), groups.std()
    methods = [name for name in METHODS if name in mean.index.get_level_values("method")]
    head = ["data set, rounds", *methods]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name in mean.index.get_level_values("set").unique():
        for n in AT_ROUNDS:
            cells = [_error(mean, spread, (name, method), n) for method in methods]
            lines.append("| " + " | ".join([f"{name}, {n}", *cells]) + " |")
    return "\n".join(lines)


def _error(mean, spread, run, n):
    """Return an error and its deviation, if there are several runs; a dash for none."""
    if run not in mean.index:
        return "–"
    deviation = spread.loc[run, n]
    return f"{mean.loc[run, n]:.1f}" + ("" if np.isnan(deviation) else f" ± {deviation:.1f}")


def claims(records):
    """Return the claims of the paper with the verdict of the records."""
    runs, solvers = Runs(records, METHODS), Runs(records, SOLVERS)
    rows = [
        ("class-wise learners need fewer rounds than shared ones", *fewer_rounds(runs)),
        ("the model is more compact: weak learners to MultiBoost's last error", *compact(runs)),
        ("training takes less time than MultiBoost, to its last error", *time_to_error(runs)),
        ("best test error in most cases", *lowest(runs)),
        ("total correction beats stage-wise training (CW, CW-1)", *total_over_stagewise(runs)),
        ("AdaBoost.MO converges as fast", *rounds_of_mo(runs)),
        ("FCD is faster than L-BFGS-B, to its objective within 0.1%", *over_lbfgsb(solvers)),
        ("two working sets suffice: objective over that of twenty", *two_passes(solvers)),
    ]
    lines = ["| claim of the paper | verdict | measured |", "|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def verdict(holds):
    """Return in how many of some cases a claim holds."""
    if not holds:
        return "not recorded"
    where = f"{sum(holds)} of {len(holds)} sets"
    return f"holds on {where}" if any(holds) else f"does not hold, on {where}"


def fewer_rounds(runs):
    found = {s: runs.less(s, "CW", "MultiBoost", 25) for s in runs.sets_with("CW", "MultiBoost")}
    text = "; ".join(f"{s} {value}" for s, (_, value) in found.items())
    measured = f"error of CW less that of MultiBoost, at 25 rounds: {text}"
    return verdict([below for below, _ in found.values()]), measured


def _to_last_error(runs, name):
    """Return a number at the round at which CW and MultiBoost reach MultiBoost's last error."""
    for data in runs.sets_with("CW", "MultiBoost"):
        target = runs.mean_errors().loc[(data, "MultiBoost"), runs.last]
        first = [runs.reached(data, method, target) for method in ("CW", "MultiBoost")]
        if first[0] is not None:
            table = runs.mean(name)
            yield data, *(table.loc[(data, m), n] for m, n in zip(("CW", "MultiBoost"), first))
        else:
            yield data, math.inf, math.nan


def compact(runs):
    found = list(_to_last_error(runs, "learners"))
    text = "; ".join(f"{s} {own:.0f} for {other:.0f}" for s, own, other in found)
    return verdict([own < other for _, own, other in found]), text


def time_to_error(runs):
    found = list(_to_last_error(runs, "seconds"))
    text = "; ".join(f"{s} {own / other:.2f} of its time" for s, own, other in found)
    return verdict([own < other for _, own, other in found]), text


def lowest(runs):
    holds, text = [], []
    for data in runs.sets_with("CW", "CW-1", "MultiBoost", "Ada.ECC", "Ada.MH-real"):
        last = runs.mean_errors().loc[data, runs.last].sort_values(kind="stable")
        holds.append(last.index[0] in ("CW", "CW-1"))
        text.append(f"{data} {last.index[0]}")
    return verdict(holds), f"lowest after {runs.last} rounds: " + "; ".join(text)


def total_over_stagewise(runs):
    sets = runs.sets_with("CW", "CW-1")
    found = {s: runs.less(s, "CW", "CW-1", runs.last) for s in sets}
    text = "; ".join(f"{s} {value}" for s, (_, value) in found.items())
    measured = f"error of CW less that of CW-1, after {runs.last} rounds: {text}"
    return verdict([below for below, _ in found.values()]), measured


def rounds_of_mo(runs):
    found = {s: runs.less(s, "CW", "Ada.MO", 25) for s in runs.sets_with("CW", "Ada.MO")}
    text = "; ".join(f"{s} {value}" for s, (_, value) in found.items())
    measured = f"error of CW less that of AdaBoost.MO, at 25 rounds: {text}"
    return verdict([not below for below, _ in found.values()]), measured


def over_lbfgsb(solvers):
    holds, text = [], []
    for data in solvers.sets_with("FCD-2", "L-BFGS-B"):
        objective, seconds = (solvers.mean(n).loc[data] for n in ("objective", "solver_seconds"))
        target = 1.001 * objective.loc["L-BFGS-B"].iloc[-1]
        first = next((n for n, v in objective.loc["FCD-2"].items() if v <= target), None)
        own = math.inf if first is None else seconds.loc["FCD-2", first]
        ratio = seconds.loc["L-BFGS-B"].iloc[-1] / own
        holds.append(ratio > 1)
        text.append(f"{data} {ratio:.0f} times as fast" if ratio else f"{data} not reached")
    return verdict(holds), "; ".join(text)


def two_passes(solvers):
    holds, text = [], []
    for data in solvers.sets_with("FCD-2", "FCD-20"):
        objective = solvers.mean("objective").loc[data]
        excess = 100 * (objective.loc["FCD-2"] / objective.loc["FCD-20"] - 1)
        holds.append(excess.iloc[-1] < 1)
        text.append(
            f"{data} {excess[20]:+.1f}% after 20 rounds, {excess.iloc[-1]:+.1f}% at the end"
        )
    return verdict(holds), "; ".join(text)


def curves(records):
    """Return what the figure shows: mean errors of some rounds by data set and method."""
    table = Runs(records, METHODS).mean_errors()
    shown = [n for n in table.columns if n <= 20 or n % 20 == 0]
    return {
        data: {
            method: [[n, round(row[n], 2)] for n in shown] for (_, method), row in own.iterrows()
        }
        for data, own in table.groupby(level="set")
    }


def draw(numbers, path):
    """Draw the curves as an SVG, which holds them as its description."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "runs", "font.size": 10})
    from matplotlib import pyplot as plt

    from cwboost.experiments.reporting.figures import STYLES

    rows = -(-len(numbers) // PANELS)
    columns = -(-len(numbers) // rows)
    size = (3.0 * columns, 2.6 * rows + 0.6)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    for ax, (data, methods) in zip(axes.flat, numbers.items()):
        for method, points in methods.items():
            colour, line = STYLES[method]
            ax.plot(*zip(*points), color=colour, linestyle=line, label=method)
        ax.set(title=data, xscale="log", xlabel="rounds", ylabel="test error, %")
        ax.set_ylim(0, 60)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes.flat[len(numbers) :]:
        ax.set_axis_off()
    lines = {line.get_label(): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=4)
    figure.savefig(path, metadata={"Description": json.dumps(numbers), "Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
