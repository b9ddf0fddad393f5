from cwboost_acme import Acme

import cwboost
from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([Acme(), Acme(fraction=1.0)])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_cwboost_finds_the_family():
    assert cwboost.get_family("acme") is Acme
