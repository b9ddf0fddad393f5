"""``make compare``: what counts as slower, and the processes that do the work."""

import numpy as np
import pytest
from bench_tools import bench_tool


@pytest.fixture(scope="module")
def compare():
    return bench_tool("compare")


def test_a_count_that_grew_is_flagged(compare):
    counts = {"updates": (1000, 1021), "nodes": (1000, 1020), "bytes": (1000, 900)}
    assert compare.slower(counts, {}) == ["updates"]
    assert compare.report(counts, {}).count("!") == 1


def test_a_slowdown_of_a_tenth_is_flagged_and_noise_is_not(compare):
    rng = np.random.default_rng(0)
    noise = np.exp(0.02 * rng.standard_normal((1000, compare.N_PAIRS)))
    noise[:, 0] *= rng.choice([0.7, 1, 1.5], size=1000)  # one pair may be disturbed at will
    found = [compare.slower({}, {"fit": list(1.1 * row)}) for row in noise]
    assert np.mean([bool(names) for names in found]) > 0.95
    found = [compare.slower({}, {"fit": list(row)}) for row in noise]
    assert np.mean([bool(names) for names in found]) < 0.01


@pytest.mark.slow
def test_two_processes_of_one_package_have_the_same_counts(compare):
    counts, ratios = compare.compare(None, None, ("coordinate descent", "nothing"), 1, 1)
    assert len(counts) > 5 and all(old == new for old, new in counts.values())
    assert counts["updates to 1e-06"] > counts["updates to 0.1"]
    assert list(ratios) == ["coordinate descent"] and ratios["coordinate descent"][0] > 0
