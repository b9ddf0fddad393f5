from cwboost_acme import Acme

import cwboost
from cwboost.testing import parametrize_with_family_checks


@parametrize_with_family_checks([Acme(), Acme(fraction=1.0)])
def test_family_keeps_the_contract(family, check):
    check(family)


def test_cwboost_finds_the_family():
    assert cwboost.get_family("acme") is Acme
