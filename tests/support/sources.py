"""Where the sources are; the programs beside the benchmarks."""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "cwboost"
BENCH = ROOT / "asv_bench"


def bench_tool(name):
    """Return a module of the folder of benchmarks."""
    sys.path.insert(0, str(BENCH))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCH))
