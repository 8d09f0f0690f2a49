# The image of both processes: its default command is the web server; `relevancy worker` is the other one. Building needs no secret.
FROM python:3.13-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=relevancy.settings \
    RELEVANCY_ENV_FILE=/dev/null \
    RELEVANCY_DATA_DIR=/srv/relevancy \
    RELEVANCY_STATIC_DIR=/app/collected

RUN useradd --system --uid 10001 --user-group --home-dir /srv/relevancy --create-home --shell /usr/sbin/nologin relevancy

# `relevancy backup` needs a pg_dump that is at least as new as the server of docker-compose.yml, which Debian does not have.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install --yes --no-install-recommends postgresql-client-18 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# Dependencies rarely change, so most builds reuse this layer.
COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore --require-hashes -r requirements/base.txt

COPY pyproject.toml setup.py README.md manage.py ./
COPY relevancy relevancy
COPY templates templates
COPY static static
COPY docs docs
# Editable, so that the image holds one copy of the templates and static files.
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action ignore --no-deps --no-build-isolation -e .

# Demo settings need no secret key. They hash and compress static files as production does.
RUN RELEVANCY_DEMO=1 RELEVANCY_DATA_DIR=/tmp/build relevancy collectstatic --noinput && rm -r /tmp/build

USER relevancy
VOLUME /srv/relevancy
EXPOSE 8000

# A healthy server may also answer 400 (127.0.0.1 is not an allowed host) or 301 (redirect to HTTPS).
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client as h, sys; c = h.HTTPConnection('127.0.0.1', 8000, timeout=4); c.request('GET', '/healthz'); sys.exit(c.getresponse().status >= 500)"]

CMD ["granian", "--interface", "asginl", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--respawn-failed-workers", "--respawn-interval", "1", "--workers-kill-timeout", "5", "--http", "1", "--no-ws", "--backpressure", "2048", "--http1-header-read-timeout", "15000", "--log-level", "warning", "relevancy.asgi:application"]
