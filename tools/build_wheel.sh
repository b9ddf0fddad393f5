#!/bin/sh
# Build the wheel into build/wheel, compiling only what changed: build_wheel.sh PYTHON
# setuptools packs everything in build/lib*, so files without a source are removed first.
set -eu
python=$1
for library in build/lib*; do
    [ -d "$library" ] || continue
    find "$library" -type f ! -name '*.so' -exec rm -f {} +
    find "$library" -path '*/cwboost/_kernels/*.so' | while read -r binary; do
        stem=${binary#"$library"/}
        [ -f "${stem%%.*}.pyx" ] || rm -f "$binary"
    done
done
rm -rf build/wheel build/bdist* cwboost.egg-info
"$python" -m pip --disable-pip-version-check wheel -q --no-deps --no-build-isolation \
    -w build/wheel .
