"""Rows of the table of goals, and the page that shows them."""

import datetime
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from cwboost import show_config

PACKAGES = ["cwboost", "lightgbm", "xgboost", "catboost", "numpy", "scipy", "scikit-learn"]


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
        The medians behind the ratio.
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
        bound = "at most" if self.at_most else "at least"
        return [
            self.measure,
            f"{bound} {number(self.goal)} {self.unit}",
            f"{number(self.value)} {self.unit}",
            "met" if self.met else "**missed**",
            self.detail,
        ]


def number(value):
    """Format a number with three digits, without an exponent in the usual range."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def replace_part(page, text, begin, end):
    """Put a text, which has its markers, in place of the part of a page between them."""
    before, rest = page.read_text().split(begin)
    page.write_text(before + text + rest.split(end)[1])


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


def place():
    """Return title and markers of the table: one place for the widest set, one for each other."""
    config = show_config()
    chosen = config["instruction_set"]
    if chosen == config["instruction_sets_available"][0]:
        name, title = "speed", "## Training time and memory, goal by goal"
    else:
        name, title = f"speed, {chosen}", f"### Training time, goal by goal, with {chosen}"
    return title, f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def page(rows, notes, threads):
    """Return the measured part of docs/benchmarks.md for the instruction set in use."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    met = sum(row.met for row in rows)
    head = ["measure", "goal", "measured", "", "medians"]
    parts = [
        place()[0],
        f"Measured on {datetime.date.today().isoformat()}, {machine()}, instruction set "
        f"{show_config()['instruction_set']}; {versions}; "
        f"{threads} thread{'s' if threads > 1 else ''} unless the row says otherwise. "
        f"{met} of {len(rows)} rows met.",
        table(head, [row.cells() for row in rows]),
    ]
    parts += [f"### {title}\n\n{text}" for title, text in notes]
    return "\n\n".join(parts)


def write(path, text):
    """Replace the text between the two markers of this instruction set by `text`."""
    path = Path(path)
    _, begin, end = place()
    page = path.read_text(encoding="utf-8")
    if begin not in page or end not in page:
        raise ValueError(f"{path} lacks the markers {begin} and {end}")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")
