#!/usr/bin/env bash
# Runs every check and test that this machine can run, and lists what was skipped and why. With CI=true, nothing may be skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=.venv/bin
export RELEVANCY_ENV_FILE=/dev/null RELEVANCY_DEMO=1 RELEVANCY_DATA_DIR="${TMPDIR:-/tmp}/relevancy-checks-$$"
# Where it is set, every process that the tests start compiles the product again, and pytest all tests in each process.
unset PYTHONDONTWRITEBYTECODE
mkdir -p "$RELEVANCY_DATA_DIR"
trap 'kill "${collecting:-}" 2>/dev/null || true; rm -rf "$RELEVANCY_DATA_DIR"' EXIT
skipped=()
step() { printf '\n== %s\n' "$1"; }

# pytest rewrites the assertions of every test module, which takes longer than all else that it does before the first test. One process
# does it here for those of all steps.
$bin/python -m pytest -q --collect-only >"$RELEVANCY_DATA_DIR/collected" 2>&1 & collecting=$!

step "lint"  # one command per line: `set -e` ignores a failure on the left of &&
$bin/ruff check .
$bin/ruff format --check .
$bin/djangofmt check templates relevancy/optional
$bin/djangofmt --check templates relevancy/optional
$bin/biome check --error-on-warnings
step "types";            $bin/mypy --num-workers 2 relevancy
step "import contracts"; $bin/lint-imports | tail -n 12
step "settings, migrations"
$bin/python manage.py check
$bin/python manage.py makemigrations --check --dry-run

wait $collecting || { cat "$RELEVANCY_DATA_DIR/collected"; exit 1; }

# They open every address with all its parameters: once, on PostgreSQL if it is there.
addresses=(tests/views/test_access_matrix.py tests/views/test_fuzzing.py tests/api/test_access_matrix.py tests/api/test_schemathesis.py)
tested=()
if initdb=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1) && [ -n "$initdb" ]; then
  # Tests without a database give the same result as in the last step. The core's tests run in a copy without the optional apps.
  step "PostgreSQL, the core without optional apps"
  bash tests/with_postgres.sh "$initdb" bash tests/core_alone.sh "${addresses[@]/#/--ignore=}" \
    -q -n 2 -p no:cacheprovider --second-database -m "not live and not browser"
  step "PostgreSQL, optional apps and every address"
  bash tests/with_postgres.sh "$initdb" $bin/python -m pytest -q -n 2 -p no:cacheprovider --second-database -m "not live" \
    relevancy/optional "${addresses[@]}"
  tested=("${addresses[@]/#/--ignore=}")
else
  skipped+=("the tests on PostgreSQL: initdb was not found (package postgresql)")
fi
command -v chromium >/dev/null || skipped+=("the browser tests: chromium was not found (package chromium)")
for engine in solr solr8 elasticsearch elasticsearch7 opensearch; do
  [ -d "tests/live/engines/$engine/target" ] || skipped+=("the tests on a real $engine: run 'make engines' first")
done
if [ "${#skipped[@]}" -gt 0 ]; then
  printf '\nSkipped: %s\n' "${skipped[@]}"
  [ "${CI:-}" != true ] || { echo "In CI, nothing may be skipped." >&2; exit 1; }
fi

step "tests"
$bin/python -m pytest -n 2 "${tested[@]}"
