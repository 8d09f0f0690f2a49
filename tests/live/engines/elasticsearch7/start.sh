#!/usr/bin/env bash
# start.sh PORT DATADIR: one single-node Elasticsearch 7.17 on 127.0.0.1:PORT, in the foreground until SIGTERM or SIGINT.
# start.sh --fetch-only: only resolve the distribution and its modules.
# Env: ES7_JAVA_HOME (JDK 17 to 23, which still have a security manager; looked for), ES_HEAP (default 1g), JVM_OPTIONS, ES_UID (default 65534).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
READY=$HERE/target/ready

# Modules from the repository are bare jars: what describes them to Elasticsearch is written here.
describe() { # HOME VERSION MODULE CLASS
  cat > "$1/modules/$3/plugin-descriptor.properties" <<D
name=$3
description=$3 module
version=$2
elasticsearch.version=$2
java.version=1.8
classname=$4
D
}
if [ ! -e "$READY" ] || [ "$HERE/pom.xml" -nt "$READY" ]; then
  mvn -q -B -f "$HERE/pom.xml" process-resources
  home=$(ls -d "$HERE"/target/dist/*/elasticsearch | head -1)
  version=$(basename "$(ls "$home"/lib/elasticsearch-7*.jar)" .jar)
  version=${version#elasticsearch-}
  describe "$home" "$version" rank-eval org.elasticsearch.index.rankeval.RankEvalPlugin
  describe "$home" "$version" lang-mustache org.elasticsearch.script.mustache.MustachePlugin
  describe "$home" "$version" mapper-extras org.elasticsearch.index.mapper.MapperExtrasPlugin
  describe "$home" "$version" percolator org.elasticsearch.percolator.PercolatorPlugin
  describe "$home" "$version" aggs-matrix-stats org.elasticsearch.search.aggregations.matrix.MatrixAggregationPlugin
  # Mustache compiles templates by reflection, which the security manager must allow.
  cat > "$home/modules/lang-mustache/plugin-security.policy" <<'S'
grant {
  permission java.lang.reflect.ReflectPermission "suppressAccessChecks";
  permission java.lang.RuntimePermission "accessDeclaredMembers";
};
S
  touch "$READY"
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
ES_JAVA_HOME=${ES7_JAVA_HOME:-$("$HERE/../find_jdk.sh" 17 23)}

mkdir -p "$DATA/config" "$DATA/data" "$DATA/logs" "$DATA/tmp"
cat > "$DATA/config/elasticsearch.yml" <<Y
cluster.name: relevancy-test
node.name: node-$PORT
path.data: $DATA/data
path.logs: $DATA/logs
network.host: 127.0.0.1
http.port: $PORT
transport.port: 0
discovery.type: single-node
cluster.routing.allocation.disk.threshold_enabled: false
Y
cat > "$DATA/config/log4j2.properties" <<'L'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] %marker%m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
L
touch "$DATA/config/jvm.options"
cmd=("$ES_JAVA_HOME/bin/java" -Xms"$HEAP" -Xmx"$HEAP" ${JVM_OPTIONS:--XX:+UseG1GC} -Xss1m -XX:-OmitStackTraceInFastThrow
  -Djava.security.manager=allow --add-opens=java.base/java.io=org.elasticsearch.server --add-opens=java.base/java.io=ALL-UNNAMED
  -Djava.awt.headless=true -Dfile.encoding=UTF-8 -Djava.locale.providers=SPI,COMPAT -Djna.nosys=true
  -Djava.io.tmpdir="$DATA/tmp" -Des.networkaddress.cache.ttl=60 -Des.networkaddress.cache.negative.ttl=10
  -Dio.netty.noUnsafe=true -Dio.netty.noKeySetOptimization=true -Dio.netty.recycler.maxCapacityPerThread=0
  -Dio.netty.allocator.numDirectArenas=0 -Dlog4j.shutdownHookEnabled=false -Dlog4j2.disable.jmx=true
  -Dlog4j2.formatMsgNoLookups=true -Des.path.home="$ES_HOME" -Des.path.conf="$DATA/config"
  -Des.distribution.flavor=default -Des.distribution.type=tar -Des.bundled_jdk=false
  -cp "$ES_HOME/lib/*" org.elasticsearch.bootstrap.Elasticsearch)
unset JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS _JAVA_OPTIONS
export LIBFFI_TMPDIR="$DATA/tmp"
cd "$ES_HOME"
if [ "$(id -u)" = 0 ]; then
  chown -R "$RUN_UID:$RUN_UID" "$DATA"
  readable "$ES_HOME/lib" || {
    echo "start.sh: user $RUN_UID cannot read $DATA; use a data folder outside of private homes." >&2
    exit 1
  }
  exec setpriv --reuid="$RUN_UID" --regid="$RUN_UID" --clear-groups "${cmd[@]}"
fi
exec "${cmd[@]}"
