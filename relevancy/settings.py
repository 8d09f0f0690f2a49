"""Django settings. The only module that reads the environment; `.env.example` documents every variable."""

import base64
import contextlib
import hashlib
import ipaddress
import os
import sys
from pathlib import Path

import dj_database_url
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

PACKAGE_DIR = Path(__file__).resolve().parent
# A wheel carries templates/, static/ and docs/ inside the package (setup.py); in the repository they lie beside it.
IS_WHEEL = (PACKAGE_DIR / "templates").is_dir()
BASE_DIR = PACKAGE_DIR if IS_WHEEL else PACKAGE_DIR.parent
PREFIX = "RELEVANCY_"
INSECURE_SECRET = "insecure-development-key-never-for-production"


# The folder of `.env` and `var/`: the checkout, or the user's data folder where a wheel is installed.
HOME_DIR = BASE_DIR
if IS_WHEEL:
    HOME_DIR = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "relevancy"


def _read_env_file(path: Path) -> None:
    """Reads NAME=value lines into the environment; variables that are already set win.

    In production the site must not start without a secret key, while every command must work in a fresh clone. So `make install` writes
    such a file with a random key and `RELEVANCY_DEMO=1`; an installation without `make` does not start until it is configured.
    """
    if not path.is_file():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name, sign, value = line.partition("=")
        if not line.strip() or line.startswith("#"):
            continue
        if not sign or not name.startswith(PREFIX):
            raise ImproperlyConfigured(
                f"{path.name}, line {number}: {line!r} does not have the form RELEVANCY_NAME=value."
            )
        os.environ.setdefault(name.strip(), value.strip())


_read_env_file(Path(os.environ.get("RELEVANCY_ENV_FILE", HOME_DIR / ".env")))


def text(name: str, default: str | None = None) -> str:
    """Returns the variable RELEVANCY_<name>. Without a default, it is required."""
    value = os.environ.get(PREFIX + name, default)
    if value is None:
        raise ImproperlyConfigured(f"{PREFIX}{name} is not set. See .env.example for its meaning.")
    return value


def flag(name: str, default: bool = False) -> bool:
    """Returns a boolean variable. Raises `ImproperlyConfigured` for anything but the usual spellings."""
    value = os.environ.get(PREFIX + name, "").strip().lower()
    if value in {"", "default"}:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{PREFIX}{name} is {value!r}; write 1 or 0.")


def integer(name: str, default: int, minimum: int = 0) -> int:
    """Returns an integer variable that is at least `minimum`."""
    value = os.environ.get(PREFIX + name, "").strip()
    if not value:
        return default
    if not value.isdecimal() or int(value) < minimum:
        raise ImproperlyConfigured(f"{PREFIX}{name} is {value!r}; write an integer of at least {minimum}.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """Returns a list variable, separated by commas or whitespace."""
    return text(name, default).replace(",", " ").split()


# Any of these says that the settings are those of a real site.
REAL_SITE = ("SECRET_KEY", "CREDENTIALS_KEY", "DATABASE_URL", "ALLOWED_HOSTS", "TRUSTED_ORIGINS", "HTTPS")
IS_DEMO_COMMAND = sys.argv[1:2] == ["demo"]
_options = {word.partition("=")[0] for word in sys.argv[2:]}
IS_WITHOUT_SITE = (
    sys.argv[1:2] == ["measure"]
    or (sys.argv[1:2] == ["evaluate"] and "--url" in _options)
    or (sys.argv[1:2] == ["try_scorer"] and bool({"--measure", "--script"} & _options))
)
if (IS_DEMO_COMMAND or IS_WITHOUT_SITE) and not any(os.environ.get(PREFIX + name) for name in REAL_SITE):
    # These commands need no settings at all; the processes of `relevancy demo` inherit this one.
    os.environ.setdefault("RELEVANCY_DEMO", "1")
    if IS_WITHOUT_SITE:
        os.environ["RELEVANCY_DATABASE_URL"] = "sqlite://:memory:"  # never used; `evaluate` has a `temporary_site`

DEBUG = flag("DEBUG")
DEMO = flag("DEMO")
SECRET_KEY = text("SECRET_KEY", INSECURE_SECRET if DEBUG or DEMO else None)
if not (DEBUG or DEMO) and (SECRET_KEY == INSECURE_SECRET or len(SECRET_KEY) < 32):
    raise ImproperlyConfigured(
        "RELEVANCY_SECRET_KEY is the development key or shorter than 32 characters. "
        "Generate one: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    )
ALLOWED_HOSTS = words("ALLOWED_HOSTS", "localhost 127.0.0.1 [::1]")
CSRF_TRUSTED_ORIGINS = words("TRUSTED_ORIGINS")
HTTPS = flag("HTTPS")
if DEMO and (HTTPS or not set(ALLOWED_HOSTS) <= {"localhost", "127.0.0.1", "[::1]", "testserver"}):
    raise ImproperlyConfigured(
        "RELEVANCY_DEMO=1 is for one machine: the password of its accounts is public. Remove it, or RELEVANCY_HTTPS and the "
        "host names in RELEVANCY_ALLOWED_HOSTS."
    )

DATA_DIR = Path(text("DATA_DIR", str(HOME_DIR / "var"))).resolve()

# --- database -------------------------------------------------------------------------------------------------------

DATABASES = {
    "default": dj_database_url.parse(
        text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'relevancy.sqlite3'}"), conn_health_checks=True
    )
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    with contextlib.suppress(OSError, ValueError):  # if this fails, opening the database reports the error
        if ":" not in DATABASES["default"]["NAME"]:  # a file; SQLite creates its other files with the same permissions
            DATA_DIR.mkdir(parents=True, exist_ok=True)
            Path(DATABASES["default"]["NAME"]).touch(0o600)
    # A thread keeps its connection for a minute: opening one reads the schema again, and closing the last one writes the whole
    # WAL back, for which every writer waits.
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    # IMMEDIATE: a writer waits for the lock instead of failing when it upgrades one. WAL: readers never wait.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 10,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
        "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    from relevancy import database_pool  # needs psycopg, which SQLite does not

    _given = DATABASES["default"].get("OPTIONS", {})  # in the address, such as `?sslmode=verify-full`
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        **_given,
        # Compiling a statement takes longer than it saves: of the sums of a case with 5,000 queries, half of the time.
        "options": f"-c jit=off {_given.get('options', '')}".rstrip(),
        "pool": database_pool.options(size=integer("DATABASE_POOL", 8, 1)),
        "prepare_threshold": 1,  # of statements that `models.compiled` executes; others contain their values
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- background tasks: state lives in the database, tasks only trigger work -----------------------------------------

_BACKENDS = {
    "database": "django_tasks_db.DatabaseBackend",
    "celery": "relevancy.celery_backend.CeleryBackend",
    "immediate": "django.tasks.backends.immediate.ImmediateBackend",
}
_tasks = text("TASKS", "database")
if _tasks not in _BACKENDS:
    raise ImproperlyConfigured(f"RELEVANCY_TASKS is {_tasks!r}; it can be {', '.join(_BACKENDS)}.")
TASKS = {"default": {"BACKEND": _BACKENDS[_tasks], "QUEUES": ["default"]}}

WORKER_REQUESTS = integer("WORKER_REQUESTS", 16, 1)  # that one worker sends to an endpoint at a time
KEEP_FIELDS_RUNS = integer("KEEP_FIELDS_RUNS", 20, 1)  # newest runs of each case, plus its pinned runs

# --- e-mail ---------------------------------------------------------------------------------------------------------

SITE_URL = text("SITE_URL", "").rstrip("/")
MAIL_HOST = text("MAIL_HOST", "")
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": MAIL_HOST,
            "port": integer("MAIL_PORT", 587, 1),
            "username": text("MAIL_USER", ""),
            "password": text("MAIL_PASSWORD", ""),
            "use_tls": flag("MAIL_TLS", True),
            "timeout": 15,
        },
    }
}
if not MAIL_HOST:
    MAILERS = {"default": {"BACKEND": "django.core.mail.backends.dummy.EmailBackend"}}
DEFAULT_FROM_EMAIL = text("MAIL_FROM", "relevancy@localhost")

# --- single sign-on (OpenID Connect) ---------------------------------------------------------------------------------

OIDC_ISSUER = text("OIDC_ISSUER", "")
OIDC_NAME = text("OIDC_NAME", "single sign-on")  # as the button on the sign-in page calls it
OIDC_CLIENT_ID = text("OIDC_CLIENT_ID", "")
OIDC_CLIENT_SECRET = text("OIDC_CLIENT_SECRET", "")
OIDC_DOMAINS = [
    domain.lower() for domain in words("OIDC_DOMAINS")
]  # of addresses that get an account without invitation
OIDC_TRUST_EMAIL = flag("OIDC_TRUST_EMAIL")
# Without, users sign in with the provider only: no page and no form takes a password, or gives one out.
PASSWORD_SIGN_IN = not flag("OIDC_ONLY")
if not PASSWORD_SIGN_IN and not OIDC_ISSUER:
    raise ImproperlyConfigured(
        "RELEVANCY_OIDC_ONLY is 1, but RELEVANCY_OIDC_ISSUER is not set, so nobody could sign in."
    )
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise ImproperlyConfigured(
        "RELEVANCY_OIDC_ISSUER is set, but RELEVANCY_OIDC_CLIENT_ID is not. The provider gives you one."
    )
if OIDC_ISSUER and not OIDC_ISSUER.startswith("https://") and not (DEBUG or DEMO):
    raise ImproperlyConfigured(f"RELEVANCY_OIDC_ISSUER is {OIDC_ISSUER!r}; it must begin with https://.")

# --- endpoints ------------------------------------------------------------------------------------------------------

# Endpoints may use loopback and private addresses by default only in development and in the demo.
ENDPOINT_PRIVATE_ALLOWED = DEBUG or DEMO
ENDPOINT_HOSTS = text("ENDPOINT_HOSTS", "")


def _fernet_keys() -> list[str]:
    keys = words("CREDENTIALS_KEY")
    for number, key in enumerate(keys, 1):
        try:
            Fernet(key)
        except ValueError:
            raise ImproperlyConfigured(
                f"RELEVANCY_CREDENTIALS_KEY: key {number} of {len(keys)} is not 32 bytes in URL-safe base64. Generate one: "
                "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
            ) from None
    if keys:
        return keys
    # Derived from the secret key, so changing the secret key makes stored credentials unreadable.
    digest = hashlib.sha256(b"relevancy endpoint credentials:" + SECRET_KEY.encode()).digest()
    return [base64.urlsafe_b64encode(digest).decode()]


CREDENTIALS_KEYS = _fernet_keys()

# --- applications ---------------------------------------------------------------------------------------------------

# Optional apps are folders of relevancy/optional/; a site has all of them but those it leaves out.
_optional = sorted(path.parent.name for path in PACKAGE_DIR.glob("optional/*/apps.py"))
WITHOUT = words("WITHOUT")
if _unknown := sorted(set(WITHOUT) - set(_optional)):
    raise ImproperlyConfigured(
        f"RELEVANCY_WITHOUT names {_unknown[0]!r}, which is not an optional app. There are: {', '.join(_optional) or 'none'}."
    )
INSTALLED_APPS = [
    "relevancy.apps.RelevancyConfig",
    "relevancy.admin_site.AdministrationConfig",  # django.contrib.admin
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "relevancy.static_files.CollectedFilesConfig",  # django.contrib.staticfiles
    "django_ace",
    "django_htmx",
    "django_tasks_db",
    "corsheaders",
    "ninja",
    *(f"relevancy.optional.{name}" for name in _optional if name not in WITHOUT),
]
if OIDC_ISSUER and "relevancy.optional.single_sign_on" not in INSTALLED_APPS:
    raise ImproperlyConfigured(
        "RELEVANCY_OIDC_ISSUER is set, but RELEVANCY_WITHOUT leaves out single_sign_on, which signs users in there. Change one of them."
    )
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "relevancy.views.middleware.record_requests",
    "relevancy.views.middleware.limit_caches",
    "relevancy.api.problems.problem_details",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "relevancy.views.uploads.limit_uploads",
    "relevancy.views.middleware.refuse_addresses",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "relevancy.views.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "relevancy.views.middleware.UnavailableMiddleware",
]
if _tasks == "celery":
    INSTALLED_APPS.append("django_tasks_fennel")
    # No result backend: state lives in the database, and nothing reads the results of tasks.
    CELERY_BROKER_URL = text("BROKER_URL")
    CELERY_WORKER_PREFETCH_MULTIPLIER = (
        1  # a worker that searches must not keep the tasks that other workers could begin
    )
    CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
    CELERY_WORKER_HIJACK_ROOT_LOGGER = CELERY_WORKER_REDIRECT_STDOUTS = False  # its lines have the form of all others
ROOT_URLCONF = "relevancy.urls"
WSGI_APPLICATION = "relevancy.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["relevancy.template_loaders.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "relevancy.views.context.page",
            ],
            "builtins": ["relevancy.templatetags.relevancy", "django.templatetags.static"],
        },
    }
]

# --- accounts -------------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "relevancy.User"
AUTHENTICATION_BACKENDS = ["relevancy.accounts.LimitedBackend"]
# The first one hashes; the others check older hashes, which are replaced when their users sign in.
PASSWORD_HASHERS = ["relevancy.accounts.LimitedArgon2Hasher", "relevancy.accounts.LimitedHasher"]
PASSWORD_RESET_TIMEOUT = 24 * 3600  # seconds that a link for a new password is valid
SESSION_ENGINE = "relevancy.accounts.sessions"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
AUTH_PASSWORD_VALIDATORS.append({"NAME": "relevancy.accounts.MaximumLengthValidator"})
# Anyone who has the link of an invitation can create an account with it.
INVITED_SIGN_UP = flag("INVITED_SIGN_UP", True)
# Anyone who reaches the site can create an account, which belongs to no team.
OPEN_SIGN_UP = flag("OPEN_SIGN_UP")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# --- REST API -------------------------------------------------------------------------------------------------------

API_PER_MINUTE = integer("API_PER_MINUTE", 600)  # requests of a token, per web process; 0: no limit
# Pages of other sites may use the API, with a token, only if they are named. Cookies are never accepted.
CORS_ALLOWED_ORIGINS = words("API_ORIGINS")
CORS_URLS_REGEX = r"^/api/"
CORS_EXPOSE_HEADERS = ["ETag", "Location", "Retry-After", "X-Request-ID"]

# --- browser --------------------------------------------------------------------------------------------------------

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:", "blob:", "https:", "http:"],  # images of search results come from any host
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "worker-src": [CSP.SELF, "blob:"],
    "base-uri": [CSP.NONE],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
# Proxies in front of the site: the last entries of X-Forwarded-For are theirs, the one before is the client's address.
PROXIES = integer("PROXIES", int(HTTPS))
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
WEB_THREADS = integer("WEB_THREADS", 4, 1)  # requests that a web process works on at the same time
# Of these, those that may wait for a search engine, read a file or run scripts: at most half, so that others are always answered.
SLOW_THREADS = min(integer("SLOW_THREADS", WEB_THREADS, 1), max(1, WEB_THREADS // 2))
FILE_UPLOAD_HANDLERS = [
    "relevancy.views.uploads.SlowUploadHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
MAX_REQUEST_SIZE = 64 * 1024 * 1024  # bytes; a file of 50 MB with the other fields of its form fits
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024  # 10,000 pasted queries of 1,000 bytes fit
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

STATIC_URL = "static/"
STATIC_ROOT = Path(text("STATIC_DIR", str(DATA_DIR / "collected")))
STATICFILES_DIRS = [BASE_DIR / "static", ("guides", BASE_DIR / "docs" / "img")]  # the pictures of the guides
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "relevancy.static_files.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "relevancy.static_files.CompressedStaticFiles"
    },
}

LANGUAGE_CODE = "en"
TIME_ZONE = text("TIME_ZONE", "UTC")
USE_TZ = True

# --- metrics for Prometheus ------------------------------------------------------------------------------------------

METRICS_TOKEN = text("METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise ImproperlyConfigured(
        "RELEVANCY_METRICS_TOKEN is shorter than 16 characters. Use a random text, such as 32 hex digits."
    )
METRICS_ADDRESSES = words("METRICS_ADDRESSES")
METRICS_DIR = DATA_DIR / "metrics"  # what processes count, in files that change all the time: no part of a backup
for _address in METRICS_ADDRESSES:
    try:
        ipaddress.ip_network(_address)
    except ValueError as _error:
        raise ImproperlyConfigured(f"RELEVANCY_METRICS_ADDRESSES: {_error}.") from None

# --- log ------------------------------------------------------------------------------------------------------------

_FORMATTERS = {"text": "relevancy.logs.TextFormatter", "json": "relevancy.logs.JSONFormatter"}
_log = text("LOG", "text")
if _log not in _FORMATTERS:
    raise ImproperlyConfigured(f"RELEVANCY_LOG is {_log!r}; it can be {', '.join(_FORMATTERS)}.")
_level = text("LOG_LEVEL", "WARNING" if DEMO else "INFO").upper()  # a demo shares its terminal with the log
if _level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    raise ImproperlyConfigured(f"RELEVANCY_LOG_LEVEL is {_level!r}; it can be DEBUG, INFO, WARNING, ERROR.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": _FORMATTERS[_log]}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "relevancy": {"level": _level},
        "django": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},  # all other requests have a line of `relevancy.requests`
        "django.tasks": {"level": "CRITICAL"},  # all tasks have a line of `relevancy.tasks`
    },
}
