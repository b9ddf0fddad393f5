"""Measure the tests: make small faults in modules, one at a time, and see whether a test fails.

First measure which test runs which line, then draw faults of the modules of an area:

    pytest --cov=cwboost --cov-context=test tests/solvers tests/test_classifier.py
    python tools/mutants.py --count 80 'cwboost/solvers/*.py' >mutants.jsonl

A fault ("mutant") is a change by an operator of cosmic-ray: a comparison or an arithmetic operator
replaced, a number up to 10 moved by one, a condition negated, a loop skipped. Places are drawn
first, then one operator for each. Only tests that run the changed line are tried: those that mirror
the module first, then a sample of the others. A mutant that cannot be imported does not count.

Every line of the output is one mutant, with its outcome: killed, survived or uncovered (no test
runs the line). `--again FILE` tries the survivors of a former output once more, by all their tests.
The package on disk is not touched: a child process imports other code. POSIX only.
"""

import argparse
import ast
import difflib
import importlib
import json
import os
import random
import re
import signal
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import cosmic_ray.operators.provider  # noqa: F401  before the plugins, which import it in a circle
import coverage
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).resolve().parents[1]
# What only an unusual type tells apart (`is` for `==`), and unions of types in signatures.
MEANINGLESS = re.compile(r"Comparison.*_(Is|IsNot|In|NotIn)\b|BitOr|RemoveDecorator|Exception")
USUAL = re.compile(r"Comparison.*_(Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)$")

UNUSABLE = 100  # the exit status of a child that cannot import the module


def operators():
    for name in operator_names():
        operator = get_operator(name)
        if not operator.arguments() and (USUAL.search(name) or not MEANINGLESS.search(name)):
            yield name, operator()


def large(source, start, end):
    """Return True for a number that a step of one hardly changes: no test should notice."""
    return abs(ast.literal_eval(source.splitlines()[start[0] - 1][start[1] : end[1]])) > 10


def mutants_of(path):
    """Return the mutants of a module by place: lists of (path, operator, occurrence, line)."""
    source, places = (ROOT / path).read_text(), {}
    tree = get_ast(source)
    for name, operator in operators():
        found = (place for node in ast_nodes(tree) for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(found):
            if name.endswith("NumberReplacer") and large(source, start, end):
                continue
            if source.splitlines()[start[0] - 1][end[1] :].startswith(","):
                continue  # the bare * of a signature
            places.setdefault((start, end), []).append((path, name, occurrence, start[0]))
    return list(places.values())


def tests_of(data, path, line):
    """Return the tests that run a line, those of the module's mirror in tests/ first.

    A line that runs at the import alone, such as a constant, concerns all tests of the module.
    """
    by_line = data.contexts_by_lineno(str(ROOT / path))
    contexts = set(by_line.get(line, []))
    if contexts == {""}:
        contexts.update(*by_line.values())
    tests = sorted({context.partition("|")[0] for context in contexts} - {""})
    mirror = f"tests/{Path(path).parent.relative_to('cwboost')}/test_{Path(path).stem}.py"
    mirrored = [test for test in tests if test.startswith(mirror)]
    others = [test for test in tests if not test.startswith(mirror)]
    random.Random(0).shuffle(others)
    return mirrored, others


class Budget:
    """Ends a run of pytest, as passed, when its processor time is spent."""

    def __init__(self, seconds):
        self.end = time.process_time() + seconds

    def pytest_runtest_teardown(self, item):
        if time.process_time() > self.end:
            item.session.shouldstop = "the time is spent"


def try_tests(path, code, tests, seconds):
    """Run tests in a child process whose import of a module finds other code."""
    child = os.fork()
    if not child:
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        original = SourceFileLoader.get_code

        def get_code(self, name):
            if self.path == str(ROOT / path):
                return compile(code, path, "exec")
            return original(self, name)

        SourceFileLoader.get_code = get_code
        try:
            importlib.import_module(path.removesuffix(".py").replace("/", "."))
        except Exception:
            os._exit(UNUSABLE)
        if not tests:
            os._exit(0)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:cov", *tests]
        status = pytest.main(options, plugins=[Budget(seconds)])
        os._exit(0 if status in (0, 2) else 1)  # 2: the budget's end
    end = time.monotonic() + 12 * seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return {0: "survived", UNUSABLE: "unusable"}.get(code, "killed")
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed"  # by an endless loop


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="patterns of paths in the checkout")
    parser.add_argument("--again", type=Path, help="a former output, whose survivors are tried")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20, help="processor time per mutant")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    measured = coverage.Coverage(data_file=os.environ.get("COVERAGE_FILE", ".coverage"))
    measured.load()
    data = measured.get_data()
    for name in ("pandas", "sklearn.ensemble", "scipy.sparse"):
        importlib.import_module(name)  # before the children, which share them
    if arguments.again:
        lines = map(json.loads, arguments.again.read_text().splitlines())
        drawn = [
            tuple(line[key] for key in ("path", "operator", "occurrence", "line"))
            for line in lines
            if line["outcome"] != "killed"
        ]
    else:
        draw = random.Random(arguments.seed)
        paths = sorted(path for pattern in arguments.modules for path in ROOT.glob(pattern))
        places = [place for path in paths for place in mutants_of(str(path.relative_to(ROOT)))]
        draw.shuffle(places)
        drawn = [draw.choice(place) for place in places]
    counted, whole = 0, set()
    for path, operator, occurrence, line in drawn:
        if counted == arguments.count:
            break
        source = (ROOT / path).read_text()
        code = MutationVisitor.mutate_code(source, get_operator(operator)(), occurrence)
        mirrored, others = tests_of(data, path, line)
        tests = mirrored + (others if arguments.again else others[:12])
        if tests and path not in whole:
            assert try_tests(path, source, tests, arguments.seconds) == "survived", tests
            whole.add(path)
        outcome = try_tests(path, code, tests, arguments.seconds)
        if outcome == "survived" and not tests:
            outcome = "uncovered"
        if outcome == "unusable":
            continue
        counted += 1
        changed = difflib.ndiff(source.splitlines(), code.splitlines())
        change = [text for text in changed if text[:2] in ("- ", "+ ")]
        record = {"path": path, "operator": operator, "occurrence": occurrence, "line": line}
        print(json.dumps(record | {"outcome": outcome, "change": change}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
