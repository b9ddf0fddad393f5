"""Every instruction set gives the same bits, in kernels and whole fits; how a set is chosen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import json_under

import cwboost
from cwboost._kernels.common import cpu

HEADERS = Path(cwboost.__file__).parent / "_kernels"
SOLVER, STUMPS, CODES = (
    Path(__file__).with_name(f"{subject}_hashes.c") for subject in ("fcd", "stump", "code")
)
SUPPORT = Path(__file__).resolve().parents[2] / "support"
FLAGS = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-Wno-psabi"]


def build(compiler, folder, *flags, source=SOLVER):
    program = folder / "hashes"
    include = f"-I{HEADERS}"
    done = subprocess.run(
        [*compiler, *FLAGS, *flags, include, str(source), "-o", str(program), "-lm"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return program


def hashes(command, n_sets):
    """The lines of each instruction set that runs, by its name."""
    found = {}
    for number in range(n_sets):
        done = subprocess.run([*command, str(number)], capture_output=True, text=True)
        if done.returncode == 3:  # the processor does not run it
            continue
        assert done.returncode == 0, done.stderr
        name, *lines = done.stdout.splitlines()
        found[name.removeprefix("# ")] = lines
    return found


def assert_all_equal(found):
    base = next(iter(found.values()))
    assert len(base) > 50
    for name, lines in found.items():
        assert lines == base, name


@pytest.fixture(scope="module")
def native(tmp_path_factory, c_compiler):
    """What programs print on this machine."""
    return {
        source: hashes(
            [build(c_compiler, tmp_path_factory.mktemp("native"), source=source)],
            len(cpu.available()),
        )
        for source in (SOLVER, CODES)
    }


@pytest.mark.slow
@pytest.mark.parametrize("source", [SOLVER, CODES], ids=lambda source: source.stem)
def test_kernels_of_every_set_give_the_same_bits(source, native):
    """Trees on codes by sets of rows and by walks: that program compares both."""
    assert set(native[source]) == set(cpu.available())
    assert_all_equal(native[source])


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["clang", "musl-gcc -static -O1"])
def test_kernels_of_other_compilers_give_the_same_bits(compiler, native, tmp_path):
    name, *flags = compiler.split()
    if not shutil.which(name):
        pytest.skip(f"needs {name} (Debian: clang, musl-tools)")
    found = hashes([build([name], tmp_path, *flags)], len(cpu.available()))
    assert_all_equal(found | native[SOLVER])


@pytest.mark.slow
@pytest.mark.parametrize("source", [SOLVER, STUMPS, CODES], ids=lambda source: source.stem)
def test_portable_vectors_give_the_same_bits(source, native, c_compiler, tmp_path):
    """What other processors get: vectors of 16 bytes, as the compiler lowers them."""
    found = hashes([build(c_compiler, tmp_path, "-O1", "-DCWB_PORTABLE", source=source)], 1)
    assert set(found) == {"portable"}
    assert_all_equal(found | native.get(source, {}))


@pytest.mark.slow
# -O1 compiles in two thirds of the time.
@pytest.mark.parametrize("source, flags", [(SOLVER, []), (STUMPS, ["-O1"]), (CODES, [])])
def test_neon_gives_the_same_bits_under_an_emulator(source, flags, native, tmp_path):
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    for tool in (compiler, emulator):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool} (Debian: gcc-aarch64-linux-gnu, qemu-user)")
    found = hashes([emulator, build([compiler], tmp_path, "-static", *flags, source=source)], 1)
    assert set(found) == {"neon"}
    assert_all_equal(found | native.get(source, {}))


def bits_under(name):
    """Return hashes under an instruction set: of kernels one by one, and of whole fits."""
    found = json_under({"CWBOOST_INSTRUCTION_SET": name}, SUPPORT / "kernel_bits.py")
    assert found.pop("instruction set") == name
    return found


@pytest.fixture(scope="module")
def of_the_widest():
    return bits_under(cpu.available()[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", cpu.available()[1:])
def test_kernels_and_whole_fits_have_the_same_bits(name, of_the_widest):
    found = bits_under(name)
    assert len(found) > 70 and found.keys() == of_the_widest.keys()
    assert [key for key in found if found[key] != of_the_widest[key]] == []


# The compiled module by its path: the package around it would take seconds to import.
PROGRAM = """
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location("cpu", sys.argv[1])
cpu = module_from_spec(spec)
spec.loader.exec_module(cpu)
print(cpu.chosen())
"""


def run(name):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, cpu.__file__],
        env={**os.environ, "CWBOOST_INSTRUCTION_SET": name},
        capture_output=True,
        text=True,
    )


def test_the_base_runs_everywhere_and_comes_last():
    names = cpu.available()
    assert names[-1] in {"sse2", "neon", "portable"}
    assert set(names[:-1]) <= {"avx512", "avx2"}
    assert cpu.chosen() in names


def test_the_widest_is_the_default():
    """`instruction_sets/test_bits.py` forces the others."""
    done = run("")
    assert done.stdout.strip() == cpu.available()[0], done.stderr


def test_an_unknown_set_is_an_error_that_lists_those_that_run():
    done = run("AVX2")
    assert done.returncode != 0
    assert "got 'AVX2'" in done.stderr
    assert "CWBOOST_INSTRUCTION_SET must be one of " + ", ".join(cpu.available()) in done.stderr
