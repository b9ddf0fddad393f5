import cwboost
import numpy as np
import pytest
from cwboost.testing import parametrize_with_family_checks

from cwboost_acme import Ball, Interval


def all_intervals(family, X):
    """Outputs of every interval of every feature, both signs: what exact pricing must beat."""
    outputs = []
    for column in X.T:
        levels = np.unique(column)
        for i, low in enumerate(levels):
            for high in levels[i:]:
                inside = np.where((column >= low) & (column <= high), 1, -1)
                outputs += [inside, -inside]
    return np.array(outputs).T


@parametrize_with_family_checks([Ball(), Ball(n_centres=1), Interval()], brute_force=all_intervals)
def test_family_keeps_the_contract(family, check):
    check(family)


@pytest.mark.parametrize("name", ["acme_ball", "acme_interval"])
def test_cwboost_finds_the_family(name):
    assert cwboost.get_family(name).name == name


def test_hyper_parameters_are_checked():
    with pytest.raises(ValueError, match="n_centres"):
        Ball(n_centres=0).bind(np.ones((3, 1)), cwboost.BindContext(n_targets=1, random_state=None))
