# Commands for developers and CI. They need Python >= 3.10, a C compiler and PyPI.
#
#   PYTHON=...   interpreter for the virtual environment (default: the first suitable one)
#   VENV=...     folder of the virtual environment (default: .venv in the checkout)
#   ARGS=...     additional arguments of pytest, asv or cwboost demo

SHELL := /bin/sh
VENV ?= .venv
ARGS ?=
BIN := $(abspath $(VENV))/bin
STAMPS := $(VENV)/.stamps
# Python compiles a module when it is first imported: to compile all takes longer than to install.
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install -q --no-compile

# The list includes directories, whose time changes when a file is added or removed.
SOURCES := $(shell find cwboost plugins \
	-name __pycache__ -prune -o ! -name '*.so' ! -name '*.pyc' -print)

C_SOURCES := $(shell find cwboost tests asv_bench -name '*.[ch]')

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-aarch64 attack sanitize bench compare publish dashboard docs linkcheck lint format clean FORCE

help:
	@echo 'make demo          train on the bundled data, print a table, write a figure'
	@echo 'make test          build a wheel, install it and run the whole suite against it'
	@echo 'make test-fast     the same without the tests marked slow'
	@echo 'make test-aarch64  the kernels for AArch64 under an emulator'
	@echo 'make attack [ATTACKS="lines allocations"] [TIMES=N]   mutated files, and faults of fits'
	@echo 'make sanitize      the tests of the kernels under AddressSanitizer and UBSan'
	@echo 'make lint          ruff, mypy, pyright, cython-lint and clang-format; make format rewrites what they can'
	@echo 'make docs          the HTML pages, in docs/_build/html; make linkcheck asks other sites too'
	@echo 'make bench         every benchmark once, quickly; fails when one raises'
	@echo 'make compare [BASE=REV]  counts and times of HEAD against those of its parent, or of REV'
	@echo 'make publish       the stored benchmarks of the history as HTML, which make docs links'
	@echo 'make dashboard [COMMITS="REV ..."]   the same, with HEAD and other commits measured first'
	@echo 'make clean         remove everything that make made, the environment included'

# The environment and its packages, one stamp file per set of packages.

$(STAMPS)/venv: tools/make_venv.sh
	@sh tools/make_venv.sh '$(VENV)' '$(PYTHON)'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build: $(STAMPS)/venv pyproject.toml
	@echo 'Installing the tools of the build'
	@$(INSTALL) --group build
	@touch $@

$(STAMPS)/test: $(STAMPS)/package pyproject.toml
	@echo 'Installing what the tests need'
	@$(INSTALL) "$$(ls build/wheel/cwboost-*.whl)[test]"
	@touch $@

$(STAMPS)/lint $(STAMPS)/docs $(STAMPS)/bench: $(STAMPS)/%: $(STAMPS)/venv pyproject.toml
	@echo 'Installing what make $* needs'
	@$(INSTALL) --group $*
	@touch $@

# The package, installed as a wheel, so that the tests notice a file that the wheel lacks.

build/settings: FORCE
	@sh tools/build_settings.sh $@

$(STAMPS)/package: $(STAMPS)/build build/settings $(SOURCES) setup.py README.md LICENSE
	@sh tools/build_wheel.sh $(BIN)/python
	@echo 'Installing the wheel and what it needs'
	@$(INSTALL) --force-reinstall --no-deps build/wheel/cwboost-*.whl
	@$(INSTALL) "$$(ls build/wheel/cwboost-*.whl)[reporting]"
	@touch $@

# Targets

demo: $(STAMPS)/package
	@$(BIN)/cwboost demo $(ARGS)

test: $(STAMPS)/test
	sh tools/run_tests.sh $(BIN)/python $(ARGS)

test-fast: $(STAMPS)/test
	sh tools/run_tests.sh $(BIN)/python -m 'not slow' $(ARGS)

# The kernels for AArch64, cross-compiled and run under an emulator: the same bits as here.
test-aarch64: $(STAMPS)/test
	@command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64 || \
		{ echo 'make test-aarch64 needs gcc-aarch64-linux-gnu and qemu-user'; exit 2; }
	sh tools/run_tests.sh $(BIN)/python -k emulator $(ARGS)

# tests/support/attack.py says what can be attacked. Every allocation and line: TIMES=1000000.
ATTACKS ?= models checkpoints
TIMES ?= 50000
attack: $(STAMPS)/test
	$(BIN)/python tests/support/attack.py --times $(TIMES) $(ARGS) $(ATTACKS)

# A copy of the tree is built with the sanitizers; the environment lends the other packages.
sanitize: $(STAMPS)/test
	sh tools/sanitize.sh $(BIN)/python $(ARGS)

lint: $(STAMPS)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict tests/support/typed_program.py
	$(BIN)/pyright --pythonpath $(BIN)/python tests/support/typed_program.py
	for template in plugins/templates/*/; do (cd $$template && MYPYPATH='$(CURDIR)' \
		$(BIN)/mypy --config-file ../pyproject.toml --cache-dir '$(CURDIR)/.mypy_cache' --follow-imports silent --no-namespace-packages src) || exit; done
	find cwboost plugins \( -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi' \) \
		-exec env PATH="$(BIN):$$PATH" cython-lint {} +
	$(BIN)/clang-format --dry-run -Werror $(C_SOURCES)

format: $(STAMPS)/lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_SOURCES)

docs: $(STAMPS)/docs $(STAMPS)/package
	$(BIN)/sphinx-build -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python tools/check_links.py docs/_build/html

# Links to other sites as well; needs a network.
linkcheck: $(STAMPS)/docs $(STAMPS)/package
	$(BIN)/sphinx-build -W --keep-going -b linkcheck -d docs/_build/doctrees docs docs/_build/links

bench: $(STAMPS)/bench $(STAMPS)/package
	$(BIN)/python asv_bench/run.py quick $(ARGS)

BASE ?= HEAD^
compare: $(STAMPS)/package
	$(BIN)/python asv_bench/compare.py '$(BASE)' $(ARGS)

publish: $(STAMPS)/bench
	$(BIN)/python asv_bench/run.py publish

dashboard: $(STAMPS)/bench
	$(BIN)/python asv_bench/run.py dashboard $(COMMITS) $(ARGS)

clean:
	rm -rf build dist .asv docs/_build docs/gallery docs/generated cwboost.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis '$(VENV)'
	find cwboost plugins tests asv_bench -name __pycache__ -prune -exec rm -rf {} +
