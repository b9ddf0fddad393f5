from cwboost_acme import Acme

import cwboost
from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([Acme()])
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_cwboost_finds_the_init_model():
    assert cwboost.get_init("acme") is Acme
