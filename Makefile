# Two commands: `make demo` and `make test`. Both need Python 3.12 or later and make, nothing else.
PORT ?= 8000
REPORT ?= var/faults.md
VENV := .venv
PYTHON ?= $(shell for p in python3.13 python3.14 python3.12 python3; do if $$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then echo $$p; break; fi; done)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: install install-tests demo test quick faults engines format lock

install: $(VENV)/.installed .env  ## The product and its dependencies, in .venv

install-tests: install $(VENV)/.installed-tests  ## The test tools as well

$(VENV)/.installed: requirements/base.txt pyproject.toml setup.py
	@test -n "$(PYTHON)" || { echo "Python 3.12 or later is required, but was not found on the PATH." >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements/base.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-tests: $(VENV)/.installed requirements/dev.txt
	$(PIP) install --require-hashes -r requirements/dev.txt
	@touch $@

# A checkout is for evaluation and development: its settings say so, with a secret key of its own.
.env:
	@umask 077; printf 'RELEVANCY_DEMO=1\nRELEVANCY_SECRET_KEY=%s\n' "$$($(PYTHON) -c 'import secrets; print(secrets.token_urlsafe(50))')" > $@

demo: install  ## The product with sample data on http://127.0.0.1:8000 (PORT=…)
	$(BIN)/relevancy demo --port $(PORT)

test: install-tests  ## Every check and test that this machine can run
	bash tests/run_all.sh

quick: install-tests  ## The tests that need no engine, browser or PostgreSQL
	$(BIN)/python -m pytest -n 2 -q -m "not live and not browser"

faults: install-tests  ## Kill and starve the processes of a site 300 times and more (half an hour; REPORT=…)
	$(BIN)/python -m tests.faults $(REPORT)

engines:  ## Fetch the real engines for the live tests (Java 21 and Maven)
	tests/live/engines/fetch.sh

format: install-tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/djangofmt check --fix templates relevancy/optional
	$(BIN)/djangofmt templates relevancy/optional
	$(BIN)/biome check --write

lock:  ## Pin every dependency with its hashes (needs uv)
	uv pip compile -q --universal --python-version 3.12 --no-header --no-annotate --generate-hashes --no-emit-index-url pyproject.toml --extra postgres --extra celery -o requirements/base.txt
	uv pip compile -q --universal --python-version 3.12 --no-header --no-annotate --generate-hashes --no-emit-index-url pyproject.toml --extra postgres --extra celery --group dev -o requirements/dev.txt
