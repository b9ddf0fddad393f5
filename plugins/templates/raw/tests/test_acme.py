import numpy as np
import pytest
from cwboost_acme import Acme

import cwboost
from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([Acme(), Acme(n_centres=1)])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_cwboost_finds_the_family():
    assert cwboost.get_family("acme") is Acme


def test_hyper_parameters_are_checked():
    with pytest.raises(ValueError, match="n_centres"):
        Acme(n_centres=0).bind(np.ones((3, 1)), cwboost.BindContext(n_targets=1, random_state=None))
