"""The command ``cwboost``: find the sub-command, run it, report its errors as messages.

Exit status: 0 for success, 1 for an error explained by the message, 2 for wrong usage, 130 if
interrupted.
"""

import argparse
import contextlib
import inspect
import pkgutil
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module

from cwboost import __version__, commands
from cwboost.commands import CommandError, refuse_overwriting
from cwboost.commands._streams import place_of_results, silence, standard_streams
from cwboost.families.plugin_loading import run_plugin_file

EPILOG = """\
A first model from a file with a header line and the label in the last column:

  cwboost fit train.csv model.cwb --valid 0.2
  cwboost evaluate model.cwb test.csv
  cwboost predict model.cwb new.csv --out labels.csv

"cwboost COMMAND --help" describes a command."""


# Errors for bad input, and errors of files and downloads. Any other exception is a defect of
# cwboost and shows its traceback.
USER_ERRORS = (CommandError, ValueError, OSError, ImportError, MemoryError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``cwboost`` with the arguments `argv` (default: those of the process)."""
    argv = sys.argv[1:] if argv is None else list(argv)
    modules_found = (module.name for module in pkgutil.iter_modules(commands.__path__))
    names = sorted(name for name in modules_found if not name.startswith("_"))
    # Import only the module that runs, or all modules for the help.
    others = _with_plugins(argparse.ArgumentParser(add_help=False)).parse_known_args(argv)[1]
    chosen = next((arg for arg in others if not arg.startswith("-")), None)
    modules = {
        name: import_module(f"cwboost.commands.{name}") if chosen in (None, name) else None
        for name in names
    }
    with standard_streams() as results:
        args = _parser(modules).parse_args(argv)
        if args.command is None:
            _parser(modules).print_help()
            return 0
        return _run(modules[args.command], args, results)


def _with_plugins(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the option that names files of plugins."""
    text = "Python file whose classes register themselves by cwboost.register_family; repeatable"
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE", help=text)
    return parser


def _run(module, args, results) -> int:
    """Run a sub-command whose results go to a stream, None if it is closed; return its status."""
    name = f"cwboost {args.command}"
    as_python = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"{name}: warning: {_line(message)}\n"
    try:
        args.results = place_of_results(args, results)
        refuse_overwriting(args, args.called)
        # Only results may reach stdout: what plugins and other libraries print goes to stderr.
        with contextlib.redirect_stdout(sys.stderr):
            for path in args.plugin:
                run_plugin_file(path)
            status = module.run(args)
        if results is not None:
            results.flush()
        return status
    except BrokenPipeError:  # the reader (e.g. head) closed the pipe
        silence(results)
        return 1
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        return 130
    except USER_ERRORS as error:
        if args.traceback:
            traceback.print_exc()
        print(f"{name}: error: {_message(error)}", file=sys.stderr)
        with contextlib.suppress(OSError):
            if results is not None:
                results.flush()
            return 1
        silence(results)  # a full disk, on which Python would fail again as it ends
        return 1
    finally:
        warnings.formatwarning = as_python


def _parser(modules) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cwboost",
        description="Multi-class boosting by column generation.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cwboost {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show the traceback of an error")
    _with_plugins(parser)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, module in modules.items():
        text = inspect.getdoc(module) or ""  # python -OO leaves docstrings out
        subparser = subparsers.add_parser(
            name,
            help=text.partition("\n")[0].rstrip("."),
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if module:
            module.add_arguments(subparser)
            actions = subparser._actions
            called = {action.dest: [*action.option_strings, action.dest][0] for action in actions}
            subparser.set_defaults(called=called)
    return parser


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory{f': {error}' if str(error) else ''}"
    return _line(error) or type(error).__name__


def _line(message: object) -> str:
    """Return a message in one line; those of other libraries may have several."""
    return " ".join(map(str.strip, str(message).splitlines()))
