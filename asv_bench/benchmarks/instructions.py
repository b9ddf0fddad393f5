"""Instructions of the workloads, which a loaded machine counts as well as a quiet one."""

import sys

from .callgrind import NotCounted, instructions
from .workloads import WORKLOADS


class Instructions:
    """NaN (skipped) without Valgrind, which the log then says."""

    timeout = 900
    params = [list(WORKLOADS)]
    param_names = ["work"]

    def setup_cache(self):
        try:
            return instructions()
        except NotCounted as reason:
            print(reason, file=sys.stderr)
            return dict.fromkeys(WORKLOADS, float("nan"))

    def track_instructions(self, counts, work):
        return counts[work]  # a workload that failed has none

    track_instructions.unit = "instructions"
    track_instructions.pretty_name = "instructions of a workload"
