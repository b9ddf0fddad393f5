"""Timing on a machine that is shared: alternate runs, medians, a yardstick, memory of a child."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np


def seconds(function):
    start = perf_counter()
    function()
    return perf_counter() - start


def alternate(functions, repeats, budget=600.0):
    """Median seconds of each function, the functions taking turns.

    Parameters
    ----------
    functions : dict of str to callable
    repeats : int
        Turns. Fewer are taken, but at least one, once `budget` seconds are spent.
    budget : float, default=600.0

    Returns
    -------
    dict of str to float
    """
    times = {name: [] for name in functions}
    end = perf_counter() + budget
    for turn in range(repeats):
        if turn and perf_counter() > end:
            break
        for name, function in functions.items():
            times[name].append(seconds(function))
    return {name: median(values) for name, values in times.items()}


def numpy_pass(n_values, calls=2_000):
    """Median seconds of ``a *= s`` over `n_values` doubles: in cache up to about 100,000."""
    a = np.ones(n_values)
    scale = 1.0000001
    times = []
    for _ in range(calls):
        start = perf_counter()
        np.multiply(a, scale, out=a)
        times.append(perf_counter() - start)
    return median(times)


def peak_memory(package, data, options):
    """Peak resident memory, in MB, of a fresh process that loads a data set and fits.

    Parameters
    ----------
    package : str
        Name in `models.MAKERS`.
    data : path of an .npz file
    options : dict
        ``n_rows`` of the data, and what the maker takes.

    Returns
    -------
    tuple of two floats
        Peak with the fit, and peak of the same process before it.
    """
    command = [sys.executable, str(Path(__file__).with_name("fit_once.py"))]
    done = subprocess.run(
        [*command, package, str(data), json.dumps(options)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return found["after"], found["before"]
