"""Run the benchmarks, for ``make bench``, ``make publish`` and ``make dashboard``."""

import argparse
import ast
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from dashboard import (
    check,
    draw,
    find_regressions,
    make_self_contained,
    read_answers,
    tidy,
    unanswered,
    write_page,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / ".asv"
HTML = WORK / "site" / "dashboard"
CONFIG = HERE / "asv.conf.json"
HISTORY = HERE / "history"
MACHINE = "reference"
"""Name under which results are kept, in place of the name of the host."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    quick = commands.add_parser("quick", help="run every benchmark once, on the installed package")
    quick.set_defaults(run=run_quick)
    publish = commands.add_parser("publish", help="draw the stored history as HTML")
    publish.set_defaults(run=run_publish)
    dashboard = commands.add_parser("dashboard", help="measure HEAD and other commits, publish all")
    dashboard.add_argument(
        "commits", nargs="*", type=revision, help="revisions to measure besides HEAD"
    )
    dashboard.add_argument(
        "--points", type=count, default=0, help="number of further commits, evenly spaced"
    )
    dashboard.set_defaults(run=run_dashboard)
    for command in (quick, dashboard):
        command.add_argument(
            "--bench", action="append", type=pattern, default=[], metavar="PATTERN",
            help="regular expression of benchmarks to run",
        )  # fmt: skip
    options = parser.parse_args()
    return options.run(options)


def run_quick(options):
    """Run every benchmark once; fail if one raises."""
    folder = WORK / "quick"
    config = _config_with(folder, results_dir=str(folder / "results"))
    for old in (folder / "results").glob("*/*existing*.json"):
        old.unlink()
    status = asv(
        config, "run", "--quick", "--python=same", "--show-stderr", "--launch-method=forkserver",
        "--set-commit-hash", revision("HEAD"), "--machine", MACHINE, *_bench(options),
    )  # fmt: skip
    results = [p for p in (folder / "results").glob("*/*.json") if p.name != "machine.json"]
    if not results:
        print("asv left no results", file=sys.stderr)
        return status or 1
    failed = [name for path in results for name in failures(path)]
    for name in failed:
        print(f"benchmark failed: {name}", file=sys.stderr)
    return 1 if failed else status


def run_dashboard(options):
    """Measure HEAD and other commits, those that the history lacks; publish the history."""
    newest = revision("HEAD")
    hashes = [newest, *options.commits]
    if options.points:
        line = _git("rev-list", "--first-parent", "HEAD").split()
        hashes += line[:: max(1, len(line) // options.points)]
    listed = WORK / "commits"
    WORK.mkdir(exist_ok=True)
    listed.write_text("\n".join(dict.fromkeys(hashes)))
    # An old commit may lack what a benchmark needs: only a failure of the newest counts.
    asv(
        CONFIG, "run", f"HASHFILE:{listed}", "--machine", MACHINE, "--skip-existing-successful",
        *_bench(options),
    )  # fmt: skip
    tidy(HISTORY)
    results = list(HISTORY.glob(f"*/{newest[:8]}-*.json"))
    failed = [name for path in results for name in failures(path)]
    if failed or not results:
        print(f"failed at HEAD: {', '.join(failed) or 'the build'}", file=sys.stderr)
        return 1
    return run_publish(options)


def run_publish(options):
    """Publish the stored history; fail on a regression without an answer or an empty graph."""
    if status := asv(CONFIG, "publish", "--no-pull"):
        return status
    make_self_contained(HTML, WORK / "scripts")
    draw(HISTORY / MACHINE, ROOT / "docs" / "figures" / "history.png")
    regressions, answers = find_regressions(HTML), read_answers(HISTORY / "answers.toml")
    points = sorted(path.name[:8] for path in (HISTORY / MACHINE).glob("*-*.json"))
    stored = {"points": points, "regressions": regressions}
    (HISTORY / "regressions.json").write_text(json.dumps(stored, indent=1) + "\n")
    write_page(HTML, regressions, answers)
    open_ones = unanswered(regressions, answers)
    for one in open_ones:
        print(
            f"no answer: {one['benchmark']} from {one['before']} to {one['after']}, "
            f"{one['new'] / one['old']:.2f} times as much",
            file=sys.stderr,
        )
    areas = ("default.", "fcd.", "instructions.", "stump_search.")
    undrawn = check(HTML, sorted(name for name in measured() if name.startswith(areas)))
    print(f"{len(points)} commits, {len(regressions)} regressions: {HTML / 'index.html'}")
    return 1 if open_ones else undrawn


def measured():
    """Return the names of the benchmarks of which a stored point has a result."""
    points = (json.loads(path.read_text()) for path in (HISTORY / MACHINE).glob("*-*.json"))
    return {name for point in points for name in point["results"]}


def failures(path):
    """Return the names of the benchmarks in a results file that raised or ran out of time.

    asv writes null for these, as a whole or per combination of parameters; not every version
    reports it in the exit status. NaN is a benchmark that was skipped deliberately.
    """
    stored = json.loads(path.read_text())
    place = stored.get("result_columns", ["result"]).index("result")
    failed = []
    for name, columns in stored["results"].items():
        result = columns[place] if columns else None
        if result is None or None in result:
            failed.append(name)
    return failed


def asv(config, command, *arguments):
    """Run asv with a configuration and return its exit status."""
    _asv_call(
        config, "machine", "--yes", "--machine", MACHINE, "--os", platform.system(),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return _asv_call(config, command, *arguments)


def _asv_call(config, *arguments, **options):
    # One thread in every library, so that a benchmark measures the same on any machine.
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "asv", "--config", str(config), *arguments],
        env={**os.environ, **single, "PATH": path},
        cwd=HERE,
        **options,
    ).returncode


def _config_with(folder, **changes):
    """Return a copy of the configuration with absolute folders and these changes."""
    lines = (HERE / "asv.conf.json").read_text().splitlines()
    settings = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    settings["repo"] = str(ROOT)
    for name in ("benchmark_dir", "env_dir", "results_dir", "html_dir"):
        settings[name] = str((HERE / settings[name]).resolve())
    settings.update(changes)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "asv.conf.json"
    path.write_text(json.dumps(settings, indent=1))
    return path


def _bench(options):
    return [part for bench in options.bench for part in ("--bench", bench)]


def revision(name):
    """Return the hash of a revision."""
    try:
        return _git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}").strip()
    except subprocess.CalledProcessError:
        message = f"must be revisions of this checkout, got {name!r}"
        raise argparse.ArgumentTypeError(message) from None


def count(text):
    """Return a number of commits."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number of commits, got {text!r}")
    return int(text)


def pattern(text):
    """Return a regular expression that fits a benchmark."""
    try:
        fits = any(re.search(text, name) for name in benchmark_names())
    except re.error as error:
        message = f"must be a regular expression, got {text!r}: {error}"
        raise argparse.ArgumentTypeError(message) from None
    if not fits:
        raise argparse.ArgumentTypeError(f"must fit a name like fcd.Pass.time_pass, got {text!r}")
    return text


def benchmark_names():
    """Return the full names of the benchmarks, as in the source."""
    return [
        f"{path.stem}.{one.name}.{function.name}"
        for path in sorted((HERE / "benchmarks").glob("*.py"))
        for one in ast.parse(path.read_text()).body
        if isinstance(one, ast.ClassDef)
        for function in one.body
        if isinstance(function, ast.FunctionDef)
        and function.name.startswith(("time_", "track_", "peakmem_"))
    ]


def _git(*arguments):
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
