"""Fit once and print the peak memory of this process: fit_once.py PACKAGE FILE OPTIONS."""

import json
import sys
from pathlib import Path

from data import training_rows
from models import MAKERS, fit


def peak_mb():
    """Of this program alone: what getrusage reports begins with the peak of the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
    return int(kilobytes) / 1024


def main(package, path, options):
    options = json.loads(options)
    X, y = training_rows(path, options.pop("n_rows", None))
    model = MAKERS[package](**options)
    before = peak_mb()
    fit(model, X, y)
    print(json.dumps({"before": before, "after": peak_mb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
