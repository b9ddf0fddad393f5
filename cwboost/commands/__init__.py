"""The sub-commands of ``cwboost``, a module each; those with an underscore serve the others.

A module's docstring begins with the line that ``cwboost --help`` shows. ``add_arguments(parser)``
declares its arguments; ``run(args)`` does the work and returns the exit status. Keep the top of the
module free of heavy imports: import inside ``run``.
"""

__all__ = ["CommandError"]


class CommandError(Exception):
    """An error of the user's, shown as a message without a traceback."""
