# Two commands: `make demo` and `make test`. Both need Python 3.12 or later and make, nothing else.
PORT ?= 8000
VENV := .venv
PYTHON ?= $(shell for p in python3.13 python3.14 python3.12 python3; do if $$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' >/dev/null 2>&1; then echo $$p; break; fi; done)
BIN := $(VENV)/bin

.PHONY: install demo test lint engines format lock clean

install: $(VENV)/.installed

$(VENV)/.installed: requirements/dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.12 or later is needed, and none was found on the PATH." >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

lock:  ## Pin and hash every dependency again (needs uv from the package index)
	uv pip compile -q --universal --python-version 3.12 --no-header --no-annotate --generate-hashes --no-emit-index-url pyproject.toml --extra postgres -o requirements/base.txt
	uv pip compile -q --universal --python-version 3.12 --no-header --no-annotate --generate-hashes --no-emit-index-url pyproject.toml --extra postgres --group dev -o requirements/dev.txt
