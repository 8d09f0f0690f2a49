"""Every setting of the site. The only module that reads the environment; `.env.example` lists every variable it reads."""

import base64
import contextlib
import hashlib
import os
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP

BASE_DIR = Path(__file__).resolve().parent.parent
PREFIX = "RELEVANCY_"
INSECURE_SECRET = "insecure-development-key-never-for-production"


def _read_env_file(path: Path) -> None:
    """NAME=value lines; what the environment already says wins. `make install` writes one for a development checkout."""
    if not path.is_file():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        name, sign, value = line.partition("=")
        if not line.strip() or line.startswith("#"):
            continue
        if not sign or not name.startswith(PREFIX):
            raise ImproperlyConfigured(f"{path.name}, line {number}: {line!r} is not of the form RELEVANCY_NAME=value.")
        os.environ.setdefault(name.strip(), value.strip())


_read_env_file(Path(os.environ.get("RELEVANCY_ENV_FILE", BASE_DIR / ".env")))


def text(name: str, default: str | None = None) -> str:
    """The variable RELEVANCY_<name>; without a default it must be there."""
    value = os.environ.get(PREFIX + name, default)
    if value is None:
        raise ImproperlyConfigured(f"{PREFIX}{name} is not set. See .env.example for what belongs there.")
    return value


def flag(name: str, default: bool = False) -> bool:
    """A yes/no variable; anything but the usual spellings is an error that names the variable."""
    value = os.environ.get(PREFIX + name, "").strip().lower()
    if value in {"", "default"}:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{PREFIX}{name} is {value!r}; write 1 or 0.")


def whole(name: str, default: int, lowest: int = 0) -> int:
    """A whole number at or above `lowest`."""
    value = os.environ.get(PREFIX + name, "").strip()
    if not value:
        return default
    if not value.isdecimal() or int(value) < lowest:
        raise ImproperlyConfigured(f"{PREFIX}{name} is {value!r}; write a whole number from {lowest} on.")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """A list, separated by commas or white space."""
    return text(name, default).replace(",", " ").split()


DEBUG = flag("DEBUG")
DEMO = flag("DEMO")
SECRET_KEY = text("SECRET_KEY", INSECURE_SECRET if DEBUG or DEMO else None)
if not (DEBUG or DEMO) and (SECRET_KEY == INSECURE_SECRET or len(SECRET_KEY) < 32):
    raise ImproperlyConfigured(
        "RELEVANCY_SECRET_KEY is the development key or shorter than 32 characters. "
        "Make one: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    )
ALLOWED_HOSTS = words("ALLOWED_HOSTS", "localhost 127.0.0.1 [::1]")
CSRF_TRUSTED_ORIGINS = words("TRUSTED_ORIGINS")
HTTPS = flag("HTTPS")

DATA_DIR = Path(text("DATA_DIR", str(BASE_DIR / "var"))).resolve()

# --- database -------------------------------------------------------------------------------------------------------

DATABASES = {"default": dj_database_url.parse(text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'relevancy.sqlite3'}"))}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    with contextlib.suppress(OSError):  # where it cannot be made, opening the database says so
        DATA_DIR.mkdir(parents=True, exist_ok=True)
    # IMMEDIATE: a writer waits for its turn instead of failing on a lock upgrade. WAL: readers never wait.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;"
        "PRAGMA journal_size_limit=27103364;PRAGMA cache_size=-20000",
    }
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["OPTIONS"] = {"pool": {"min_size": 0, "max_size": whole("DATABASE_POOL", 8, 1), "timeout": 20}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- background tasks: the row is the truth, a task only wakes -------------------------------------------------------

_BACKENDS = {
    "database": "django_tasks_db.DatabaseBackend",
    "celery": "django_tasks_fennel.CeleryBackend",
    "immediate": "django.tasks.backends.immediate.ImmediateBackend",
}
_tasks = text("TASKS", "database")
if _tasks not in _BACKENDS:
    raise ImproperlyConfigured(f"RELEVANCY_TASKS is {_tasks!r}; it can be {', '.join(_BACKENDS)}.")
TASKS = {"default": {"BACKEND": _BACKENDS[_tasks], "QUEUES": ["default"]}}

KEEP_FIELDS_RUNS = whole("KEEP_FIELDS_RUNS", 20, 1)  # of a case, and its pinned ones

# --- endpoints ------------------------------------------------------------------------------------------------------

# Loopback and private addresses are open by default only where a developer or a newcomer runs everything on one machine.
ENDPOINT_PRIVATE_ALLOWED = DEBUG or DEMO
ENDPOINT_HOSTS = text("ENDPOINT_HOSTS", "")


def _fernet_keys() -> list[str]:
    keys = words("CREDENTIALS_KEY")
    if keys:
        return keys
    # Without keys of their own, credentials are tied to the secret key: changing that one loses them.
    digest = hashlib.sha256(b"relevancy endpoint credentials:" + SECRET_KEY.encode()).digest()
    return [base64.urlsafe_b64encode(digest).decode()]


CREDENTIALS_KEYS = _fernet_keys()

# --- what is installed ----------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "relevancy.apps.RelevancyConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_ace",
    "django_htmx",
    "django_tasks_db",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "relevancy.views.middleware.SignInFirst",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "relevancy.views.middleware.vary_on_htmx",
]
if _tasks == "celery":
    INSTALLED_APPS.append("django_tasks_fennel")
    # No result backend: the rows are the truth, and nobody asks a task for its result.
    CELERY_BROKER_URL = text("BROKER_URL")
    CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
ROOT_URLCONF = "relevancy.urls"
WSGI_APPLICATION = "relevancy.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
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
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

# --- browser --------------------------------------------------------------------------------------------------------

SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:", "blob:", "https:", "http:"],  # pictures of results come from anywhere
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
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
DATA_UPLOAD_MAX_MEMORY_SIZE = 12 * 1024 * 1024  # 10,000 pasted queries of 1,000 bytes fit
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

STATIC_URL = "static/"
STATIC_ROOT = Path(text("STATIC_DIR", str(DATA_DIR / "collected")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

LANGUAGE_CODE = "en"
TIME_ZONE = text("TIME_ZONE", "UTC")
USE_TZ = True
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"relevancy": {"level": "INFO"}, "django": {"level": "WARNING"}},
}
