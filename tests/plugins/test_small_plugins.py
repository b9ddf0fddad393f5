"""The worked examples keep their contracts."""

from small_plugins import Differences, Neighbours

from cwboost.testing import parametrize_with_plugin_checks


@parametrize_with_plugin_checks([Differences(), Neighbours()])
def test_they_keep_the_contract(plugin, check):
    check(plugin)
