"""Checks of the plugin itself: hyper-parameters, cloning, side effects of binding."""

import io
import pickle
import random
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
from sklearn.base import clone

from cwboost.families.contract import BindContext, WeakLearnerFamily
from cwboost.families.registry import registry_of
from cwboost.families.sealing.sample import read_only
from cwboost.testing.material import (
    N_TARGETS,
    WHOLE,
    answers,
    assert_same_answers,
    audited,
    bind,
    integer_weights,
    pixels,
    stored,
    told_of_make_X,
)


def check_declarations(plugin):
    """Check the declared name, API version and type of what is made, and the capabilities."""
    registry_of(type(plugin)).examine(type(plugin), plugin)
    name = type(plugin).name
    assert plugin.name == name, f"name must be that of the class, {name!r}, got {plugin.name!r}"


def check_hyper_parameters(plugin):
    """Check that the constructor keeps its arguments, and that copies have the same ones.

    Copies are made by clone, set_params and pickle.
    """
    params = plugin.get_params(deep=False)
    copy = clone(plugin)
    for other, what in ((copy, "clone"), (pickle.loads(pickle.dumps(plugin)), "pickle")):
        assert type(other) is type(plugin), f"{what} returns a {type(other).__name__}"
        assert repr(other) == repr(plugin), f"{what}: {other!r} instead of {plugin!r}"
    for name in params:
        given = object()
        kept = type(plugin)(**{**params, name: given}).get_params(deep=False)[name]
        assert kept is given, f"the constructor changes {name} from {given} to {kept}"
    copy.set_params(**params)
    assert repr(copy) == repr(plugin), f"set_params: {copy!r} instead of {plugin!r}"


def check_bind_has_no_side_effects(family):
    """Check that binding and pricing do not change the family; X and weights are read-only."""
    weights = read_only(integer_weights(61))
    family_before, state = repr(family), dict(vars(family))
    bind(family, pixels() + 1)  # checks what it returns
    context = BindContext(n_targets=N_TARGETS, random_state=np.random.default_rng(0))
    with told_of_make_X():
        pricer = family.bind(read_only(pixels() + 1), context)
    pricer.price(weights, WHOLE)
    pricer.price_shared(weights, WHOLE)
    assert repr(family) == family_before, f"the family changed to {family!r}"
    assert vars(family).keys() == state.keys(), "bind left attributes on the family"


def check_process_is_left_alone(plugin):
    """Check that training and predicting change nothing that the whole process shares.

    These are the global generators of NumPy and Python, NumPy's treatment of floating-point
    errors, warning filters and environment variables. Nothing is printed.
    """
    X = pixels()
    printed, unusual = io.StringIO(), {"all": "warn", "divide": "print", "invalid": "ignore"}
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    environ = ("os.putenv", "os.unsetenv")
    try:
        # A state that no seed gives, since an earlier check may have let the plugin seed.
        np.random.random(3)  # noqa: NPY002
        random.random()
        with (
            np.errstate(**unusual),
            warnings.catch_warnings(),
            redirect_stdout(printed),
            redirect_stderr(printed),
            audited(environ) as events,
        ):
            before = _shared_state()
            own = stored(plugin, X)
            own.answer(own.read(own.made.arrays(), X.shape[1]), X)
            if isinstance(plugin, WeakLearnerFamily):
                bind(plugin, X).price_shared(integer_weights(61), WHOLE)
            after = _shared_state()
    finally:
        np.random.set_state(numpy_before)  # noqa: NPY002
        random.setstate(python_before)
    changed = [name for name in before if before[name] != after[name]]
    changed += ["os.environ"] if events else []
    assert not changed, f"changes {', '.join(changed)}"
    assert not printed.getvalue(), f"prints {printed.getvalue()[:80]!r}"


def _shared_state() -> dict:
    return {
        "NumPy's global generator": pickle.dumps(np.random.get_state()),  # noqa: NPY002
        "Python's global generator": random.getstate(),
        "np.seterr": np.geterr(),
        "warnings.filters": list(warnings.filters),
    }


def check_generator_is_the_only_state(family):
    """Check that pricing depends on the weights and the generator's state alone.

    A checkpoint stores the generator's state. After the state is restored, the same pricer must
    find the same learners, and so must a new pricer bound to a generator in the same initial
    state. A family that copies the generator, or remembers earlier rounds, fails.
    """
    X, weights = pixels(), integer_weights(61)
    rng = np.random.default_rng(0)
    pricer = bind(family, X, seed=rng)
    for seed in range(2):
        pricer.price(integer_weights(61, seed=seed), WHOLE)
    state = rng.bit_generator.state
    expected = answers(family, pricer, weights)
    answers(family, pricer, integer_weights(61, seed=9))
    rng.bit_generator.state = state
    again = answers(family, pricer, weights)
    assert_same_answers(family, expected, again, "the same pricer, its generator restored")

    resumed = np.random.default_rng(0)
    other = bind(family, X, seed=resumed)
    resumed.bit_generator.state = state
    result = answers(family, other, weights)
    assert_same_answers(family, expected, result, "a new pricer with the generator's state")


def check_pricers_are_independent(family):
    """Check that two pricers of one family, used alternately, do not affect each other."""
    first_X, second_X = pixels(), pixels(40, 7, seed=11)
    weights, other_weights = integer_weights(61), integer_weights(40)
    expected = answers(family, bind(family, first_X), weights)
    first, second = bind(family, first_X), bind(family, second_X)
    answers(family, second, other_weights)
    result = answers(family, first, weights)
    assert_same_answers(family, expected, result, "with another pricer in between")
