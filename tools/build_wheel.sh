#!/bin/sh
# Build the source distribution, and the wheel from what it holds, into build/wheel, compiling only
# what changed: build_wheel.sh PYTHON
# The wheel is built in build/tree, where the source distribution is unpacked; its build folder
# outlives the tree. The output has a line per module; the rest is in build/wheel/build.log.
set -eu
python=$1
rm -rf build/wheel build/tree.new cwboost.egg-info
mkdir -p build/wheel build/tree.new
log=$(pwd)/build/wheel/build.log

# run_build KIND FOLDER PATTERN: build a distribution, of which the folder must then have a file.
run_build() {
    PYTHONUNBUFFERED=1 "$python" -m build --no-isolation "--$1" --outdir "$2" . 2>&1 |
        while IFS= read -r line; do
            printf '%s\n' "$line" >>"$log"
            case $line in "["*) printf '%s\n' "$line" ;; esac
        done
    ls "$2"/$3 >/dev/null 2>&1 || { cat "$log" && exit 1; }
}

echo "Building the wheel"
run_build sdist build/wheel '*.tar.gz'
tar -xzf build/wheel/cwboost-*.tar.gz -C build/tree.new --strip-components 1
if [ -d build/tree/build ]; then mv build/tree/build build/tree.new/build; fi
rm -rf build/tree
mv build/tree.new build/tree

cd build/tree
# setuptools packs everything in build/lib*, so files without a source are removed first, but for
# Cython's own module, which starts with an underscore.
for library in build/lib*; do
    [ -d "$library" ] || continue
    find "$library" -type f ! -name '*.so' -exec rm -f {} +
    find "$library" -path '*/cwboost/_kernels/*.so' | while read -r binary; do
        stem=${binary#"$library"/}
        case $stem in */_kernels/_*) continue ;; esac
        [ -f "${stem%%.*}.pyx" ] || rm -f "$binary"
    done
done
rm -rf build/bdist*
run_build wheel ../wheel '*.whl'
