#!/usr/bin/env bash
# start.sh PORT DATADIR: one single-node OpenSearch on 127.0.0.1:PORT, in the foreground until SIGTERM.
# start.sh --fetch-only: only resolve the jars and compile the launcher.
# Env: OS_JAVA_HOME (JDK 21+; looked for), OS_HEAP (default 1g), JVM_OPTIONS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
JAVA_HOME=${OS_JAVA_HOME:-$("$here/../find_jdk.sh" 21 99)}
export JAVA_HOME

ready="$here/target/ready"
src="$here/src/main/java/launcher/Main.java"
if [ ! -e "$ready" ] || [ "$here/pom.xml" -nt "$ready" ] || [ "$src" -nt "$ready" ]; then
  mvn -q -B -f "$here/pom.xml" compile
  touch "$ready"
fi
[ "${1:-}" = --fetch-only ] && exit 0

port=${1:?usage: start.sh PORT DATADIR}
mkdir -p "${2:?usage: start.sh PORT DATADIR}"
data=$(cd "$2" && pwd)
mkdir -p "$data/config" "$data/logs" "$data/tmp"
cat > "$data/config/log4j2.properties" <<'L'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %marker%m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
L
exec "$JAVA_HOME/bin/java" -Xms"${OS_HEAP:-1g}" -Xmx"${OS_HEAP:-1g}" ${JVM_OPTIONS:--XX:+UseG1GC} -Djava.io.tmpdir="$data/tmp" \
  --add-opens=java.base/java.nio.file=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
  --add-opens=java.base/java.lang=ALL-UNNAMED --enable-native-access=ALL-UNNAMED --add-modules=jdk.incubator.vector \
  -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true -Dio.netty.noUnsafe=true \
  -cp "$here/target/classes:$here/target/lib/*" launcher.Main "$port" "$data"
