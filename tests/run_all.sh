#!/usr/bin/env bash
# Every check and test that this machine can run, and what was left out and why. With CI=true nothing may be left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=.venv/bin
export RELEVANCY_ENV_FILE=/dev/null RELEVANCY_DEMO=1 RELEVANCY_DATA_DIR="${TMPDIR:-/tmp}/relevancy-checks-$$"
mkdir -p "$RELEVANCY_DATA_DIR"
trap 'rm -rf "$RELEVANCY_DATA_DIR"' EXIT
left_out=()
step() { printf '\n== %s\n' "$1"; }

step "lint";             $bin/ruff check . && $bin/ruff format --check .
step "types";            $bin/mypy relevancy
step "import contracts"; $bin/lint-imports | tail -n 12
step "settings, migrations"
$bin/python manage.py check
$bin/python manage.py makemigrations --check --dry-run

if initdb=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -n 1) && [ -n "$initdb" ]; then
  step "PostgreSQL"
  bash tests/with_postgres.sh "$initdb" $bin/python -m pytest -q -n 2 -p no:cacheprovider -m "not live and not browser" \
    tests/models tests/evaluation tests/judging tests/cases tests/transfer tests/views tests/test_tasks.py
else
  left_out+=("the tests on PostgreSQL: initdb was not found (package postgresql)")
fi
command -v chromium >/dev/null || left_out+=("the browser tests: chromium was not found (package chromium)")
for engine in solr elasticsearch elasticsearch7 opensearch; do
  [ -d "tests/live/engines/$engine/target" ] || left_out+=("the tests on a real $engine: run 'make engines' first")
done
if [ "${#left_out[@]}" -gt 0 ]; then
  printf '\nLeft out: %s\n' "${left_out[@]}"
  [ "${CI:-}" != true ] || { echo "In CI nothing may be left out." >&2; exit 1; }
fi

step "tests"
$bin/python -m pytest -n 2
