"""Compiled kernels (private: families use cwboost.kernels)."""

import os

SPINS = "1000"
"""Turns of a waiting thread before it sleeps: a few hundredths of a millisecond, the usual
gap between kernels. GCC's OpenMP makes 300,000: on a busy host, ten times the work of a fit."""

if not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys():
    # The runtime reads it once, as the first kernel loads it. No other library sees it.
    os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        import cwboost._kernels.common.cpu  # noqa: F401
    finally:
        del os.environ["GOMP_SPINCOUNT"]
