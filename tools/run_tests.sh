#!/bin/sh
# Run the tests against the installed package, from outside the source tree:
# run_tests.sh PYTHON [arguments of pytest]
set -eu
python=$1
shift
root=$(pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$python" - "$root" <<'END'
import pathlib, sys
import cwboost

where = pathlib.Path(cwboost.__file__).resolve()
if pathlib.Path(sys.argv[1], "cwboost").resolve() in where.parents:
    sys.exit(f"cwboost is imported from the source tree ({where}); install it without -e")
END
"$python" -m pytest -c "$root/pyproject.toml" --rootdir="$root" "$root/tests" "$@"
