#!/usr/bin/env bash
# start.sh PORT DATADIR: one single-node Elasticsearch on 127.0.0.1:PORT, in the foreground until SIGTERM or SIGINT.
# start.sh --fetch-only: only resolve the distribution.
# Env: ES_JAVA_HOME (JDK 21+; looked for), ES_HEAP (default 1g), JVM_OPTIONS, ES_UID (default 65534).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# 1. dependencies
if ! ls -d "$HERE"/target/dist/*/elasticsearch/lib >/dev/null 2>&1; then
  mvn -q -B -f "$HERE/pom.xml" generate-resources
fi
[ "${1:-}" = --fetch-only ] && exit 0

PORT=${1:?usage: start.sh PORT DATADIR}
mkdir -p "${2:?usage: start.sh PORT DATADIR}"
DATA=$(cd "$2" && pwd)
HEAP=${ES_HEAP:-1g}
RUN_UID=${ES_UID:-65534}
ES_HOME=$(ls -d "$HERE"/target/dist/*/elasticsearch | head -1)
# As root, Elasticsearch runs as another user, who may not see into a private checkout: then a copy is run.
readable() { setpriv --reuid="$RUN_UID" --regid="$RUN_UID" --clear-groups test -r "$1"; }
if [ "$(id -u)" = 0 ] && ! readable "$ES_HOME/lib"; then
  cp -r "$ES_HOME" "$DATA/dist"
  ES_HOME=$DATA/dist
fi
ES_JAVA_HOME=${ES_JAVA_HOME:-$("$HERE/../find_jdk.sh" 21 99)}

# 2. per-node config
mkdir -p "$DATA/config/jvm.options.d" "$DATA/data" "$DATA/logs" "$DATA/tmp"
cp "$ES_HOME/config/jvm.options" "$DATA/config/jvm.options"
cat > "$DATA/config/jvm.options.d/heap.options" <<J
-Xms$HEAP
-Xmx$HEAP
$(printf '%s\n' ${JVM_OPTIONS:--XX:+UseG1GC})
J
# the stock gc log line writes to the working directory, which may be read-only here
sed -i '/^-Xlog:gc/d; /UseG1GC/d; s#^-XX:ErrorFile=.*#-XX:ErrorFile='"$DATA"'/logs/hs_err_pid%p.log#' "$DATA/config/jvm.options"
cat > "$DATA/config/log4j2.properties" <<'L'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %marker%m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
L
cat > "$DATA/config/elasticsearch.yml" <<Y
cluster.name: relevancy-test
node.name: node-$PORT
path.data: $DATA/data
path.logs: $DATA/logs
network.host: 127.0.0.1
http.port: $PORT
transport.port: 0
discovery.type: single-node
xpack.security.enabled: false
cluster.routing.allocation.disk.threshold_enabled: false
Y

# 3. run: the same Java launcher the distribution's own start script calls. Elasticsearch refuses uid 0.
export ES_HOME ES_JAVA_HOME JAVA="$ES_JAVA_HOME/bin/java" JAVA_TYPE=ES_JAVA_HOME
export ES_PATH_CONF="$DATA/config" ES_TMPDIR="$DATA/tmp" ES_DISTRIBUTION_TYPE=zip
export CLI_JAVA_OPTS="-Xms4m -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
unset JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS
cmd=("$JAVA" -Xms4m -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$ES_HOME/lib/tools/server-launcher/*"
     org.elasticsearch.server.launcher.ServerLauncher)
cd "$ES_HOME"   # the launcher looks for modules/ below the working directory
if [ "$(id -u)" = 0 ]; then
  chown -R "$RUN_UID:$RUN_UID" "$DATA"
  readable "$ES_HOME/lib" || {
    echo "start.sh: user $RUN_UID cannot read $DATA; use a data folder outside of private homes." >&2
    exit 1
  }
  exec setpriv --reuid="$RUN_UID" --regid="$RUN_UID" --clear-groups "${cmd[@]}"
fi
exec "${cmd[@]}"
