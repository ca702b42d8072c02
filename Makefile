# Every target sets up what it needs in .venv; Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One worker per core: the kernels are compiled once and cached before the workers start.
WORKERS ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: help demo test test-slow test-lowest lint format docs pictures bench power reproduce coverage clean

help:
	@echo "make demo         run covary on a real table: writes a page and a picture"
	@echo "make test         run the tests"
	@echo "make test-slow    run the statistical tests that take minutes"
	@echo "make test-lowest  run the tests with the lowest allowed versions of all packages"
	@echo "make lint         run ruff and mypy"
	@echo "make docs         build the documentation in docs/_build/html"
	@echo "make pictures     draw the pictures of README and docs; some need chromium"
	@echo "make bench        measure time, growth and memory, with ratios to other libraries"
	@echo "make power        measure the power of covary and other tests: half an hour"
	@echo "make reproduce    run the experiments of the paper, DATA=folder of tables: 2.6 hours"
	@echo "make coverage     measure the test coverage, including kernels"

$(VENV)/.pip: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

$(VENV)/.covary: $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.%: $(VENV)/.covary
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

demo: $(VENV)/.report
	$(BIN)/covary demo
	@echo "(covary is installed as $(BIN)/covary)"

$(VENV)/.report: $(VENV)/.covary
	$(BIN)/python -m pip install --quiet --editable ".[report]"
	@touch $@

test: $(VENV)/.test
	$(BIN)/python -m covary.kernels
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow

test-lowest: $(VENV)/.pip
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct \
		--group test --editable .
	.venv-lowest/bin/python -m covary.kernels
	# The checks of scikit-learn 1.6 need this if array_api_compat is installed.
	SCIPY_ARRAY_API=1 .venv-lowest/bin/python -m pytest -n $(WORKERS) -m "not slow"

lint: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(VENV)/.report $(VENV)/.test
	$(BIN)/python docs/pictures.py

bench: $(VENV)/.covary
	@$(BIN)/python -m pip install --quiet --editable ".[bench]" || \
		echo "some libraries cannot be installed here: the results say which"
	$(BIN)/python -m benchmarks $(ARGS)

power: $(VENV)/.covary
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.power --figure docs/_static/power.svg $(ARGS)

reproduce: $(VENV)/.report
	$(BIN)/covary reproduce all --output docs/reproduction $(if $(DATA),--data $(DATA)) $(ARGS)

coverage: $(VENV)/.test
	$(BIN)/python -m pip install --quiet coverage
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m "not slow"
	$(BIN)/coverage report --skip-covered --show-missing

clean:
	rm -rf $(VENV) .venv-lowest docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
