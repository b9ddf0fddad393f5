"""The Markdown tables of the experiments."""

from collections import Counter

from cwboost.experiments.reporting.summary import Results
from cwboost.experiments.reporting.tables import method_tables, solver_tables
from cwboost.support.files import replacing

HEADINGS = {
    "methods": "Methods",
    "rounds": "Test error in percent by rounds",
    "paired": "Test error of CW less that of others on the same splits, in percent",
    "compact": "To MultiBoost's last error",
    "sparse": "Classes per weak learner of MultiBoost",
    "solvers": "Solvers",
    "passes": "Excess of the objective over that of FCD-20 after the same round, in percent",
}


def write_report(study, absent: dict[str, str]) -> str:
    """Write the tables to ``table.md`` in the study's folder; return the text."""
    methods, solvers = Results(study), Results(study, "solver")
    missing, missing_solvers = (
        [protocol.name for protocol in study.protocols(kind) if protocol.name in absent]
        for kind in ("run", "solver")
    )
    parts = method_tables(methods, missing)
    if "solver" in study.figures:
        parts |= solver_tables(solvers, missing_solvers)
    records = [record for table in (methods, solvers) for record in table.runs.to_dict("records")]
    tables = [f"## {HEADINGS[name]}\n\n{part}" for name, part in parts.items()]
    text = "\n\n".join(["# Reproduction", _settings(study, records), *tables]) + "\n"
    study.out.mkdir(parents=True, exist_ok=True)
    with replacing(study.out / "table.md", "w", encoding="utf-8") as file:
        file.write(text)
    return text


def _settings(study, records: list[dict]) -> str:
    lines = [
        f"{study.rounds} rounds at most, weak learner `{study.weak_learner}`, {study.n_jobs} "
        f"thread(s), seed {study.seed}. Mean ± standard deviation over the runs. Times are seconds "
        "of processor time; the solver's is its fraction of each round. C is chosen after "
        f"{min(study.selection_rounds, study.rounds)} rounds by the error on a quarter of the "
        f"training part. Only AdaBoost.MO has a time limit, {study.seconds:g} s (cut runs: *)."
    ]
    states = Counter(f"{record['version']} ({record['code']})" for record in records)
    if len(states) > 1:
        mixed = ", ".join(f"{state}: {n} runs" for state, n in sorted(states.items()))
        lines.append(
            f"**Warning: results of {len(states)} states of the code are mixed.** {mixed}."
        )
    elif states:
        lines.append(f"Code: version {next(iter(states))}.")
    lines += [f"Machine: {text}." for text in sorted({_machine(r) for r in records})]
    return "\n\n".join(lines)


def _machine(record) -> str:
    machine = record["machine"]
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, instruction set "
        f"{machine['instruction_set']}, Python {machine['python']}, NumPy {machine['numpy']}"
    )
