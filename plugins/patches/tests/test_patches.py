import numpy as np
import pytest
from cwboost_patches import PatchFamily

import cwboost
from cwboost.testing import parametrize_with_plugin_checks


def images(family, n_samples, rng):
    return rng.integers(0, 17, size=(n_samples, np.prod(family.image_shape)))


@parametrize_with_plugin_checks(
    [PatchFamily(n_filters=8), PatchFamily((4, 6), size=2, pool=1, n_filters=5)], make_X=images
)
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_cwboost_finds_the_family():
    assert cwboost.get_family("patches") is PatchFamily


@pytest.mark.parametrize(
    "params, message",
    [
        ({"image_shape": (3, 5)}, "must be the rows and columns of 64 features"),
        ({"size": 0}, "size must be at least 1"),
        ({"size": 5, "pool": 5}, "must not exceed the sides"),
    ],
)
def test_hyper_parameters_are_checked(params, message):
    context = cwboost.BindContext(n_targets=1, random_state=np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        PatchFamily(**params).bind(np.ones((5, 64)), context)
