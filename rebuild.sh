#!/bin/bash
cd $(dirname $0)
CCACHE_BASEDIR=$PWD CC="ccache gcc" .venv-dev/bin/python -m pip install -q --no-deps --no-build-isolation -e . 2>&1 | tail -5
