#!/usr/bin/env bash
# find_jdk.sh LOWEST HIGHEST: prints the home of the newest JDK of these versions, from JAVA_HOME, the PATH and /usr/lib/jvm.
set -euo pipefail
best=0 home=
path=$(command -v javac || true)
for dir in "${JAVA_HOME:-}" "${path:+$(dirname "$(dirname "$(readlink -f "$path")")")}" /usr/lib/jvm/*; do
  [ -n "$dir" ] && [ -x "$dir/bin/javac" ] && [ -r "$dir/release" ] || continue
  version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$dir/release")
  if [ "${version:-0}" -ge "$1" ] && [ "$version" -le "$2" ] && [ "$version" -gt "$best" ]; then
    best=$version home=$dir
  fi
done
[ -n "$home" ] || { echo "find_jdk.sh: no JDK $1 to $2 found in JAVA_HOME, on the PATH or below /usr/lib/jvm." >&2; exit 1; }
printf '%s\n' "$home"
