"""Fit once and print the peak memory of this process: fit_once.py PACKAGE FILE OPTIONS."""

import json
import resource
import sys

from data import training_rows
from models import MAKERS, fit


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(package, path, options):
    options = json.loads(options)
    X, y = training_rows(path, options.pop("n_rows", None))
    model = MAKERS[package](**options)
    before = peak_mb()
    fit(model, X, y)
    print(json.dumps({"before": before, "after": peak_mb()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
