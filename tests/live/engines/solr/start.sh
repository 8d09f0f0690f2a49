#!/usr/bin/env bash
# start.sh PORT HOMEDIR: one standalone Solr on 127.0.0.1:PORT, in the foreground until SIGTERM.
# start.sh --fetch-only: only resolve the jars and compile the launcher.
# HOMEDIR is filled from home_template/ the first time. The script execs java, so SIGTERM to its pid stops Solr cleanly.
# Env: SOLR_HEAP (default 1g), SOLR_JAVA (default java, 17+), SOLR_LOG_LEVEL, SOLR_OPTS, JVM_OPTIONS, M2_REPO.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
java=${SOLR_JAVA:-java}

cp="$here/target/cp.txt"
main="$here/target/classes/launcher/StartSolr.class"
src="$here/src/main/java/launcher/StartSolr.java"
if [ ! -s "$cp" ] || [ ! -e "$main" ] || [ "$here/pom.xml" -nt "$cp" ] || [ "$src" -nt "$main" ]; then
  mvn -B -q -f "$here/pom.xml" ${M2_REPO:+-Dmaven.repo.local="$M2_REPO"} \
    process-classes dependency:build-classpath -Dmdep.outputFile="$cp"
fi
[ "${1:-}" = --fetch-only ] && exit 0

port=${1:?usage: start.sh PORT HOMEDIR}
mkdir -p "${2:?usage: start.sh PORT HOMEDIR}"
home=$(cd "$2" && pwd)
[ -e "$home/solr.xml" ] || cp -r "$here/home_template/." "$home/"
cd "$home"
exec "$java" "-Xmx${SOLR_HEAP:-1g}" ${JVM_OPTIONS:--XX:+UseG1GC} -Duser.timezone=UTC -Djava.awt.headless=true \
  -Dsolr.solr.home="$home" -Dsolr.install.dir="$home" -Dsolr.log.dir="$home/logs" \
  -Dsolr.log.level="${SOLR_LOG_LEVEL:-WARN}" ${SOLR_OPTS:-} \
  -cp "$here/target/classes:$(cat "$cp")" launcher.StartSolr "$port" "$home"
