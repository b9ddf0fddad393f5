"""The best cut between bins, compared with all cuts, with ties and missing values."""

import numpy as np
import pytest
from cwboost._kernels.partitions.cuts import best_cuts


def all_cuts(sums, start, width):
    """Yield (edge, bin, output above, sum of missing values) of one feature and target."""
    present, lost = sums[start : start + width].sum(), sums[start + width]
    for b in range(width - 1):
        above = present - 2 * sums[start : start + b + 1].sum()
        yield abs(above) + abs(lost), b, above, lost
    if lost * present < 0:
        yield abs(lost) + abs(present), width, -present, lost


@pytest.mark.parametrize("seed", range(20))
def test_the_best_of_all_cuts(seed):
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(0, 6, 4).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(n_bins + 1)]).astype(np.int64)
    sums = rng.integers(-2, 3, (starts[-1], 5)).astype(float)  # few values: many ties
    if seed % 2:
        sums[starts[1:] - 1] = 0.0
    totals = rng.integers(-4, 5, 5).astype(float)
    features = np.array([0, 2, 3])
    found = best_cuts(sums, starts, n_bins, features, totals)
    for t, total in enumerate(totals):
        wanted = (-1, 0, abs(total), total, total)
        for f in features:
            for edge, *cut in all_cuts(sums[:, t], starts[f], n_bins[f]):
                if edge > wanted[2]:
                    wanted = (f, cut[0], edge, cut[1], cut[2])
        assert tuple(part[t] for part in found) == wanted


def test_no_features_leave_the_constant():
    totals = np.array([3.0, -2.0])
    sums, starts, n_bins = np.zeros((0, 2)), np.zeros(1, np.int64), np.zeros(0, np.int32)
    feature, _, edges, above, _ = best_cuts(sums, starts, n_bins, np.zeros(0, np.int64), totals)
    assert feature.tolist() == [-1, -1]
    assert edges.tolist() == [3.0, 2.0] and above.tolist() == [3.0, -2.0]
