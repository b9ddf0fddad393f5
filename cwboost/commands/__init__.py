"""The sub-commands of ``cwboost``, one module each; modules with an underscore are helpers.

The first line of a module's docstring appears in ``cwboost --help``. ``add_arguments(parser)``
declares the arguments; ``run(args)`` does the work and returns the exit status. Import packages
that take longer than NumPy inside ``run``, not at the top of the module.
"""

import sys
from pathlib import Path

__all__ = ["CommandError", "add_run_arguments", "shows_progress"]


class CommandError(Exception):
    """A usage error, reported as a message without a traceback."""


def add_run_arguments(parser, *, folder: str, holds: str) -> None:
    """Declare the arguments of commands that train many models: a folder, seed, threads, silence.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    folder : str
        Default folder of the results.
    holds : str
        What the command writes there.
    """
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path(folder),
        help=f"folder for {holds} (default: {folder})",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--jobs", type=int, default=1, help="threads (default: 1)")
    parser.add_argument("--quiet", action="store_true", help="do not show progress bars")


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
