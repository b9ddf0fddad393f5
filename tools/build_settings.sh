#!/bin/sh
# Record what the compiled code depends on beside its sources: build_settings.sh FILE
# The file is touched only when something changed. Old compiled code goes then, since neither
# Cython nor setuptools sees a change of flags.
set -eu
file=$1
settings=$(
    echo "CC=${CC:-} CFLAGS=${CFLAGS:-} LDFLAGS=${LDFLAGS:-}"
    echo "debug=${CWBOOST_CYTHON_DEBUG:-0} no_openmp=${CWBOOST_NO_OPENMP:-0}"
    cksum setup.py
)
if [ ! -f "$file" ] || [ "$(cat "$file")" != "$settings" ]; then
    rm -rf build/cython build/lib* build/temp*
    mkdir -p "$(dirname "$file")"
    echo "$settings" >"$file"
fi
