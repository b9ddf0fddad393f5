"""The sub-commands of ``cwboost``, one module each; modules with an underscore are helpers.

The first line of a module's docstring appears in ``cwboost --help``. ``add_arguments(parser)``
declares the arguments; ``run(args)`` does the work and returns the exit status. Import heavy
packages inside ``run``, not at the top of the module.
"""

import sys

__all__ = ["CommandError", "shows_progress"]


class CommandError(Exception):
    """A usage error, reported as a message without a traceback."""


def shows_progress(args) -> bool:
    """Return whether to show progress bars; if tqdm is absent, say what installs it."""
    if args.quiet:
        return False
    try:
        import tqdm  # noqa: F401
    except ImportError:
        print('no progress bar: pip install "cwboost[progress]"', file=sys.stderr)
        return False
    return True
