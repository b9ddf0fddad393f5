"""Records of measurements, rows of the table of goals, and the text that shows them."""

import json
import platform
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

PACKAGES = ["cwboost", "lightgbm", "xgboost", "numpy", "scipy", "scikit-learn"]
HEAD = ["measure", "measured"]


@dataclass
class Row:
    """One row: the measure, its goal and the result.

    Parameters
    ----------
    measure : str
    goal : float
        Minimum of the value, or its maximum if `at_most`.
    value : float
    unit : str
        Printed after goal and value: "x", "us".
    detail : str
        The medians behind the ratio, which no page shows.
    at_most : bool, default=False
    also : bool, default=True
        An additional condition, such as an error that must not be higher; `detail` states it.
    """

    measure: str
    goal: float
    value: float
    unit: str
    detail: str
    at_most: bool = False
    also: bool = True

    @property
    def met(self):
        good = self.value <= self.goal if self.at_most else self.value >= self.goal
        return bool(good and self.also)

    def cells(self):
        return [self.measure, f"{number(self.value)} {self.unit}"]

    def beside_goal(self):
        """Return the measure beside its goal, for those who develop."""
        bound = "at most" if self.at_most else "at least"
        state = "met" if self.met else "missed"
        return f"{state}: {self.measure}: {number(self.value)}, {bound} {number(self.goal)}"


def number(value):
    """Format a number with three digits, without an exponent in the usual range."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def read(path):
    """Return the records of a file of results, one per line; none without the file."""
    path = Path(path)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path, record, *packages):
    """Append a record to a file of results, with versions, machine and date; return it."""
    known = {name: version(name) for name in packages}
    stamped = {**record, "versions": known, "machine": machine(), "date": str(date.today())}
    path = Path(path)
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        print(json.dumps(stamped), file=file)
    return stamped


def conditions(records):
    """Return machine, dates and versions of records, which must be of one machine.

    A date that is not recorded is None, and the text states it.
    """
    machines = {r["machine"] for r in records}
    if len(machines) != 1:
        raise ValueError(f"a table shows one machine, got records of {sorted(machines)}")
    known = {f"{name} {v}" for r in records for name, v in r["versions"].items()}
    dates = sorted({r["date"] or "date not recorded" for r in records})
    spans = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    sources = dict.fromkeys(r["source"] for r in records if "source" in r)
    return "; ".join([", ".join([*machines, spans]), ", ".join(sorted(known)), *sources])


def machine():
    """Describe the class of the machine without identifying it."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = f"{len(names)} x {names[0]}" if names else model
    except OSError:
        pass
    return f"{model}, {platform.system()}, Python {platform.python_version()}"


def measured(records):
    """Return the tables of what was measured, one per machine and instruction set."""
    parts, tables = [], {}
    for record in records:
        tables.setdefault((record["machine"], record["instruction_set"]), []).append(record)
    for (_, chosen), own in tables.items():
        rows = [Row(**r["row"]) for r in own]
        threads = "/".join(str(n) for n in dict.fromkeys(r["threads"] for r in own))
        parts.append(
            f"{conditions(own)}; instruction set {chosen or 'not recorded'}; threads: {threads} "
            "unless a row names another number.\n\n" + table(HEAD, [row.cells() for row in rows])
        )
    return "\n\n".join(parts)


def goals(records):
    """Return a line per row, beside its goal."""
    return "\n".join(Row(**record["row"]).beside_goal() for record in records)
