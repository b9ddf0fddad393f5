"""Build of the compiled kernels: the one place with extensions, directives and compiler flags.

Environment:
    CWBOOST_CYTHON_DEBUG=1   bounds checks and friends on (slow; for development and one CI pass)
    CWBOOST_NO_OPENMP=1      build without OpenMP even where the compiler has it
    CWBOOST_SANITIZE=LIST    build with -fsanitize=LIST, e.g. "address,undefined"
    CWBOOST_ANNOTATE=1       write Cython's annotated HTML beside the generated C
    CC, CFLAGS, LDFLAGS      the compiler and flags of its own, such as where OpenMP is on macOS

On Windows the compiler is Clang of MinGW-w64, named by CC. MSVC's cl.exe lacks the vector types of
the kernels, and GCC does not align the stack for AVX there.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Cython's code for memoryviews, which otherwise stands in every module.
SHARED = "cwboost._kernels._cyutility"
KERNELS = sorted(Path("cwboost/_kernels").rglob("*.pyx"))
SANITIZE = os.environ.get("CWBOOST_SANITIZE")
DEBUG = os.environ.get("CWBOOST_CYTHON_DEBUG", "0") == "1"
WINDOWS = sys.platform == "win32"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": not DEBUG,
    "embedsignature": True,
    # An object that threads share, such as a part of a fitted model, changes no field once made.
    "freethreading_compatible": True,
}

OPENMP_PROBE = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    int n = 0;
    #pragma omp parallel num_threads(2) reduction(+:n)
    n += 1;
    printf("%d", n);
    return n < 1 || omp_get_max_threads() < 1;
}
"""


def openmp_flags():
    """Compiler and linker flags for OpenMP, or two empty lists where a test program fails."""
    if os.environ.get("CWBOOST_NO_OPENMP") == "1":
        return [], []
    candidates = [(["-fopenmp"], ["-fopenmp"])]
    if sys.platform == "darwin":
        candidates.append((["-Xpreprocessor", "-fopenmp"], ["-lomp"]))
    compiler = shlex.split(os.environ.get("CC") or ("clang" if WINDOWS else "cc"))
    own = [shlex.split(os.environ.get(name, "")) for name in ("CFLAGS", "LDFLAGS")]
    for compile_args, link_args in candidates:
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "probe.c"), Path(folder, "probe.exe")
            source.write_text(OPENMP_PROBE)
            sources = [*own[0], *compile_args, str(source), "-o", str(program)]
            command = [*compiler, *sources, *own[1], *link_args]
            try:
                subprocess.run(command, check=True, capture_output=True)
                subprocess.run([str(program)], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            return compile_args, link_args
    print("cwboost: no working OpenMP found; building single-threaded kernels")
    return [], []


def headers_of(source):
    """Headers that a kernel includes, directly or through another: what a change rebuilds."""
    found, pending = set(), [Path(source)]
    while pending:
        text = pending.pop().read_text()
        for name in re.findall(r'(?:#include|#define CWB_BODY|cdef extern from) "([\w./]+)"', text):
            header = Path("cwboost/_kernels", name)
            if header.exists() and str(header) not in found:
                found.add(str(header))
                pending.append(header)
    return sorted(found)


def extensions():
    compile_omp, link_omp = openmp_flags()
    # -ffp-contract=off: the same sums on every processor, whichever vector width is dispatched.
    flags = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-Wno-psabi"]
    if not re.search(r"(^|\s)-g", os.environ.get("CFLAGS", "")):
        flags.append("-g0")  # Python asks for the debugger's tables: four fifths of the binaries
    if SANITIZE:
        # Checks make the code long: -O3 would take several times as long to compile.
        sanitize = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=undefined"]
        flags = [*flags, "-O1", "-g1", "-fno-omit-frame-pointer", *sanitize]
        link_omp = [*link_omp, *sanitize]
    kernels = [
        Extension(
            ".".join(path.with_suffix("").parts),
            [str(path)],
            include_dirs=[numpy.get_include(), "cwboost/_kernels"],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
            extra_compile_args=[*flags, *compile_omp],
            extra_link_args=link_omp,
            depends=headers_of(path),
        )
        for path in KERNELS
    ]
    # It runs once per argument, so that -O3 would only take longer to compile.
    shared = Extension(SHARED, [], extra_compile_args=[*flags, "-O1"], extra_link_args=link_omp)
    return [shared, *kernels]


def modules():
    """Extensions as C, or as Cython sources for commands that compile nothing."""
    if {"sdist", "egg_info", "dist_info"} & set(sys.argv):
        return extensions()
    return cythonize(
        extensions(),
        shared_utility_qualified_name=SHARED,
        nthreads=os.cpu_count(),
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        annotate=os.environ.get("CWBOOST_ANNOTATE") == "1",
    )


class build_ext_counted(build_ext):
    """Compile and link the extensions, one line of output for each."""

    def build_extensions(self):
        self.numbers = count(1)
        super().build_extensions()

    def build_extension(self, ext):
        super().build_extension(ext)
        if self.verbose:
            number, all_of_them = next(self.numbers), len(self.extensions)
            print(f"[{number:2}/{all_of_them}] Compiled {ext.name}", flush=True)


if __name__ == "__main__":  # processes of Cython import this file where they are not forked
    setup(
        ext_modules=modules(),
        cmdclass={"build_ext": build_ext_counted},
        options={
            "build_ext": {
                "parallel": os.cpu_count(),
                **({"compiler": "mingw32"} if WINDOWS else {}),
            }
        },
    )
