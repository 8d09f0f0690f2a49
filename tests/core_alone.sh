#!/usr/bin/env bash
# Proves that the core needs no optional app: in a copy without relevancy/optional/, it migrates an empty database, and its tests pass.
# Usage: tests/core_alone.sh PYTEST_OPTIONS…
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$PWD/.venv/bin/python
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
copy=$folder/core
mkdir "$copy"
if [ -d ../shared ]; then ln -s "$PWD/../shared" "$folder/shared"; fi
git ls-files -z --cached --others --exclude-standard | grep -zv '^relevancy/optional/' | xargs -0 cp -p --parents -t "$copy"
# What Python and pytest have compiled here is valid there, because the copies are as old as the originals.
find relevancy tests -name __pycache__ -not -path 'relevancy/optional/*' -print0 | xargs -0 -r cp -rp --parents -t "$copy"
cd "$copy"
git init -q && git add -A  # some tests ask git for the files
RELEVANCY_DATA_DIR=$folder/data "$python" manage.py migrate -v 0
# Whatever the options select: with --second-database, most of these tests are left to the other database.
env -u RELEVANCY_DATABASE_URL "$python" -m pytest -q -p no:cacheprovider tests/test_architecture.py
"$python" -m pytest "$@" tests --ignore tests/browser
