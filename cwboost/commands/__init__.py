"""The sub-commands of ``cwboost``, one module each; modules with an underscore are helpers.

The first line of a module's docstring appears in ``cwboost --help``. ``add_arguments(parser)``
declares the arguments; ``run(args)`` does the work and returns the exit status. Import heavy
packages inside ``run``, not at the top of the module.
"""

__all__ = ["CommandError"]


class CommandError(Exception):
    """A usage error, reported as a message without a traceback."""
