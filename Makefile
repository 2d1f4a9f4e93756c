# The two main targets are `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PRODUCT := $(VENV)/.installed-product
STAMP := $(VENV)/.installed

.PHONY: setup ocr docs demo test check lint types architecture fast lock digests image containers bench eval clean

# `make setup OCR=1` adds what reads scanned pages and images: about 120 MB.
setup: $(STAMP) $(if $(OCR),ocr)

ocr: $(PRODUCT)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ocr]'

# torch goes first and alone, on Linux from the index that has it without gigabytes of CUDA. Where that cannot be reached,
# what pip is configured with must do.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH_OPTIONS := $(if $(filter Linux,$(shell uname -s)),--retries 1 --extra-index-url $(TORCH_INDEX))
$(PRODUCT): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Footnote needs Python 3.11 or newer; run: make setup PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Footnote into $(VENV): about 2 GB, two to five minutes the first time ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps $(TORCH_OPTIONS) torch
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(STAMP): $(PRODUCT)
	@echo "Installing what tests and checks need ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(PRODUCT)
	@$(BIN)/footnote demo

check: $(STAMP) lint types architecture

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

architecture: $(STAMP)
	$(BIN)/lint-imports

# Five workers: tests with real processes wait far more than they compute, even on two cores. Each file runs in one worker,
# so what its tests share starts once; tests/conftest.py sets the order. Compiled modules are kept even if the environment
# says otherwise, because hundreds of processes would each compile all of Footnote.
test: check
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q -j 0 adapters bot core
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 5 --dist loadfile --no-loadscope-reorder

# Everything that needs no embedded store and no process: seconds, not minutes.
fast: $(STAMP)
	$(BIN)/pytest -m 'not live and not e2e'

# The hashes that the image's packages are checked against; it needs uv. PyTorch and its CUDA packages are left out: the
# image takes the CPU build, which another index has.
lock:
	uv pip compile pyproject.toml --extra s3 --constraint constraints.txt --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet --output-file requirements.lock
	awk '/^[a-z]/ { skip = /^(torch|triton|nvidia-|cuda-)/ } !skip' requirements.lock > requirements.lock.new
	mv requirements.lock.new requirements.lock

# Lines for .env that pin the images of docker-compose.yml and the Dockerfile; it asks their registries.
digests:
	@for pin in PYTHON_IMAGE=python:3.11-slim $$(sed -n 's/.*image: $${\([A-Z]*_IMAGE\):-\(.*\)}/\1=\2/p' docker-compose.yml | grep -v ':local'); do \
	  digest=$$(docker buildx imagetools inspect "$${pin#*=}" --format '{{.Manifest.Digest}}') || exit 1; echo "$$pin@$$digest"; \
	done

# `make image IMAGE_OPTIONS=…` for what your engine needs beside (a mirror: --build-arg TORCH_INDEX=…).
image:
	podman build $(IMAGE_OPTIONS) -t footnote:local .

# Tests in real containers, with the last image built. They need podman and podman-compose.
containers: $(STAMP)
	$(BIN)/pytest -m containers tests/containers

bench: $(STAMP)
	$(BIN)/python -m research.benchmark

eval: $(STAMP)
	$(BIN)/python -m research.evaluation bot/samples/eval --agent --baseline bot/samples/eval/baseline.json

# The documentation as a site in site/; a link that leads nowhere, or a page that no menu names, is a failure (with
# --quiet mkdocs would count no warnings, and so find nothing).
docs: $(STAMP)
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
