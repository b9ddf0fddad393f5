"""Thresholds on derived features: what the base class gives to a family of a few lines."""

import pickle

import numpy as np
import pytest
from models import bind, paper
from reference_family import every_stump
from wave_family import Waves

from cwboost import Capabilities, DerivedFeatureFamily, StumpFamily
from cwboost.testing import parametrize_with_plugin_checks


class OnceWaves(Waves):
    """The same features for all rounds."""

    name = "once_wave"
    redraw = False


class Itself(DerivedFeatureFamily):
    """The features as they are: stumps, by another road."""

    name = "itself"
    api_version = 1
    layout = {"feature": ("int64", ())}  # noqa: RUF012
    redraw = False
    exhaustive = True
    capabilities = Capabilities(missing_values=True)

    def draw(self, context):
        return {"feature": np.arange(context.X.shape[1])}

    @staticmethod
    def transform(X, feature):
        return X[:, feature]

    @classmethod
    def check_stored(cls, n_features, feature):
        if ((feature < 0) | (feature >= n_features)).any():
            raise ValueError(f"array 'feature' must hold indices of {n_features} features")


@pytest.fixture(autouse=True)
def registered(register):
    for family in (Waves, OnceWaves, Itself):
        register(family)


@pytest.mark.slow
@parametrize_with_plugin_checks(
    [Waves(), Waves(n_derived=1), OnceWaves(), Itself()], brute_force=every_stump
)
def test_it_keeps_the_contract(plugin, check):
    check(plugin)


def test_features_as_they_are_give_stumps(vowel):
    X, y = vowel
    models = [paper(family, n_estimators=10).fit(X, y) for family in (Itself(), StumpFamily())]
    one, two = (model.decision_function(X) for model in models)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)  # Sums in another order.
    bounds = [model.history_["dual_bound"] for model in models]
    np.testing.assert_array_equal(*bounds)
    assert np.isfinite(bounds).all()


def test_a_feature_that_several_learners_use_is_computed_once(vowel, monkeypatch):
    X, y = vowel
    model = paper(OnceWaves(), n_estimators=15).fit(X, y)
    widths = []
    transform = Waves.transform
    monkeypatch.setattr(
        OnceWaves,
        "transform",
        staticmethod(lambda X, **p: widths.append(len(p["length"])) or transform(X, **p)),
    )
    model.predict(X)
    assert len(model.ensemble_.learners) > 100 and max(widths) <= 30


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="n_derived must be at least 1"):
        bind(Waves(n_derived=0), np.ones((3, 1)))


def test_messages_call_learners_by_their_family():
    learners = Itself.learners_type
    assert learners.__name__ == "ItselfLearners"
    assert pickle.loads(pickle.dumps(learners)) is learners
