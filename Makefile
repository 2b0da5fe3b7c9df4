# Two commands are enough: `make demo` and `make test`. Each sets up what it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export CMAKE_BUILD_PARALLEL_LEVEL := 2
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Debian's xeus-python is built for CPython 3.11, so the kernel runs in no other.
PYTHON := $(shell for p in python3 python3.11 /usr/bin/python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo $$p && break; done)

PINS := tests/requirements
IPYTHONS := .venv .venvs/ipython8 .venvs/ipython7
ENVIRONMENTS := $(IPYTHONS) .venvs/tensorflow
BIN := .venv/bin
# The name changes with any source, a removed one included, so that no stale wheel is ever tested.
WHEEL := build/wheel/$(shell find CMakeLists.txt pyproject.toml README.md kernel monitor magics share \
	-type f ! -name '*.so' ! -name '*.built_for' ! -path '*/__pycache__/*' 2>/dev/null | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16)
SDISTS := build/conformance/.unpacked
NATIVE := $(BIN)/.xleak build/dev/build.ninja

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- set-up ----------------------------------------------------------------------------------

.PHONY: setup
setup: $(ENVIRONMENTS:=/.pinned) $(SDISTS) ## Install Debian packages, make .venv and .venvs, install the pins

.PHONY: debian
debian:
	@$(PINS)/debian.sh
	@test -n "$(PYTHON)" || { echo "No Python 3.11 was found, and the kernel needs that one. On Debian 12: apt install python3" >&2; exit 1; }

.venv/.pinned: $(PINS)/ipython9.txt
.venvs/ipython8/.pinned: $(PINS)/ipython8.txt
.venvs/ipython7/.pinned: $(PINS)/ipython7.txt
.venvs/tensorflow/.pinned: $(PINS)/tensorflow.txt
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
pins: ## Resolve tests/requirements/*.in anew into the pinned *.txt
	@# Debian's is the oldest 3.11 about: what installs there installs in all.
	@for name in ipython9 ipython8 ipython7 tensorflow; do \
		rm -rf build/pins && /usr/bin/python3.11 -m venv build/pins; \
		build/pins/bin/pip install -qq -r $(PINS)/$$name.in; \
		{ echo "# Made from $$name.in by 'make pins'."; build/pins/bin/pip freeze --all | sed '/^pip==/d; s/+cpu$$//'; } > $(PINS)/$$name.txt; \
	done

# --- build -----------------------------------------------------------------------------------

.PHONY: build
build: .venv/.xleak native ## Build and install the package, build the native tests

$(WHEEL): | .venv/.pinned
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

# --- run -------------------------------------------------------------------------------------

.PHONY: demo
demo: .venv/.xleak ## Train a leaky notebook and say which cell kept the memory
	@$(BIN)/xleak run notebooks/leaky_training.ipynb --fail-on never \
		--format html --output build/leaky_training.html

.PHONY: bench
bench: .venv/.xleak ## Measure every claim against ipykernel and against xleak switched off
	@$(BIN)/python tests/bench/run.py

.PHONY: conformance
conformance: .venv/.xleak $(SDISTS) ## Run three test suites that others wrote on the kernel
	@$(BIN)/python tests/conformance/run.py

# --- test ------------------------------------------------------------------------------------

.PHONY: test
test: native sanitizers fuzz lint conformance pytest ## Everything that has to pass

.PHONY: pytest
pytest: $(ENVIRONMENTS:=/.xleak)
	@$(MAKE) --no-print-directory -j2 --output-sync=target pytest-kernel pytest-others

.PHONY: pytest-kernel
pytest-kernel:
	XLEAK_TENSORFLOW_PYTHON=$(CURDIR)/.venvs/tensorflow/bin/python $(BIN)/python -m pytest tests/kernel

.PHONY: pytest-others
pytest-others:
	@echo "The kernel with IPython 8; the examples of smells run with IPython 9, since what each keeps itself differs"
	XLEAK_KERNEL_PYTHON=$(CURDIR)/.venvs/ipython8/bin/python $(BIN)/python -m pytest -q tests/kernel \
		--ignore tests/kernel/test_smell_examples.py
	XLEAK_IPYTHON_PYTHONS=$$(echo $(foreach e,$(IPYTHONS),$(CURDIR)/$(e)/bin/python) | tr ' ' ':') \
		$(BIN)/python -m pytest tests --ignore tests/kernel

.PHONY: sanitizers
sanitizers: .venv/.pinned ## The native tests under the address and the thread sanitizer
	@for preset in asan tsan; do \
		cmake --preset $$preset --log-level=WARNING; \
		cmake --build --preset $$preset; ctest --preset $$preset; \
	done

# The seed is set so that a run that fails fails again; other seeds are for the long runs by hand.
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1

.PHONY: fuzz
fuzz: .venv/.pinned ## Feed the source engine and the notebook reader for a minute each
	@cmake --preset fuzz --log-level=WARNING
	@cmake --build --preset fuzz
	@for target in source notebook; do \
		mkdir -p build/fuzz/corpus/$$target; \
		build/fuzz/tests/fuzz/fuzz_$$target -seed=$(FUZZ_SEED) -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -timeout=20 \
			-artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus/$$target tests/fuzz/corpus/$$target monitor/smells 2>&1 | grep -E 'stat::|SUMMARY|ERROR|runtime error|Test unit|^Base64' ; \
	done

.PHONY: lint
lint: .venv/.xleak ## Style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror

.PHONY: format
format: .venv/.pinned ## Let ruff and clang-format rewrite the sources
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

.PHONY: docs
docs: .venv/.xleak ## Write docs/rules.md and docs/coverage.md from the folders of the smells
	@$(BIN)/python docs/make.py

.PHONY: clean
clean: ## Remove all that was built, and the environments
	rm -rf build .venv .venvs
	find magics -name '*.so' -delete -or -name '*.built_for' -delete
