#!/bin/sh
# Run the tests against the installed package, from outside the source tree:
# run_tests.sh PYTHON [arguments of pytest]
# A worker per processor; tests/conftest.py says which tests stay together.
set -eu
python=$1
shift
root=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# What the installed package was built from, so that the tests need not build it again.
export CWBOOST_DISTRIBUTIONS="$root/build/wheel"
# The workers share the processors: a thread that waits must not keep one from another worker.
export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1
"$python" - "$root" <<'END'
import pathlib, sys
import cwboost

where = pathlib.Path(cwboost.__file__).resolve()
if pathlib.Path(sys.argv[1], "cwboost").resolve() in where.parents:
    sys.exit(f"cwboost is imported from the source tree ({where}); install it without -e")
END
"$python" -m pytest -c "$root/pyproject.toml" --rootdir="$root" -n logical --dist loadfile --no-loadscope-reorder \
	"$root/tests" "$@"
