# SPDX-License-Identifier: Apache-2.0
# make demo | test | test-full | bench | lint | format; the environment in .venv is made at the first use.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := build/demo
FOLDERS := backends dialects frontends machine passes planning sim tools

# The first python3 that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: demo test test-full bench lint format links constraints clean
.DEFAULT_GOAL := test

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; set PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# A trained model on a small machine, checked against its labels; then one layer of the vision transformer at full size.
demo: $(READY)
	@mkdir -p $(DEMO)
	$(BIN)/tile-workload digits --precision f8 -o $(DEMO)/digits
	$(BIN)/tile-run $(DEMO)/digits --machine t64 --json $(DEMO)/result.json
	$(BIN)/tile-workload siglip --layers 1 --precision f8 -o $(DEMO)/siglip
	$(BIN)/tile-run $(DEMO)/siglip --machine c600 --json $(DEMO)/siglip.json

test: $(READY)
	$(BIN)/python -m pytest -n auto -m "not slow" tests
	$(BIN)/lit -q filecheck

test-full: $(READY)
	$(BIN)/python -m pytest -n auto tests
	$(BIN)/lit filecheck

bench: $(READY)
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

lint: $(READY) links
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The package's folders under their import name, for pyright.
links:
	@mkdir -p build/links/tilewright
	@for folder in $(FOLDERS); do ln -sfn ../../../$$folder build/links/tilewright/$$folder; done

# Pin what the environment has now.
constraints: $(READY)
	@{ sed -n 1p constraints.txt; $(BIN)/pip freeze --exclude-editable; } > constraints.new && mv constraints.new constraints.txt

clean:
	rm -rf build
