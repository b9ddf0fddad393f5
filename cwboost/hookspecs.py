"""The hooks that a cwboost plugin may implement."""

from collections.abc import Callable

import pluggy

hookspec = pluggy.HookspecMarker("cwboost")
hookimpl = pluggy.HookimplMarker("cwboost")
"""Put ``@cwboost.hookimpl`` before a function that implements one of these hooks."""


@hookspec
def cwboost_register_families(register: Callable[[type], None]) -> None:
    """Register the weak-learner families of a distribution.

    Called once per entry point that names the module, when its family is first looked up or plugins
    are listed. Each family has an entry point of its name, by which it is found.

    Parameters
    ----------
    register : callable
        ``register(family_class)`` with a subclass of `cwboost.WeakLearnerFamily` that has a
        ``name``; its constructor must work without arguments. Call it once per family.
    """
