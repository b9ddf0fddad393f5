#!/bin/sh
# Run the tests of the kernels, and a short attack by model files, on a copy of the tree built with
# AddressSanitizer and UndefinedBehaviorSanitizer: sanitize.sh PYTHON [arguments of pytest]
# Any finding ends the process, after a report that pytest must not catch. Not run: tests that limit
# address space or compile code themselves.
set -eu
python=$1
shift
compiler=${CC:-cc}
export CWBOOST_SANITIZE="address,undefined"
copy=build/sanitize
rm -rf "$copy/site"
mkdir -p "$copy/tree" "$copy/run"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy/tree"
(cd "$copy/tree" && sh tools/build_settings.sh build/settings && sh tools/build_wheel.sh "$python")
"$python" -m pip --disable-pip-version-check install -q --no-deps --target "$copy/site" \
    "$copy"/tree/build/wheel/cwboost-*.whl

root=$(pwd)
cd "$copy/run"
# The interpreter is not instrumented: its allocations are not pooled, so that they are seen, and
# those it keeps to the end are no leaks. Unanswerable requests give NULL, as without a sanitizer.
sanitized() {
    env LD_PRELOAD="$($compiler -print-file-name=libasan.so) $($compiler -print-file-name=libubsan.so)" \
        ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1" \
        UBSAN_OPTIONS="print_stacktrace=1" \
        PYTHONPATH="$root/$copy/site" PYTHONMALLOC=malloc "$python" "$@"
}
sanitized -c 'import sys, cwboost; sys.exit("build/sanitize" not in cwboost.__file__)'
sanitized -m pytest -c "$root/pyproject.toml" --rootdir="$root" -p no:cacheprovider -q --capture=sys \
    -m 'not slow' -k 'not address_space and not compile and not emulator' \
    "$root/tests/_kernels" "$root/tests/kernels" "$root/tests/plugins" \
    "$root/tests/solvers" "$root/tests/ensemble/test_shapley.py" \
    "$root/tests/dask/test_partitions.py" "$@"
sanitized "$root/tests/support/attack.py" --times "${TIMES:-50}" --seed 0 \
    models/stump models/tree models/projection models/mixture models/third checkpoints
