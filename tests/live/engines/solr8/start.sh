#!/usr/bin/env bash
# start.sh PORT HOMEDIR: one standalone Solr 8.11 with the module ltr on 127.0.0.1:PORT, in the foreground until SIGTERM.
# start.sh --fetch-only: only resolve the jars and compile the launcher.
# HOMEDIR is filled from the template of ../solr the first time; its configuration is put into the words of Solr 8, and gets the query
# parser of the module.
# Env: SOLR8_JAVA_HOME (JDK 11 to 23; looked for), SOLR_HEAP (default 1g), JVM_OPTIONS.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
JAVA_HOME=${SOLR8_JAVA_HOME:-$("$here/../find_jdk.sh" 11 23)}
export JAVA_HOME

ready="$here/target/ready"
src="$here/src/main/java/launcher/StartSolr8.java"
if [ ! -e "$ready" ] || [ "$here/pom.xml" -nt "$ready" ] || [ "$src" -nt "$ready" ]; then
  mvn -B -q -f "$here/pom.xml" process-classes dependency:build-classpath -Dmdep.outputFile="$here/target/cp.txt"
  touch "$ready"
fi
[ "${1:-}" = --fetch-only ] && exit 0

port=${1:?usage: start.sh PORT HOMEDIR}
mkdir -p "${2:?usage: start.sh PORT HOMEDIR}"
home=$(cd "$2" && pwd)
if [ ! -e "$home/solr.xml" ]; then
  cp -r "$here/../solr/home_template/." "$home/"
  sed -i -e 's|<luceneMatchVersion>.*<|<luceneMatchVersion>8.11.4<|' \
    -e 's|^</config>|  <queryParser name="ltr" class="org.apache.solr.ltr.search.LTRQParserPlugin"/>\n</config>|' \
    "$home/configsets/movies/conf/solrconfig.xml"
  # Solr 8 knows the parts of an analyzer by their classes.
  sed -i -e 's|<tokenizer name="standard"|<tokenizer class="solr.StandardTokenizerFactory"|' \
    -e 's|<filter name="lowercase"|<filter class="solr.LowerCaseFilterFactory"|' \
    -e 's|<filter name="\([a-z]\)\([A-Za-z]*\)"|<filter class="solr.\u\1\2FilterFactory"|' \
    "$home/configsets/movies/conf/managed-schema.xml"
fi
cd "$home"
exec "$JAVA_HOME/bin/java" "-Xmx${SOLR_HEAP:-1g}" ${JVM_OPTIONS:--XX:+UseG1GC} -Duser.timezone=UTC -Djava.awt.headless=true \
  -Dsolr.solr.home="$home" -Dsolr.log.dir="$home/logs" -cp "$here/target/classes:$(cat "$here/target/cp.txt")" \
  launcher.StartSolr8 "$port" "$home"
