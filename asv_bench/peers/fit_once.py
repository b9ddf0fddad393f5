"""Fit once and print the peak memory of this process: fit_once.py PACKAGE FILE OPTIONS."""

import json
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

OPTIONAL = ("pandas", "polars", "pyarrow")
"""Installed packages that none of these fits needs but that other packages import if present: 60
MB per process."""


class Absent(MetaPathFinder):
    """Import hook that makes imports of `OPTIONAL` fail, as if these were not installed."""

    def find_spec(self, name, path, target=None):
        if name in OPTIONAL:
            raise ModuleNotFoundError(f"{name} is excluded from this measurement", name=name)


def peak_mb():
    """Return the peak memory of this program alone; getrusage includes the parent's peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(kilobytes) / 1024


def main(package, path, options):
    # Import here, since these modules import scikit-learn.
    from data import training_rows
    from models import MAKERS, fit

    options = json.loads(options)
    X, y = training_rows(path, options.pop("n_rows", None))
    model = MAKERS[package](**options)
    before = peak_mb()
    fit(model, X, y)
    print(json.dumps({"before": before, "after": peak_mb()}))


if __name__ == "__main__":
    sys.meta_path.insert(0, Absent())
    main(*sys.argv[1:])
