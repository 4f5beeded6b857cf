"""The only settings file; what differs between machines is in the environment (.env.example)."""

from __future__ import annotations

import sys
import warnings
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from tweetwatch import env_file, environment, log_lines
from tweetwatch.database_settings import POOL, STANDBY_POOL, connection_settings, read_settings
from tweetwatch.login_settings import *  # noqa: F403

BASE_DIR = Path(__file__).resolve().parent.parent

environment.refuse_other_systems(sys.platform)

ENV_FILE = BASE_DIR / ".env"
env_file.read_env_file(ENV_FILE)
env = environment.Environment()

# Keys and hosts

SECRET_KEY = env.secret_key()
FIELD_KEYS = env.field_keys()
METRICS_KEY = env.metrics_key()
DEBUG = env.truth("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# X

X_API_BASE_URL = env.base_url("X_API_BASE_URL")
X_PROXY = env.proxy("X_PROXY")
X_CA_FILE = env.ca_file("X_CA_FILE")
# A reservation in a window ends after 90 s (`credentials.windows`), so no request lasts longer.
REQUEST_TIMEOUT = env.seconds("REQUEST_TIMEOUT", default=15, least=0.1, most=60)
TASK_TIMEOUT = env.number("TASK_TIMEOUT", default=30, least=1, most=3600)
if REQUEST_TIMEOUT.total_seconds() >= TASK_TIMEOUT:
    raise ImproperlyConfigured(
        f"REQUEST_TIMEOUT ({REQUEST_TIMEOUT.total_seconds():g} s) must be shorter than "
        f"TASK_TIMEOUT ({TASK_TIMEOUT} s), and that shorter than the lease of every queue."
    )

# The filtered stream (manage.py stream)

STREAM_SILENCE = env.seconds("STREAM_SILENCE", default=21, least=0.2, most=300)
STREAM_RULES_EVERY = env.seconds("STREAM_RULES_EVERY", default=120, least=1, most=86_400)
STREAM_LATE_BY = env.seconds("STREAM_LATE_BY", default=60, most=86_400)
STREAM_ACTS_AFTER = env.seconds("STREAM_ACTS_AFTER", default=20, most=3600)

# Tweets that X no longer shows, and how long samples are kept

CONFIRM_GONE_AFTER = env.seconds("CONFIRM_GONE_AFTER", default=600)
GONE_EVERY = env.seconds("GONE_EVERY", default=86400, least=60)
SAMPLE_RETENTION_DAYS = env.number("SAMPLE_RETENTION_DAYS", default=0, least=0, most=36500)
ARCHIVE = env.archive("ARCHIVE")
# In months. Growth by age and ranked lists look at the last month here.
ARCHIVE_OLDER_THAN = env.number("ARCHIVE_OLDER_THAN", default=13, least=2, most=1200)

# Sources: how late a post may appear and still be found by the next poll, and the deep re-reading

LATE_TIMELINES = env.seconds("LATE_TIMELINES", default=5, least=0, most=3600)
LATE_SEARCH = env.seconds("LATE_SEARCH", default=60, least=0, most=3600)
OVERLAP_EVERY = env.seconds("OVERLAP_EVERY", default=86400, least=60)
OVERLAP_DEPTH = env.seconds("OVERLAP_DEPTH", default=3600, least=1, most=518_400)
OVERLAP_WEEKLY_DEPTH = env.seconds("OVERLAP_WEEKLY_DEPTH", default=86400, least=1, most=518_400)

# Files that are imported: the most that may be in one, unpacked (trackers/ingest/files/limits.py)

IMPORT_MOST_BYTES = env.number("IMPORT_MOST_BYTES", default=4 * 2**30, least=1_000, most=10**15)
IMPORT_MOST_LINES = env.number("IMPORT_MOST_LINES", default=10_000_000, least=1, most=10**12)

# Timelines: how long they get (trackers/timelines/bounds.py), and what is kept of them

TIMELINE_BOUNDS = env.bounds("TIMELINE_BOUNDS", default="800/850")
TIMELINE_IDLE_DAYS = env.number("TIMELINE_IDLE_DAYS", default=21, least=1, most=36500)
TIMELINE_TOMBSTONE_DAYS = env.number("TIMELINE_TOMBSTONE_DAYS", default=90, least=1, most=36500)
TIMELINE_METADATA_BYTES = env.number(
    "TIMELINE_METADATA_BYTES", default=4096, least=0, most=1_000_000
)

# The event bus, and which addresses may be called (trackers/events/delivery/egress.py)

PUBLIC_URL = env.base_url("PUBLIC_URL", such_as="https://watch.example") or "https://localhost"
BUS_CONNECT_TIMEOUT = env.seconds("BUS_CONNECT_TIMEOUT", default=2, least=0.1, most=60)
BUS_TOTAL_TIMEOUT = env.seconds("BUS_TOTAL_TIMEOUT", default=20, least=0.1, most=300)
BUS_BACKOFF_MOST = env.seconds("BUS_BACKOFF_MOST", default=60, least=0.1, most=86_400)
BUS_SCRUB_AFTER = env.seconds("BUS_SCRUB_AFTER", default=60, least=1, most=3600)
if BUS_SCRUB_AFTER.total_seconds() < BUS_TOTAL_TIMEOUT.total_seconds() + 1:
    raise ImproperlyConfigured(
        f"BUS_SCRUB_AFTER ({BUS_SCRUB_AFTER.total_seconds():g} s) must be a second longer than "
        f"BUS_TOTAL_TIMEOUT ({BUS_TOTAL_TIMEOUT.total_seconds():g} s), or what is on its way would "
        "be sent twice."
    )
BUS_STORAGE_MOST = env.number(
    "BUS_STORAGE_MOST", default=1_000_000_000, least=1_000_000, most=10**15
)
BUS_DISABLE_AFTER = env.seconds("BUS_DISABLE_AFTER", default=432_000, least=60, most=31_536_000)
EGRESS_ALLOW = env.networks("EGRESS_ALLOW")
EGRESS_PLAIN_HTTP = env.truth("EGRESS_PLAIN_HTTP", default=False)
EGRESS_CA_FILE = env.ca_file("EGRESS_CA_FILE")
PUSH_HOSTS = env.texts("PUSH_HOSTS") or PUSH_SERVICES  # noqa: F405
# The live feed: streams per web process, each of which occupies a thread, and how long each lasts
EVENT_STREAMS = env.number("EVENT_STREAMS", default=4, least=0, most=1000)
EVENT_STREAM_SECONDS = env.seconds("EVENT_STREAM_SECONDS", default=30, least=1, most=3600)
# Its HTTP API (manage.py bus)
BUS_DATA_MOST = env.number("BUS_DATA_MOST", default=512, least=0, most=65_536)
BUS_SCALE_ABOVE = env.number("BUS_SCALE_ABOVE", default=100, least=1, most=1_000_000)

# E-mails of alerts

EMAIL_SERVER = env.mail_server(public_url=PUBLIC_URL, task_timeout=TASK_TIMEOUT)

# Database

EMBEDDED_POSTGRES_DIR = Path(
    env.str("EMBEDDED_POSTGRES_DIR", default="") or BASE_DIR / "var" / "postgres"
)
DATABASE_POOL = env.truth("DATABASE_POOL", default=False)
DATABASE_STATEMENT_TIMEOUT = env.number(
    "DATABASE_STATEMENT_TIMEOUT", default=0, least=0, most=86_400
)
DATABASE_PREPARE = env.truth("DATABASE_PREPARE", default=True)

DATABASES = {
    "default": connection_settings(
        # The embedded one is started, or joined, when the first connection is made.
        env.database("DATABASE_URL")
        or {"ENGINE": "tweetwatch.embedded_backend", "NAME": "tweetwatch"},
        pool=POOL if DATABASE_POOL else None,
        statement_timeout=DATABASE_STATEMENT_TIMEOUT,
        prepare=DATABASE_PREPARE,
    )
}
# A standby for what only reads, and a server for exports (trackers/standbys). Not among DATABASES:
# nothing chooses one by its name.
READ_DATABASE = read_settings(
    env.database("DATABASE_READ_URL"),
    pool=STANDBY_POOL,
    statement_timeout=DATABASE_STATEMENT_TIMEOUT,
    prepare=DATABASE_PREPARE,
)
EXPORT_DATABASE = read_settings(
    env.database("DATABASE_EXPORT_URL"), statement_timeout=0, prepare=DATABASE_PREPARE
)
READ_LAG_MOST = env.seconds("READ_LAG_MOST", default=10, least=1, most=3600)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Applications: trackers comes before django_q, so that its `qcluster` command wins.

INSTALLED_APPS = [
    "tweetwatch.admin_app.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    # Before ours: `trackers.admin.people` takes its models out of the admin.
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "trackers",
    "django_q",
    "django_htmx",
    # `page.html#part`: a part of a page's template (trackers/dashboards/parts.py).
    "template_partials",
    "csp",
]
# Whose page of the API's description has its own scripts. As an application it would be imported,
# with pydantic, by every command: a fifth of the time that one takes to start.
_ninja = Path(find_spec("ninja").origin).parent  # type: ignore[union-attr, arg-type]
MIDDLEWARE = [
    "tweetwatch.http.head_requests.HeadMiddleware",
    "tweetwatch.http.etags.ETagMiddleware",
    "tweetwatch.http.compression.CompressionMiddleware",
    # Before all that follow: probes come under any host name and over plain HTTP.
    "trackers.dashboards.health.HealthMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "tweetwatch.http.bad_requests.BadRequestMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "trackers.standbys.requests.PlaceMiddleware",
    "trackers.dashboards.access.SignedInMiddleware",
    "trackers.dashboards.account.times.TimesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "trackers.dashboards.parts.RefreshMiddleware",
]
ROOT_URLCONF = "tweetwatch.urls"
WSGI_APPLICATION = "tweetwatch.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates", _ninja / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "trackers.dashboards.freshness.freshness",
            ],
            "builtins": [
                "trackers.dashboards.words",
                "trackers.dashboards.note_lists",
                "trackers.dashboards.set_links",
            ],
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
AUTHENTICATION_BACKENDS = ["trackers.tokens.backend.AccountBackend"]

# Logging in, by django-allauth (trackers/dashboards/account)

SECOND_FACTOR = env.truth("SECOND_FACTOR", default=False)
LOGIN_PROVIDER = env.login_provider()
SOCIALACCOUNT_PROVIDERS = LOGIN_PROVIDER.as_setting() if LOGIN_PROVIDER else {}
# Where it counts: no process would know of what another one has in its memory.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "trackers_cacheentry",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    }
}

# The queue: trackers.jobs.broker hands claimed batches to django-q2 (docs/architecture.md)

Q_CLUSTER = {
    "name": "tweetwatch",
    "broker_class": "trackers.jobs.broker.PostgresBroker",
    "workers": env.number("WORKERS", default=4, least=1, most=256),
    "queue_limit": 1,
    "timeout": TASK_TIMEOUT,
    "retry": max(120, 4 * TASK_TIMEOUT),
    "max_attempts": 3,
    "ack_failures": True,
    "save_limit": -1,
    "recycle": 5000,
    "poll": 0.5,
    "guard_cycle": 0.5,
    "catch_up": False,
    "ALT_CLUSTERS": {},
}

# Words, times, static files

LANGUAGE_CODE = "en"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = ["tweetwatch.formats"]
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [_ninja / "static"]
# Without a collectstatic (the demo, tests) the files are served from where they are.
# `collectstatic` itself writes the manifest, without which nothing of what it collects is found.
_collected = (STATIC_ROOT / "staticfiles.json").is_file() or "collectstatic" in sys.argv[1:2]
if not STATIC_ROOT.is_dir():
    warnings.filterwarnings("ignore", "No directory at", UserWarning)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or not _collected
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG or not _collected

# The API: requests of a token in a minute; 0: no limit

API_RATE_LIMIT = env.number("API_RATE_LIMIT", default=600, least=0, most=1_000_000)

# Shares: which sites may show one in a frame

SHARE_FRAME_ANCESTORS = env.list("SHARE_FRAME_ANCESTORS", default=[]) or ["'none'"]

# Security

HTTPS = env.truth("HTTPS", default=True)
SECURE_SSL_REDIRECT = HTTPS
# Two installations on one host, under different ports, share their cookies.
_installation = blake2b(SECRET_KEY.encode(), digest_size=4).hexdigest()
SESSION_ENGINE = "trackers.tokens.session_store"
SESSION_COOKIE_NAME = f"tweetwatch_session_{_installation}"
CSRF_COOKIE_NAME = f"tweetwatch_csrf_{_installation}"
PLACE_COOKIE_NAME = f"tweetwatch_place_{_installation}"
MESSAGE_COOKIE_NAME = f"tweetwatch_messages_{_installation}"
MESSAGE_STORAGE = "tweetwatch.http.message_cookies.MessageStorage"
CSRF_FAILURE_VIEW = "tweetwatch.http.origins.forged"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
# The page itself redirects, except for a scraper on this machine.
SECURE_REDIRECT_EXEMPT = [r"^metrics$"]
# A browser keeps this promise for this long, whatever happens to the certificate meanwhile.
HSTS_SECONDS = env.number("HSTS_SECONDS", default=3600, least=0, most=63_072_000)
HSTS_SUBDOMAINS = env.truth("HSTS_SUBDOMAINS", default=False)
HSTS_PRELOAD = env.truth("HSTS_PRELOAD", default=False)
if HSTS_PRELOAD and not (HSTS_SUBDOMAINS and HSTS_SECONDS >= 31_536_000):
    raise ImproperlyConfigured(
        "HSTS_PRELOAD needs HSTS_SUBDOMAINS=true and HSTS_SECONDS=31536000 or more, as browsers "
        "require."
    )
SECURE_HSTS_SECONDS = HSTS_SECONDS if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and HSTS_SUBDOMAINS
SECURE_HSTS_PRELOAD = HTTPS and HSTS_PRELOAD
# The deployment checks demand both of everybody; they bind hosts that are not ours to bind.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
BEHIND_PROXY = env.truth("BEHIND_PROXY", default=False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
# What is signed in may send this much; all else about bodies is in tweetwatch/http/bodies.py.
DATA_UPLOAD_MAX_MEMORY_SIZE: int | None = 2_621_440
FILE_UPLOAD_HANDLERS = ["tweetwatch.http.bodies.NoFiles"]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "frame-ancestors": ["'none'"],
        # What a form sends to us may lead to the provider's own login.
        "form-action": ["'self'", *([LOGIN_PROVIDER.origin] if LOGIN_PROVIDER else [])],
    }
}

# Logging: a line per batch from us; from libraries only when something is wrong.
# tweepy writes bearer tokens at DEBUG, so its level is pinned here whatever LOG_LEVEL says.

log_lines.keep_secrets_out()
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
if LOG_LEVEL not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    environment.refuse_setting("LOG_LEVEL", f"is {LOG_LEVEL!r}", "LOG_LEVEL=INFO")
LOG_FORMAT = env.str("LOG_FORMAT", default="text").lower()
if LOG_FORMAT not in {"text", "json"}:
    environment.refuse_setting("LOG_FORMAT", f"is {LOG_FORMAT!r}", "LOG_FORMAT=json")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"format": "{asctime} {levelname} {process} {name}: {message}", "style": "{"},
        "json": {"()": "tweetwatch.log_lines.JSONLines"},
    },
    "filters": {
        "lost_connection": {"()": "tweetwatch.log_lines.LostConnection"},
        "refused_request": {"()": "tweetwatch.log_lines.RefusedRequest"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["lost_connection", "refused_request"],
        }
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "trackers": {"level": LOG_LEVEL},
        "tweetwatch": {"level": LOG_LEVEL},
        "django-q": {"level": "WARNING", "propagate": True},
        "tweepy": {"level": "WARNING"},
        "urllib3": {"level": "WARNING"},
        "oauthlib": {"level": "WARNING"},
        "requests_oauthlib": {"level": "WARNING"},
    },
}
