#!/usr/bin/env bash
# fetch.sh: resolve the real engines of tests/live with mvn, once (about 1.5 GB below */target and the local repository).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in mvn java; do
  command -v "$tool" >/dev/null || { echo "fetch.sh: '$tool' is not on the PATH; install Maven, a JDK 17 and a JDK 21 or later." >&2; exit 2; }
done
# Elasticsearch 7.17 needs a Java that still has a security manager, the others a newer one.
"$here/find_jdk.sh" 17 23 >/dev/null
"$here/find_jdk.sh" 21 99 >/dev/null
for engine in solr solr8 elasticsearch elasticsearch7 opensearch; do
  "$here/$engine/start.sh" --fetch-only
done
