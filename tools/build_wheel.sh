#!/bin/sh
# Build the source distribution, and the wheel from what it holds, into build/wheel, compiling only
# what changed: build_wheel.sh PYTHON
# The wheel is built in build/tree, where the source distribution is unpacked; its build folder
# outlives the tree. The compiler's messages are in build/wheel/build.log.
set -eu
python=$1
rm -rf build/wheel build/tree.new cwboost.egg-info
mkdir -p build/wheel build/tree.new
log=$(pwd)/build/wheel/build.log

run_build() {
    "$python" -m build --no-isolation --outdir "$@" >>"$log" 2>&1 || { cat "$log" && exit 1; }
}

run_build build/wheel --sdist .
tar -xzf build/wheel/cwboost-*.tar.gz -C build/tree.new --strip-components 1
if [ -d build/tree/build ]; then mv build/tree/build build/tree.new/build; fi
rm -rf build/tree
mv build/tree.new build/tree

cd build/tree
# setuptools packs everything in build/lib*, so files without a source are removed first.
for library in build/lib*; do
    [ -d "$library" ] || continue
    find "$library" -type f ! -name '*.so' -exec rm -f {} +
    find "$library" -path '*/cwboost/_kernels/*.so' | while read -r binary; do
        stem=${binary#"$library"/}
        [ -f "${stem%%.*}.pyx" ] || rm -f "$binary"
    done
done
rm -rf build/bdist*
run_build ../wheel --wheel .
