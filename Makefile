# make demo   the whole way on a fresh machine: virtual environment, training, logging, reports
# make test   lint, types and all tests in a virtual environment of its own
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
FRAMEWORKS ?= $(or $(TMPDIR),/tmp)/evalreport-frameworks
INSTALLED = $(VENV)/.installed

.PHONY: demo test test-servers test-frameworks lint bench coverage faults fuzz gallery clean

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all,test]'
	touch $@

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest -n 2 -q

# real servers of MLflow 2.22, 3.1, 3.6 and the newest, in environments of their own under .servers
test-servers: $(INSTALLED)
	$(BIN)/python -m tests.servers --write

bench: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks

coverage: $(INSTALLED)
	$(BIN)/python -m tests.coverage
	$(BIN)/python -m tests.comparison.simulate
	$(BIN)/python -m tests.thresholds.simulate
	$(BIN)/python -m tests.comparison.decisions

faults: $(INSTALLED)
	$(BIN)/python -m tests.faults

fuzz: $(INSTALLED)
	FUZZ_EXAMPLES=5000 $(BIN)/python -m pytest -q tests/fuzz tests/report/test_words.py

# Trainer, Lightning, Keras, boosters and frames for real, in an environment outside of the checkout (about 3 GB)
test-frameworks:
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet --editable '.[frameworks,test]'
	$(FRAMEWORKS)/bin/python -m tests.frameworks --write

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

gallery: $(INSTALLED)
	$(BIN)/python examples/gallery.py

clean:
	rm -rf $(VENV) demo-output gallery dist build
