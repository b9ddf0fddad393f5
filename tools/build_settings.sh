#!/bin/sh
# Record the settings that the compiled code depends on besides its sources: build_settings.sh FILE
# If a setting changed, the file is rewritten and old compiled code is removed, since neither Cython
# nor setuptools detects a change of flags.
set -eu
file=$1
settings=$(
    echo "CC=${CC:-} CFLAGS=${CFLAGS:-} LDFLAGS=${LDFLAGS:-}"
    echo "debug=${CWBOOST_CYTHON_DEBUG:-0} no_openmp=${CWBOOST_NO_OPENMP:-0}"
    echo "sanitize=${CWBOOST_SANITIZE:-}"
    cksum setup.py
)
if [ ! -f "$file" ] || [ "$(cat "$file")" != "$settings" ]; then
    rm -rf build/tree/build
    mkdir -p "$(dirname "$file")"
    echo "$settings" >"$file"
fi
