import numpy as np
from cwboost_acme import Acme

import cwboost
from cwboost.testing import parametrize_with_plugin_checks


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


@parametrize_with_plugin_checks([Acme()], brute_force=all_intervals)
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_cwboost_finds_the_family():
    assert cwboost.get_family("acme") is Acme
