"""Every instruction set gives the same bits, in kernels and whole fits; how a set is chosen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import kernel_bits
import pytest
from in_process import json_under

import cwboost
from cwboost._kernels.common import cpu

HEADERS = Path(cwboost.__file__).parent / "_kernels"
SOURCES = sorted(Path(__file__).parent.glob("*_hashes.c"))
of_every_source = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
FLAGS = ["-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-Wno-psabi"]


def build(compiler, folder, source, *flags):
    """Compile a program, with -O0 by default, which takes a third of the time of -O3."""
    program = folder / "hashes"
    options = ["-O0", *FLAGS, *flags, f"-I{HEADERS}"]
    done = subprocess.run(
        [*compiler, *options, str(source), "-o", str(program), "-lm"],
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
    """What programs print on this machine. The package has the kernels compiled with -O3."""
    return {
        source: hashes(
            [build(c_compiler, tmp_path_factory.mktemp("native"), source)], len(cpu.available())
        )
        for source in SOURCES
    }


@pytest.mark.slow
@of_every_source
def test_kernels_of_every_set_give_the_same_bits(source, native):
    """Trees on codes by sets of rows and by walks: that program compares both."""
    assert set(native[source]) == set(cpu.available())
    assert_all_equal(native[source])


@pytest.mark.slow
@of_every_source
@pytest.mark.parametrize("compiler", ["clang -O3", "musl-gcc -static"])
def test_kernels_of_other_compilers_give_the_same_bits(compiler, source, native, tmp_path):
    name, *flags = compiler.split()
    if not shutil.which(name):
        pytest.skip(f"needs {name} (Debian: clang, musl-tools)")
    found = hashes([build([name], tmp_path, source, *flags)], len(cpu.available()))
    assert_all_equal({f"{name}, {one}": lines for one, lines in found.items()} | native[source])


@pytest.mark.slow
@of_every_source
def test_portable_vectors_give_the_same_bits(source, native, c_compiler, tmp_path):
    """What other processors get: vectors of 16 bytes, as the compiler lowers them."""
    found = hashes([build(c_compiler, tmp_path, source, "-DCWB_PORTABLE")], 1)
    assert set(found) == {"portable"}
    assert_all_equal(found | native[source])


@pytest.mark.slow
@of_every_source
def test_neon_gives_the_same_bits_under_an_emulator(source, native, tmp_path):
    compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    for tool in (compiler, emulator):
        if not shutil.which(tool):
            pytest.skip(f"needs {tool} (Debian: gcc-aarch64-linux-gnu, qemu-user)")
    found = hashes([emulator, build([compiler], tmp_path, source, "-static", "-O3")], 1)
    assert set(found) == {"neon"}
    assert_all_equal(found | native[source])


@pytest.fixture(scope="module")
def here():
    """Hashes of kernels one by one, and of whole fits, under the set in use: the widest."""
    return kernel_bits.hashes()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in cpu.available() if name != cpu.chosen()])
def test_kernels_and_whole_fits_have_the_same_bits(name, here):
    found = json_under({"CWBOOST_INSTRUCTION_SET": name}, kernel_bits.__file__)
    assert found.pop("instruction set") == name
    assert len(found) > 70 and found.keys() == here.keys() - {"instruction set"}
    assert [key for key in found if found[key] != here[key]] == []


def test_the_base_runs_everywhere_and_comes_last():
    names = cpu.available()
    assert names[-1] in {"sse2", "neon", "portable"}
    assert set(names[:-1]) <= {"avx512", "avx2"}
    assert cpu.chosen() in names


def test_an_unknown_set_is_an_error_that_lists_those_that_run():
    # Without what the package imports, which takes longer.
    program = "import sys, types; sys.modules['cwboost'] = package = types.ModuleType('cwboost'); "
    program += "package.__path__ = sys.argv[1:]; import cwboost._kernels.common.cpu"
    environment = {**os.environ, "CWBOOST_INSTRUCTION_SET": "AVX2"}
    command = [sys.executable, "-c", program, HEADERS.parent]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode != 0
    assert "got 'AVX2'" in done.stderr
    assert "CWBOOST_INSTRUCTION_SET must be one of " + ", ".join(cpu.available()) in done.stderr
