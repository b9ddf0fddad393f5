"""The Markdown tables of the experiments."""

from __future__ import annotations

from collections import Counter

from cwboost.experiments.reporting.summary import Results
from cwboost.experiments.reporting.tables import method_tables, solver_tables

__all__ = ["page_parts", "suffix_of", "write_page", "write_report"]

HEADINGS = {
    "methods": "Methods",
    "rounds": "Test error in percent by rounds",
    "paired": "Test error of CW less that of others on the same splits, in percent",
    "compact": "To MultiBoost's last error",
    "sparse": "Classes per weak learner of MultiBoost",
    "solvers": "Solvers",
    "passes": "Excess of the objective over that of FCD-20 after the same round, in percent",
}


def suffix_of(plan) -> str:
    """Return what the names of a plan's files end with: nothing for stumps."""
    if plan.weak_learner == "stump":
        return ""
    return "-" + "".join(c if c.isalnum() else "-" for c in plan.weak_learner)


def page_parts(plan, absent: dict[str, str]) -> dict[str, str]:
    """Return the tables of the results of the plan's settings, and of absent data, by name."""
    methods, solvers = Results(plan), Results(plan, "solver")
    records = [record for one in (methods, solvers) for record in one.runs.to_dict("records")]
    parts = {"settings": _settings(plan, records)}
    parts |= method_tables(methods, absent)
    if "solver" in plan.figures:
        parts |= solver_tables(solvers, absent)
    return parts


def write_report(plan, absent: dict[str, str]) -> str:
    """Write the tables in the plan's folder, ``table.md`` for stumps; return the text."""
    parts = page_parts(plan, absent)
    text = "# Reproduction\n\n" + "\n\n".join(
        f"## {HEADINGS[name]}\n\n{part}" if name in HEADINGS else part
        for name, part in parts.items()
    )
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / f"table{suffix_of(plan)}.md").write_text(text + "\n", encoding="utf-8")
    return text + "\n"


def write_page(plan, absent: dict[str, str], page) -> None:
    """Put the tables into a Markdown page, each between the two comments that name it, if any."""
    text = before = page.read_text(encoding="utf-8")
    n_found = 0
    for name, part in page_parts(plan, absent).items():
        begin, end = (f"<!-- {name}{suffix_of(plan)}: {side} -->" for side in ("begin", "end"))
        if begin in text and end in text:
            head, tail = text[: text.index(begin) + len(begin)], text[text.index(end) :]
            text = f"{head}\n\n{part}\n\n{tail}"
            n_found += 1
    if not n_found:
        raise ValueError(f"{page} has no comments such as <!-- methods: begin --> for the tables")
    if text != before:
        page.write_text(text, encoding="utf-8")


def _settings(plan, records: list[dict]) -> str:
    lines = [
        f"{plan.rounds} rounds at most, weak learner `{plan.weak_learner}`, {plan.n_jobs} "
        f"thread(s), seed {plan.seed}. Mean ± standard deviation over the runs. Times are seconds "
        "of processor time; the solver's is its fraction of each round. C is chosen after "
        f"{min(plan.selection_rounds, plan.rounds)} rounds by the error on a quarter of the "
        f"training part. Only AdaBoost.MO has a time limit, {plan.seconds:g} s (cut runs: *)."
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
