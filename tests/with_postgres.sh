#!/usr/bin/env bash
# with_postgres.sh INITDB COMMAND…: runs the command with RELEVANCY_DATABASE_URL set to a new PostgreSQL cluster.
set -euo pipefail
bin=$(dirname "$1"); shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/relevancy-postgres-XXXXXX")
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as=()
if [ "$(id -u)" = 0 ]; then chown postgres "$dir"; as=(runuser -u postgres --); fi
stop() { (cd / && "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1) || true; rm -rf "$dir"; }
trap stop EXIT
# Tests roll back what they write. Statistics that autovacuum takes of tables that are empty between two tests make PostgreSQL choose plans for
# empty tables in later tests: one of them took minutes.
options="-p $port -k $dir -c fsync=off -c full_page_writes=off -c autovacuum=off -c listen_addresses=127.0.0.1"
(
  cd /
  "${as[@]}" "$bin/initdb" -D "$dir/data" -U postgres -A trust -N >/dev/null
  "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -w -l "$dir/log" -o "$options" start >/dev/null
)
RELEVANCY_DATABASE_URL="postgres://postgres@127.0.0.1:$port/postgres" "$@"
