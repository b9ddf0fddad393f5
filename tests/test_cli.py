"""The command line: sub-commands are found and loaded one at a time, errors become messages."""

import importlib
import runpy
import subprocess
import sys
import warnings

import pytest
from in_process import output_of

import cwboost
from cwboost import commands
from cwboost.cli import main


@pytest.fixture
def trial(monkeypatch, tmp_path):
    """Add a sub-command ``trial`` whose ``run`` is defined by the test."""
    (tmp_path / "trial.py").write_text(
        '"""Try things.\n\nAnd more things.\n"""\n'
        "behaviour = None\n"
        "def add_arguments(parser):\n    parser.add_argument('--size', type=int, default=1)\n"
        "def run(args):\n    return behaviour(args)\n"
    )
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    yield lambda behaviour: setattr(
        importlib.import_module("cwboost.commands.trial"), "behaviour", behaviour
    )
    sys.modules.pop("cwboost.commands.trial", None)
    vars(commands).pop("trial", None)


def test_help_lists_every_command_with_its_summary(trial, capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "trial" in out and "Try things" in out and "And more things" not in out
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == out


def test_status_and_arguments_reach_the_command(trial):
    trial(lambda args: args.size)
    assert main(["trial", "--size", "7"]) == 7


@pytest.mark.parametrize("line", ["no-such-command", "trial --size x", "trial --colour"])
def test_wrong_usage_is_status_2(trial, line, capsys):
    with pytest.raises(SystemExit) as caught:
        main(line.split())
    assert caught.value.code == 2
    assert "usage: cwboost" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error, status, message",
    [
        (commands.CommandError("no column of that name"), 1, "error: no column of that name"),
        (ValueError("C must be positive, got -1"), 1, "error: C must be positive, got -1"),
        (FileNotFoundError(2, "No such file", "a.csv"), 1, "error: a.csv: No such file"),
        (ValueError("of pyarrow\n  or pandas\n"), 1, "error: of pyarrow or pandas\n"),
        (ImportError("matplotlib is needed"), 1, "error: matplotlib is needed"),
        (MemoryError(), 1, "error: not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_an_error_is_one_line(trial, error, status, message, capsys):
    def fail(args):
        raise error

    trial(fail)
    assert main(["trial"]) == status
    captured = capsys.readouterr()
    assert captured.err.startswith(f"cwboost trial: {message}")
    assert captured.err.count("\n") == 1
    if status == 1:
        assert main(["--traceback", "trial"]) == 1
        assert "Traceback" in capsys.readouterr().err


def test_a_defect_keeps_its_traceback(trial):
    trial(lambda args: args.no_such_attribute)
    with pytest.raises(AttributeError):
        main(["trial"])


def test_a_warning_is_one_line_without_a_place_in_the_source(trial, capsys):
    former = warnings.formatwarning
    trial(lambda args: print(warnings.formatwarning("odd data", UserWarning, "base.py", 130)))
    main(["trial"])
    assert capsys.readouterr().err == "cwboost trial: warning: odd data\n\n"
    assert warnings.formatwarning is former


def test_the_module_runs_as_the_command_does(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cwboost", "--version"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("cwboost", run_name="__main__")
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"cwboost {cwboost.__version__}\n"


@pytest.mark.slow
def test_one_command_is_imported_and_a_closed_output_pipe_is_not_an_error():
    code = (
        "import sys; from cwboost.cli import main; from cwboost.commands import plugins\n"
        "def run(args):\n"
        "    modules = [m for m in sys.modules if m.startswith('cwboost.commands.')]\n"
        "    modules = [m for m in modules if not m.startswith('cwboost.commands._')]\n"
        "    print(*modules, file=args.results)\n"
        "    for _ in range(10000): print('x' * 100, file=args.results)\n"
        "plugins.run = run\n"
        "sys.exit(main(['plugins']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"cwboost.commands.plugins\n"
        process.stdout.close()
        assert process.stderr.read() == b""


OPTIMISED = """
import sys
from cwboost.cli import main

sys.exit(any(main(line.split()) for line in sys.argv[1:]))
"""


@pytest.mark.slow
def test_an_optimised_program_has_all_commands(tmp_path):
    """Without docstrings; `commands/test_tables.py` runs them without assertions."""
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20)
    fit = "fit t.csv m.cwb --rounds 2 --held-out 0 --quiet"
    lines = "", "plugins", fit, "inspect m.cwb", "datasets"
    shown = output_of("-OO", "-c", OPTIMISED, *lines, cwd=tmp_path)
    for part in ("usage: cwboost", "weak learner", "m.cwb: 2 rounds", "stopped by", "bundled"):
        assert part in shown
