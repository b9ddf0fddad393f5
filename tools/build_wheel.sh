#!/bin/sh
# Build the wheel into build/wheel, compiling only what changed: build_wheel.sh PYTHON
# setuptools packs everything it finds in build/lib*, so what no longer has a source goes first.
set -eu
python=$1
for library in build/lib*; do
    [ -d "$library" ] || continue
    find "$library" -type f ! -name '*.so' -exec rm -f {} +
    for binary in "$library"/cwboost/_kernels/*.so; do
        stem=$(basename "$binary")
        [ -f "cwboost/_kernels/${stem%%.*}.pyx" ] || rm -f "$binary"
    done
done
rm -rf build/wheel build/bdist* cwboost.egg-info
"$python" -m pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation \
    -w build/wheel .
