#!/usr/bin/env bash
# fetch.sh: resolve the real engines of tests/live with mvn, once (about 1 GB below */target and the local repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in mvn java; do
  command -v "$tool" >/dev/null || { echo "fetch.sh: '$tool' is not on the PATH; install Maven and a JDK 21 or later." >&2; exit 2; }
done
for engine in solr elasticsearch; do
  "$here/$engine/start.sh" --fetch-only
done
