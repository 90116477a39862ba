# Everything a newcomer needs: `make demo`, `make test`. Both set up .venv by themselves.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: install demo test test-fast lint format benchmarks figures docs clean

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

demo: install
	$(BIN)/skecoc compare --report skecoc-report.html

test: install
	$(BIN)/python -m pytest -n 2

test-fast: install
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmarks: install
	for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

figures: install
	$(BIN)/python scripts/make_figures.py

docs: install
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -M html docs docs/_build --fail-on-warning --keep-going

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist skecoc-report.html
	rm -rf docs/_build docs/gallery docs/api/generated docs/api/backreferences
