# The two commands are `make demo` and `make test`; the rest stands behind them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup ocr demo test check lint types architecture fast bench eval clean

# `make setup OCR=1` adds what reads scanned pages and images: about 120 MB.
setup: $(STAMP) $(if $(OCR),ocr)

ocr: $(STAMP)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ocr]'

# torch goes first and alone: a resolver that sees it unpinned fetches gigabytes of CUDA packages.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Footnote needs Python 3.11 or newer; run: make setup PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned dependencies into $(VENV) (about two minutes the first time) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/footnote demo

check: $(STAMP) lint types architecture

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

architecture: $(STAMP)
	$(BIN)/lint-imports

# Three at a time: the scenes with real processes wait more than they compute, also on two cores.
test: check
	$(BIN)/pytest -n 3 --dist worksteal

# Everything that needs no embedded store and no process: seconds, not minutes.
fast: $(STAMP)
	$(BIN)/pytest -m 'not live and not e2e'

bench: $(STAMP)
	$(BIN)/footnote bench

eval: $(STAMP)
	$(BIN)/footnote eval bot/samples/eval --agent --baseline bot/samples/eval/baseline.json

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
