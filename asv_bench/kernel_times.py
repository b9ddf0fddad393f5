"""Measure the FCD kernels with each instruction set, and relative to a NumPy pass ``a *= s``.

python asv_bench/kernel_times.py [--instruction-set NAME ...] [--size N_SAMPLESxN_CLASSES ...]

Compiles kernel_times.c with the C compiler of $CC and runs it in alternating repeats, so that a
change of the processor's speed affects all sets. A table entry is the fastest call, in
microseconds; the last two columns are that time over the time of AVX-512 (if it runs) and over
NumPy.
"""

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from timeit import repeat

import numpy as np

import cwboost
from cwboost._kernels.common import cpu

SOURCE = Path(__file__).with_name("kernel_times.c")
HEADERS = Path(cwboost.__file__).parent / "_kernels"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-Wno-psabi"]
RUNS = 5


def main():
    names = cpu.available()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--instruction-set", nargs="+", choices=names, default=names)
    parser.add_argument("--size", nargs="+", default=["7494x10", "16000x26"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "kernel_times")
        compiler = os.environ.get("CC", "cc").split()
        command = [*compiler, *FLAGS, f"-I{HEADERS}", str(SOURCE), "-o", str(program), "-lm"]
        subprocess.run(command, check=True)
        for size in options.size:
            n_samples, n_classes = map(int, size.split("x"))
            show(size, measure(program, options.instruction_set, n_samples, n_classes))


def measure(program, names, n_samples, n_classes):
    """Least times in microseconds: {set: {kernel: time}}, and of NumPy under ``None``."""
    numbers = {name: k for k, name in enumerate(reversed(cpu.available()))}
    runs = {name: [] for name in names}
    passes = []
    doubles = np.ones(n_samples * n_classes)
    for _ in range(RUNS):
        for name in names:
            command = [str(program), str(numbers[name]), str(n_samples), str(n_classes)]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            runs[name].append({k: float(v) for k, v in map(str.split, lines.splitlines())})
        found = repeat(lambda: np.multiply(doubles, 1.0, doubles), number=10, repeat=40)
        passes.append(1e5 * min(found))
    times = {k: {n: min(r[n] for r in found) for n in found[0]} for k, found in runs.items()}
    return {**times, None: min(passes)}


def show(size, times):
    one_pass = times.pop(None)
    print(f"{size}: NumPy pass {one_pass:.1f} us")
    print(f"{'kernel':24}{'set':8}{'us':>10}{'/avx512':>10}{'/numpy':>10}")
    for kernel in next(iter(times.values())):
        for name, of_kernel in times.items():
            base = times.get("avx512", {}).get(kernel, float("nan"))
            ratios = f"{of_kernel[kernel] / base:10.2f}{of_kernel[kernel] / one_pass:10.2f}"
            print(f"{kernel:24}{name:8}{of_kernel[kernel]:10.2f}{ratios}")


if __name__ == "__main__":
    main()
