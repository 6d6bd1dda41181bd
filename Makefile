# make demo   the whole way on a fresh machine: virtual environment, training, logging, reports
# make test   lint, types and all tests in a virtual environment of its own
# make test-fast   the tests of the core that compute and read: a minute and a half on two cores
# make test-lowest   a part of the tests on the oldest libraries that are allowed
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
FRAMEWORKS ?= $(or $(TMPDIR),/tmp)/evalreport-frameworks
USABLE = $(VENV)/.usable
INSTALLED = $(VENV)/.installed

.PHONY: demo test test-fast tests style types test-lowest test-servers test-frameworks lint bench bench-large coverage faults fuzz mutants gallery docs clean

# what a user installs
$(USABLE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[optuna]'
	touch $@

# and the tools of the tests
$(INSTALLED): $(USABLE)
	$(BIN)/python -m pip install --quiet --editable '.[all,test]'
	touch $@

lint: style types

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	nice $(BIN)/mypy

# types take half a minute of one core: they are checked where the tests wait for servers and browsers
test: style
	$(MAKE) --jobs 2 types tests

# without the variable the commands that tests start read compiled modules, a third of their time
tests: $(INSTALLED)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal -q

# the core without what starts commands by the hundred, browsers, servers, Spark or long simulations
FAST_TESTS = core data statistics metrics curves thresholds evaluation findings columns readers figures \
  test_architecture.py test_contributing.py cli/test_report.py cli/test_usage.py
test-fast: $(INSTALLED)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal -q \
	  -m "not browser and not server and not slow" $(FAST_TESTS:%=tests/%)

# the oldest releases that pyproject.toml allows, on Python 3.11 or 3.12; MLflow 2.22 and Matplotlib 3.8 need two others of their time
LOWEST = .venv-lowest
$(LOWEST)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct \
	  --editable '.[optuna]' 'sqlalchemy>=2.0.40,<2.1' 'pyparsing>=3.1,<3.3' \
	  'pytest>=9.0' 'pytest-xdist>=3.8' 'hypothesis>=6.150' 'html5lib>=1.1' 'jsonschema>=4.25'
	touch $@

# left out: what MLflow 2 has not (logged models, names of images, traces, its message about folders), references that scikit-learn 1.4 lacks or warns of
NEWER = one_model or model_that_is_gone or names_that_log_image_gives or brier or \
  ovr_macro_declared or ovr_weighted or pred_collapsed6
test-lowest: $(LOWEST)/.installed
	PYTHONDONTWRITEBYTECODE= $(LOWEST)/bin/python -m pytest -n 2 -q -m "not server and not browser" \
	  --ignore tests/tracking/test_traces.py --ignore tests/tracking/test_mlflow_client.py \
	  -k "not ($(NEWER) or cut_short or extremes)" evalreport/api evalreport/curves evalreport/intervals \
	  evalreport/metrics evalreport/columns evalreport/readers evalreport/tracking evalreport/features/studies tests/metrics/test_by_hand.py \
	  tests/metrics/test_scikit_learn.py tests/figures tests/tracking tests/readers tests/features/studies/test_studies.py \
	  tests/features/studies/test_trials.py tests/features/studies/test_luck.py tests/cli/test_log.py tests/cli/test_report.py \
	  tests/api/test_api.py tests/evaluation/test_evaluation.py tests/adapters/test_mlflow.py

# real servers of MLflow 2.22, 3.1, 3.6 and the newest, in environments of their own under .servers
test-servers: $(INSTALLED)
	$(BIN)/python -m tests.servers --write

bench: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks

# up to 100,000,000 rows and 1,000 runs (EVALREPORT_BENCH_RUNS), 4 GB, some twenty minutes; --write renews LARGE.md
bench-large: $(INSTALLED)
	$(BIN)/python -m tests.benchmarks.large

coverage: $(INSTALLED)
	$(BIN)/python -m tests.coverage
	$(BIN)/python -m tests.comparison.simulate
	$(BIN)/python -m tests.thresholds.simulate
	$(BIN)/python -m tests.comparison.decisions
	$(BIN)/python -m tests.features.systems.simulate
	$(BIN)/python -m tests.features.studies.simulate

faults: $(INSTALLED)
	$(BIN)/python -m tests.faults
	$(BIN)/python -m tests.faults.cluster

fuzz: $(INSTALLED)
	FUZZ_EXAMPLES=5000 $(BIN)/python -m pytest -q tests/fuzz tests/page/test_words.py tests/findings/test_false_alarms.py tests/findings/test_claims.py

mutants: $(INSTALLED)
	nice $(BIN)/python -m tests.mutants

# Trainer, Lightning, Keras, boosters and frames for real, in an environment outside of the checkout (about 3 GB)
test-frameworks:
	$(PYTHON) -m venv $(FRAMEWORKS)
	$(FRAMEWORKS)/bin/python -m pip install --quiet --editable '.[frameworks,test]'
	$(FRAMEWORKS)/bin/python -m tests.frameworks --write

demo: $(USABLE)
	$(BIN)/python examples/demo.py

# the documentation as web pages, docs/_build/html; what is wrong in it is an error
docs: $(USABLE)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html

gallery: $(USABLE)
	$(BIN)/python examples/gallery.py

clean:
	rm -rf $(VENV) $(LOWEST) demo-output gallery docs/_build docs/made dist build
