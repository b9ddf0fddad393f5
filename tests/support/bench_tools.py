"""The programs beside the benchmarks, as modules."""

import sys
from importlib import import_module

from import_graph import ROOT

BENCH = ROOT / "asv_bench"


def bench_tool(name):
    """Return a module of the folder of benchmarks."""
    sys.path.insert(0, str(BENCH))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(BENCH))
