"""The sub-commands of ``cwboost``, one module each; modules with an underscore are helpers.

The first line of a module's docstring appears in ``cwboost --help``. ``add_arguments(parser)``
declares the arguments, files and folders with the type `InputPath` or `OutputPath`; ``run(args)``
does the work and returns the exit status. What a command has found goes to `result` or the stream
``args.results``; whatever else is printed meanwhile, as by plugins, goes to the error stream.
Import packages that take longer than NumPy inside ``run``, not at the top of the module.
"""

import ast
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cwboost.support.files import replacing

__all__ = [
    "CommandError",
    "InputPath",
    "OutputPath",
    "add_run_arguments",
    "assignment",
    "check_jobs",
    "check_run_arguments",
    "refuse_overwriting",
    "result",
    "show",
]


class CommandError(Exception):
    """A usage error, reported as a message without a traceback."""


class InputPath(type(Path())):
    """A file or folder that a command reads."""


class OutputPath(type(Path())):
    """A file or folder that a command writes."""


def refuse_overwriting(args, names) -> None:
    """Refuse an output that is also an input, or another output; `names` are for messages."""
    paths = [(name, v) for name, v in vars(args).items() if isinstance(v, InputPath | OutputPath)]
    for place, (name, path) in enumerate(paths):
        for other, earlier in paths[:place]:
            written = [isinstance(p, OutputPath) for p in (earlier, path)]
            if any(written) and _is_same(earlier, path):
                reason = "both are written" if all(written) else "the input would be overwritten"
                raise CommandError(
                    f"{names[other]} and {names[name]} must be two files, got one, {earlier} and "
                    f"{path}: {reason}"
                )


def _is_same(first: Path, second: Path) -> bool:
    """Return True if two paths lead to one file, folder or pipe; devices may be shared."""
    try:
        # "-" is the standard input, which may come from a file.
        status = [os.stat(0 if str(path) == "-" else path) for path in (first, second)]
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)
    is_shared = stat.S_ISCHR(status[0].st_mode) or stat.S_ISSOCK(status[0].st_mode)
    return not is_shared and os.path.samestat(*status)


@contextmanager
def result(args, path: Path | None = None) -> Iterator[IO[str]]:
    """Open the file of a result, by default the standard output, as text in UTF-8.

    The output gets the result at the end of the block, whole or, after an error, not at all.
    """
    if path is not None:
        with replacing(path, "w", newline="", encoding="utf-8") as file:
            yield file
        return
    if args.results is None:
        raise CommandError("the standard output is closed: --out names a file")
    with tempfile.TemporaryFile("w+", newline="", encoding="utf-8") as whole:
        yield whole
        whole.seek(0)
        if hasattr(args.results, "buffer"):
            args.results.flush()
            shutil.copyfileobj(whole.buffer, args.results.buffer)
        else:
            shutil.copyfileobj(whole, args.results)


def show(args, text: str) -> None:
    """Print a result for people; letters that the standard output lacks are escaped."""
    if args.results is None:
        raise CommandError("the standard output is closed: there is no place for the result")
    print(text, file=args.results)


def assignment(text: str, option: str) -> tuple[str, object]:
    """Return the name and the value, of Python or a word, that an option gives as NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise CommandError(f"{option} must be NAME=VALUE, got {text!r}")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (SyntaxError, ValueError):
        return name.strip(), value.strip()  # a word, such as sqrt


def add_run_arguments(parser, *, folder: str, holds: str) -> None:
    """Declare the arguments of commands that train many models."""
    parser.add_argument(
        "--out",
        type=OutputPath,
        metavar="DIR",
        default=OutputPath(folder),
        help=f"folder for {holds} (default: {folder})",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--jobs", type=int, default=1, help="threads (default: 1)")


def check_run_arguments(args) -> None:
    """Refuse values of these arguments before any model is trained."""
    if args.out.exists() and not args.out.is_dir():
        raise CommandError(f"--out must be a folder, got the file {args.out}")
    if not 0 <= args.seed < 2**32:
        raise CommandError(f"--seed must be an integer from 0 to 2**32 - 1, got {args.seed}")
    check_jobs(args.jobs)


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of threads, by the name of its option."""
    if jobs == 0:
        raise CommandError("--jobs must be a number of threads, or -1 for all, got 0")
