"""Summarise the studies as TabArena does: Elo with intervals, mean rank, improvability.

    python asv_bench/leaderboard.py [--results FILE]

Needs `pip install bencheval`, the engine of TabArena's tables, and reads asv_bench/results. The
table goes to the results file; pages.py shows it.
"""

import argparse
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from peers import study_report
from peers.paired import Paired
from peers.report import read, table

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "leaderboard.jsonl"
STUDIES = ("several_classes", "two_classes", "large")
"""The studies of the summary: defaults of packages on tables, most of them mixed."""

MEASURES = ("error", "log_loss")
MOST_ABSENT = 0.2
"""Share of the sets that a package may lack; the others' sets are compared without it."""


def compared(records):
    """Return the sets on which nothing was chosen and the packages that ran on nearly all."""
    paired = Paired(records, study_report.ORDER)
    known = study_report.not_chosen_on(paired)

    def has_run(name, model):
        return all(np.isfinite(paired.values(name, model, measure)).all() for measure in MEASURES)

    ran = {model: {name for name in known if has_run(name, model)} for model in paired.models}
    models = [model for model in ran if len(ran[model]) >= (1 - MOST_ABSENT) * len(known)]
    return set.intersection(*(ran[model] for model in models)), models


def rows(records):
    """Yield one record per measure and package: Elo with its interval, rank, improvability."""
    import pandas as pd
    from bencheval.evaluator import BenchmarkEvaluator

    sets, models = compared(records)
    frame = pd.DataFrame(r for r in records if r["set"] in sets and r["model"] in models)
    for measure in MEASURES:
        evaluator = BenchmarkEvaluator("model", "set", measure, [], seed_column="seed")
        data = frame[["model", "set", "seed", measure]]
        board = evaluator.leaderboard(data, average_seeds=True)
        for model, own in board.iterrows():
            yield {
                "measure": measure,
                "model": model,
                "sets": len(sets),
                "version": version("bencheval"),
                **{name: float(own[name]) for name in ("elo", "elo+", "elo-", "rank")},
                "improvability": float(own["improvability"]),
            }


def report(records):
    """Return the table of the page."""
    lines = []
    for r in records:
        elo = f"{r['elo']:.0f} (+{r['elo+']:.0f}/−{r['elo-']:.0f})"
        measure = r["measure"].replace("_", " ")
        lines.append([measure, r["model"], elo, f"{r['rank']:.2f}", f"{r['improvability']:.1%}"])
    head = table(["measure", "package", "Elo", "mean rank", "improvability"], lines)
    return f"{head}\n\nOn {records[0]['sets']} sets; bencheval {records[0]['version']}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args()
    records = [r for study in STUDIES for r in read(HERE / "results" / f"{study}.jsonl")]
    found = list(rows(records))
    args.results.write_text("".join(json.dumps(r) + "\n" for r in found), encoding="utf-8")
    print(report(found))


if __name__ == "__main__":
    main()
