"""The hooks that a cwboost plugin may implement."""

from collections.abc import Callable

import pluggy

hookspec = pluggy.HookspecMarker("cwboost")
hookimpl = pluggy.HookimplMarker("cwboost")
"""Put ``@cwboost.hookimpl`` before a function that implements one of these hooks."""


@hookspec
def cwboost_register_families(register: Callable[[type], None]) -> None:
    """Register the weak-learner families of a distribution.

    Called once, when a family of the plugin is first looked up or plugins are listed. The name of
    each family should have an entry point, so that it is found without importing other plugins.

    Parameters
    ----------
    register : callable
        ``register(family_class)`` with a subclass of `cwboost.WeakLearnerFamily` that has a
        ``name``; its constructor must work without arguments. Call it once per family.
    """
