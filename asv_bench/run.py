"""Run the benchmarks, for ``make bench``, ``make compare`` and ``make dashboard``."""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / ".asv"
HISTORY = HERE / "history"
MACHINE = "reference"
"""Name under which results are kept, in place of the name of the host."""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    quick = commands.add_parser("quick", help="run every benchmark once, on the installed package")
    quick.set_defaults(run=run_quick)
    compare = commands.add_parser("compare", help="compare a revision with HEAD, interleaved")
    compare.add_argument("base", help="revision to compare HEAD with")
    compare.add_argument("--factor", default="1.15", help="minimum ratio that counts as a change")
    compare.set_defaults(run=run_compare)
    dashboard = commands.add_parser("dashboard", help="publish the last commits as HTML")
    dashboard.add_argument("--commits", type=int, default=5)
    dashboard.add_argument("--step", type=int, default=1, help="take every STEP-th commit")
    dashboard.set_defaults(run=run_dashboard)
    for command in (compare, dashboard):
        command.add_argument("--quick", action="store_true", help="one call per benchmark")
    for command in (quick, compare, dashboard):
        command.add_argument(
            "--bench", action="append", default=[], help="regular expression of benchmarks to run"
        )
    options = parser.parse_args()
    return options.run(options)


def run_quick(options):
    """Run every benchmark once; fail if one raises."""
    folder = WORK / "quick"
    config = _config_with(folder, results_dir=str(folder / "results"))
    for old in (folder / "results").glob("*/*existing*.json"):
        old.unlink()
    status = asv(
        config, "run", "--quick", "--python=same", "--show-stderr",
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


def run_compare(options):
    """Compare HEAD with a revision, both as wheels, in alternating rounds; 1 if one is slower."""
    if uncommitted():
        print("note: HEAD is measured, not the uncommitted changes in this checkout")
    base, head = revision(options.base), revision("HEAD")
    if base == head:
        # asv has nothing to compare in this case; one run still shows that everything works.
        return asv(
            HERE / "asv.conf.json",
            "run",
            f"{head}^!",
            "--machine",
            MACHINE,
            *_quick(options),
            *_bench(options),
        )
    return asv(
        HERE / "asv.conf.json", "continuous", "--factor", options.factor, "--show-stderr",
        "--machine", MACHINE,
        *_quick(options), *_bench(options), base, head,
    )  # fmt: skip


def run_dashboard(options):
    """Run benchmarks of the last commits, publish their HTML and check it in a browser."""
    from dashboard import check, draw, make_self_contained

    config, folder = HERE / "asv.conf.json", HISTORY
    if options.quick:  # one call per benchmark shows that all works; its figures are not kept
        folder = WORK / "quick-history"
        config = _config_with(WORK / "quick-dashboard", results_dir=str(folder))
    newest = revision("HEAD")
    n_commits = options.commits * options.step
    hashes = _git("rev-list", "--first-parent", f"--max-count={n_commits}", "HEAD").split()
    hashes = hashes[:: options.step]
    listed = WORK / "commits"
    WORK.mkdir(exist_ok=True)
    listed.write_text("\n".join(hashes))
    # An old commit may lack what a benchmark needs: only a failure of the newest counts. --quick
    # would not save its figures.
    short = ["-a", "repeat=1", "-a", "rounds=1", "-a", "warmup_time=0"] if options.quick else []
    asv(
        config, "run", f"HASHFILE:{listed}", "--machine", MACHINE, "--skip-existing-successful",
        *short, *_bench(options),
    )  # fmt: skip
    results = list(folder.glob(f"*/{newest[:8]}-*.json"))
    failed = [name for path in results for name in failures(path)]
    if failed or not results:
        print(f"failed at HEAD: {', '.join(failed) or 'the build'}", file=sys.stderr)
        return 1
    if status := asv(config, "publish", "--no-pull"):
        return status
    make_self_contained(WORK / "html", WORK / "scripts")
    if not options.quick:
        draw(HISTORY / MACHINE, ROOT / "docs" / "figures" / "history.png")
    measured = {name for path in results for name in json.loads(path.read_text())["results"]}
    areas = ("default.", "fcd.", "stump_search.")
    return check(WORK / "html", sorted(name for name in measured if name.startswith(areas)))


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


def _quick(options):
    return ["--quick"] if options.quick else []


def revision(name):
    return _git("rev-parse", "--verify", f"{name}^{{commit}}").strip()


def uncommitted():
    return _git("status", "--porcelain", "--untracked-files=no").strip()


def _git(*arguments):
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())
