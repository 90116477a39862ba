# Everything a newcomer needs: `make demo`, `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
OLDEST := .venv-oldest
# Errors only: places that a machine's own settings of pip name, and that do not exist, are nobody's concern here.
PIP    := -m pip install --quiet --quiet --disable-pip-version-check
# Each of two processes takes one half of the tests, then what the other has left: modules stay together. Threads of the
# libraries would only wait for one another beside two processes.
PYTEST := -m pytest -n 2 --dist worksteal
test test-nightly test-fast test-array-api test-oldest: export OMP_NUM_THREADS := 1

.PHONY: install demo test test-nightly test-fast test-array-api test-oldest lint format benchmarks results figures docs build check-install clean
.DELETE_ON_ERROR:

install: $(STAMP)

# The library and the study, which adds commands to it.
STUDY := $(wildcard study/pyproject.toml)

$(STAMP): pyproject.toml $(STUDY)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) --editable ".[dev]" $(if $(STUDY),--editable "study[all]")
	touch $@

# Our codes beside classical ones and scikit-learn's classifiers: within a minute on two cores, most of it for mixed.
demo: install
	$(BIN)/skecoc compare --report skecoc-report.html --folds 3 \
		--datasets iris wine thyroid vehicle dermatology glass ecoli vowel \
		--methods mixed wolc one-vs-one/loss-weighted one-vs-rest/loss-based dense-random/loss-based \
		sparse-random/loss-based decoc/loss-weighted sklearn/output-code sklearn/random-forest sklearn/boosting sklearn/svm

# What repeats the protection of other tests at length is left to `make test-nightly`.
test: install
	$(BIN)/python $(PYTEST) -m "not nightly"

test-nightly: install
	$(BIN)/python $(PYTEST) -m nightly

test-fast: install
	$(BIN)/python $(PYTEST) -m "not slow and not nightly"

# scikit-learn's checks with array API dispatch, which SciPy must know of before it is imported.
test-array-api: install
	SCIPY_ARRAY_API=1 $(BIN)/python $(PYTEST) -k array_api_input tests/test_classifiers.py tests/classifiers/test_growing.py tests/learners

# The fast tests with the oldest versions that pyproject.toml allows and that have wheels for this Python; tools of the
# tests are as new as these permit.
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python $(PYTEST) -m "not slow and not nightly"

$(OLDEST)/.installed: pyproject.toml
	rm -rf $(OLDEST)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(PIP) --upgrade pip uv
	$(OLDEST)/bin/uv pip compile --quiet --resolution lowest-direct --only-binary :all: --python $(OLDEST)/bin/python \
		--extra all pyproject.toml --output-file $(OLDEST)/oldest.txt
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python \
		--constraint $(OLDEST)/oldest.txt --editable ".[test]" $(if $(STUDY),--editable "study[all]")
	touch $@

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmarks: install
	for script in benchmarks/[a-z]*.py study/benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Pages, tables and figures of docs/results and study/results, and the numbers that pages quote, from the files stored there.
results: install
	$(BIN)/python scripts/make_results.py
	$(BIN)/python study/scripts/make_study_results.py

figures: install
	$(BIN)/python scripts/make_figures.py

docs: install
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -M html docs docs/_build --fail-on-warning --keep-going

# Wheel and source archive, in dist/ and study/dist/; fails if the wheel holds more than the package.
build: install
	rm -rf dist study/dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python scripts/check_wheel.py dist
	$(BIN)/python -m build --outdir study/dist study

# Both archives in environments of their own, and the commands from a folder that is not the checkout.
check-install: build
	$(BIN)/python scripts/check_install.py dist

clean:
	rm -rf $(VENV) $(OLDEST) .pytest_cache .mypy_cache .ruff_cache build dist skecoc-report.html
	rm -rf study/dist
	rm -rf docs/_build docs/gallery docs/api/generated docs/api/backreferences
