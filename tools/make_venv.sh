#!/bin/sh
# Make a virtual environment from the first suitable Python: make_venv.sh FOLDER [INTERPRETER]
set -eu
folder=$1
wanted=${2:-}

fits='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'
python=
for candidate in ${wanted:-python3 python3.13 python3.12 python3.11 python3.10 python}; do
    if "$candidate" -c "$fits" >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    found=$("${wanted:-python3}" --version 2>&1 || true)
    echo "cwboost needs Python >= 3.10 with the modules venv and ensurepip (on Debian and Ubuntu:" >&2
    echo "packages python3-venv and python3-dev). '${wanted:-python3} --version' says: $found." >&2
    echo "Name another interpreter by PYTHON=/path/to/python." >&2
    exit 1
fi

header='import os, sysconfig; print(os.path.join(sysconfig.get_path("include"), "Python.h"))'
if [ ! -f "$("$python" -c "$header")" ]; then
    echo "$python has no header files; on Debian and Ubuntu they are in the package python3-dev." >&2
    exit 1
fi
compiler=${CC:-cc}
if ! command -v "${compiler%% *}" >/dev/null; then
    echo "No C compiler: '$compiler' is not on the PATH. Set CC to one that is installed." >&2
    exit 1
fi

echo "Making a virtual environment in $folder"
rm -rf "$folder/.stamps"
"$python" -m venv "$folder"
# Dependency groups (pip install --group) need pip 25.1.
"$folder/bin/python" -m pip --disable-pip-version-check install -q --no-compile --upgrade "pip>=25.1"
