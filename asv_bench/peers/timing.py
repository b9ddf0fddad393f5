"""Timing on a shared machine: alternating runs, processor time, medians, memory of a child."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np


def spent(function, clock=process_time, n_bytes=0):
    """Return the time of a call.

    As much memory as `n_bytes` is written to before: the host of a virtual machine may take 2 s to
    provide a gigabyte, and takes back what is free for some seconds.
    """
    np.ones(n_bytes // 8)
    start = clock()
    function()
    return clock() - start


def alternate(functions, repeats, budget=600.0, clock=process_time):
    """Return the median time of each function; the functions run alternately.

    Parameters
    ----------
    functions : dict of str to callable
    repeats : int
        Number of turns. No turn after the first starts once `budget` seconds have passed.
    budget : float, default=600.0
    clock : callable, default=process_time
        The wall's, to compare numbers of threads.

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
            times[name].append(spent(function, clock))
    return {name: median(values) for name, values in times.items()}


def numpy_pass(n_values, calls=2_000):
    """Return the seconds of ``a *= s`` over `n_values` doubles, the least of five means."""
    a = np.ones(n_values)
    scale = 1.0000001

    def passes():
        for _ in range(calls):
            np.multiply(a, scale, out=a)

    return min(spent(passes) for _ in range(5)) / calls


def peak_memory(package, data, options):
    """Return the peak resident memory, in MB, of a new process that loads a data set and fits.

    Parameters
    ----------
    package : str
        Name in `models.MAKERS`.
    data : path of an .npz file
    options : dict
        ``n_rows`` of the data, and arguments of the maker.

    Returns
    -------
    tuple of two floats
        Peak of the process with the fit, and its peak before the fit.
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
