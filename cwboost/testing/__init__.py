"""The conformance suite for weak-learner families and init models.

`check_plugin` runs every check that applies to a plugin, without pytest;
`parametrize_with_plugin_checks` makes one pytest test per check. The checks are the functions
named ``check_*`` in the modules of this package; the docstring of each states the requirement.
"""

from cwboost.testing.runner import (
    PluginCheckError,
    check_plugin,
    parametrize_with_plugin_checks,
    plugin_checks,
)

__all__ = [
    "PluginCheckError",
    "check_plugin",
    "parametrize_with_plugin_checks",
    "plugin_checks",
]
