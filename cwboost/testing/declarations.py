"""Checks of the class itself, and of a first fit."""

import pickle

from sklearn.base import clone

from cwboost.families.contract import WeakLearnerFamily
from cwboost.families.registry import registry_of
from cwboost.families.sealing.pricer import bind_family
from cwboost.testing.check import check
from cwboost.testing.material import ask, context_of, integer_weights, made_by, pixels


@check("Set name, api_version, the type of what is made, and capabilities on the class.")
def check_declarations(plugin):
    """Check the declared name, API version and type of what is made, and the capabilities."""
    registry_of(type(plugin)).examine(type(plugin), plugin)
    name = type(plugin).name
    assert plugin.name == name, f"name must be that of the class, {name!r}, got {plugin.name!r}"


@check("Let __init__ store its arguments unchanged, in a class at the top of a module.")
def check_hyper_parameters(plugin):
    """Check that the constructor keeps its arguments, and copies have the same ones."""
    params = plugin.get_params(deep=False)
    for other in (clone(plugin), pickle.loads(pickle.dumps(plugin)), plugin.set_params(**params)):
        assert type(other) is type(plugin) and repr(other) == repr(plugin), (
            f"a copy of {plugin!r} is {other!r}"
        )
    for name in params:
        given = object()
        kept = type(plugin)(**{**params, name: given}).get_params(deep=False)[name]
        assert kept is given, f"the constructor changes {name} from {given} to {kept}"


@check("Return what the contract says: a learner, outputs and the true edge per row of weights.")
def check_fit(plugin):
    """Check that the plugin is fitted and predicts on plain numbers, under the sealed calls."""
    use(plugin)


def use(plugin, n_samples=61) -> None:
    """Fit, store, load and predict with a plugin, and price by each method."""
    X = pixels(n_samples)
    made = made_by(plugin, X)
    made.answer(made.read(made.value.arrays(), X.shape[1]), X)
    if isinstance(plugin, WeakLearnerFamily):
        ask(bind_family(plugin, X, context_of(X, 0)), integer_weights(n_samples))
