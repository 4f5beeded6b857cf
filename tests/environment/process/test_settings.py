"""A missing or bad variable stops the start with a sentence that says which, and how to set it."""

import json
import os
import re
import subprocess
import sys
import traceback

import pytest
from django.core.exceptions import ImproperlyConfigured

from tests.authority import Authority
from tests.conftest import PROJECT
from tweetwatch import environment

START = "import tweetwatch.settings as s; print('started', s.X_API_BASE_URL, s.DATABASES)"
KEY = "x" * 50
FERNET = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
GOOD = {"SECRET_KEY": KEY, "FIELD_KEYS": FERNET}


def start(code=START, *arguments, **variables):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], **GOOD, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_two_installations_on_one_host_have_cookies_of_their_own():
    names = (
        "import tweetwatch.settings as s;"
        "print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.MESSAGE_COOKIE_NAME)"
    )
    first, again, other = (start(names, SECRET_KEY=key * 50).stdout.split() for key in "xxy")

    assert first == again
    assert len({*first, *other}) == 6


@pytest.mark.django_db
def test_no_cookie_has_a_name_that_other_installations_use(client, django_user_model, settings):
    """Nor that of messages, which nothing in the settings names but ours."""
    settings.SECURE_SSL_REDIRECT = False
    client.force_login(django_user_model.objects.create_superuser("ada"))

    client.get("/account/")
    client.post("/following/follow", {"account": "nobody"})

    names = {name for name, cookie in client.cookies.items() if cookie.value}
    assert settings.MESSAGE_COOKIE_NAME in names
    assert not [name for name in names if not name.startswith("tweetwatch_")]


def test_forms_may_lead_to_the_provider_of_logins():
    """Chromium refuses the redirect that follows a form, too, if the policy does not name it."""
    policy = "import tweetwatch.settings as s; print(s.CONTENT_SECURITY_POLICY['DIRECTIVES'])"
    provider = {
        "OIDC_ISSUER": "https://login.example:8443/realms/here/",
        "OIDC_CLIENT_ID": "x",
        "OIDC_SECRET": "x",
        "OIDC_OWNERS": "bosses",
    }

    assert "'form-action': [\"'self'\"]" in start(policy).stdout
    form_action = "'form-action': [\"'self'\", 'https://login.example:8443']"
    assert form_action in start(policy, **provider).stdout


BAD = [
    ("OIDC_ISSUER", "http://login.example", "is not https"),
    ("SECRET_KEY", "", "is missing"),
    ("SECRET_KEY", "short", "too short"),
    ("FIELD_KEYS", "", "is missing"),
    ("FIELD_KEYS", " , ", "is missing"),
    ("FIELD_KEYS", "not-a-key", "position 1"),
    ("FIELD_KEYS", f"{FERNET},ünï", "position 2"),
    ("DEBUG", "maybe", "neither true nor false"),
    ("HTTPS", "2", "neither true nor false"),
    ("BEHIND_PROXY", "x", "neither true nor false"),
    ("DATABASE_POOL", "x", "neither true nor false"),
    ("WORKERS", "0", "not a whole number from 1 to 256"),
    ("WORKERS", "four", "whole number"),
    ("WORKERS", "--4", "whole number"),
    ("WORKERS", "²", "whole number"),
    ("WORKERS", "1.5", "whole number"),
    ("TASK_TIMEOUT", "", "whole number"),
    ("REQUEST_TIMEOUT", "soon", "number of seconds"),
    ("REQUEST_TIMEOUT", "5 min", "not a number of seconds from 0.1 to 60"),
    ("REQUEST_TIMEOUT", "nan", "not a number of seconds from"),
    ("REQUEST_TIMEOUT", "inf", "not a number of seconds from"),
    ("REQUEST_TIMEOUT", "0", "not a number of seconds from"),
    ("REQUEST_TIMEOUT", "30", "shorter than TASK_TIMEOUT"),
    ("CONFIRM_GONE_AFTER", "-1", "not a number of seconds from"),
    ("GONE_EVERY", "5", "not a number of seconds from"),
    ("EVENT_STREAMS", "-1", "whole number from 0"),
    ("API_RATE_LIMIT", "many", "whole number from 0"),
    ("EVENT_STREAM_SECONDS", "0", "not a number of seconds from"),
    ("LATE_TIMELINES", "-1", "not a number of seconds from"),
    ("LATE_SEARCH", "soon", "number of seconds"),
    ("OVERLAP_EVERY", "5", "not a number of seconds from"),
    ("OVERLAP_DEPTH", "9999999", "not a number of seconds from"),
    ("SAMPLE_RETENTION_DAYS", "-1", "whole number"),
    ("ARCHIVE", "var/archive", "neither an absolute path nor s3://bucket/prefix"),
    ("ARCHIVE", "s3://key:hush@bucket", "neither an absolute path nor s3://bucket/prefix"),
    ("ARCHIVE", "s3://", "neither an absolute path nor s3://bucket/prefix"),
    ("ARCHIVE_OLDER_THAN", "1", "whole number from 2"),
    ("TIMELINE_BOUNDS", "", "LOWER/UPPER"),
    ("TIMELINE_BOUNDS", "850/800", "must be at least 1"),
    ("TIMELINE_BOUNDS", "0/9", "must be at least 1"),
    ("TIMELINE_BOUNDS", "user:=3/4", "without a prefix"),
    ("TIMELINE_BOUNDS", "3/4,800/850", "without a prefix"),
    ("TIMELINE_IDLE_DAYS", "0", "whole number from 1"),
    ("TIMELINE_TOMBSTONE_DAYS", "0", "whole number from 1"),
    ("TIMELINE_METADATA_BYTES", "-1", "whole number from 0"),
    ("BUS_SCRUB_AFTER", "20", "a second longer than BUS_TOTAL_TIMEOUT"),
    ("PUBLIC_URL", "https://watch.example/tweets", "not an address"),
    ("X_API_BASE_URL", "api.x.com", "not an address"),
    ("X_API_BASE_URL", "ftp://api.x.com", "not an address"),
    ("X_API_BASE_URL", "https://api.x.com/2", "not an address"),
    ("X_API_BASE_URL", "https://api.x.com?x=1", "not an address"),
    ("X_API_BASE_URL", "https://someone:hush@api.x.com", "not an address"),
    ("X_API_BASE_URL", "http://[::1", "not an address"),
    ("X_API_BASE_URL", "http://api.x.com:port", "not an address"),
    ("X_API_BASE_URL", "http://api.x.com", "unencrypted"),
    ("X_PROXY", "http://bob:hush@proxy.example:port", "with its port"),
    ("X_CA_FILE", "/nowhere/ours.pem", "cannot be read"),
    ("DATABASE_URL", "sqlite:///db.sqlite3", "only PostgreSQL"),
    ("DATABASE_URL", "postgres://someone:hush@host:5432/", "names no database"),
    ("DATABASE_URL", "postgres://someone:hush@host:port/name", "DATABASE_URL"),
    ("DATABASE_URL", "postgres://someone:hush@[::1/name", "DATABASE_URL"),
    ("LOG_LEVEL", "LOUD", "LOG_LEVEL"),
    ("METRICS_KEY", "short", "METRICS_KEY"),
    ("BUS_SCALE_ABOVE", "0", "whole number from 1"),
    ("HSTS_SECONDS", "-1", "whole number from 0"),
    ("HSTS_SUBDOMAINS", "some", "neither true nor false"),
    ("HSTS_PRELOAD", "true", "needs HSTS_SUBDOMAINS=true"),
]


# One process for all: what belongs to others is loaded once, and each value is read by a fork.
FORKS = """
import json, os, sys
import cryptography.fernet, django.conf, django.core.exceptions, environ, psycopg
assert not [name for name in sys.modules if name.startswith("tweetwatch")]
for number, variables in enumerate(json.loads(sys.argv[1])):
    if not os.fork():
        os.environ.update(variables)
        with open(os.path.join(sys.argv[2], str(number)), "w") as sys.stderr:
            try:
                import tweetwatch.settings
            except Exception:
                sys.excepthook(*sys.exc_info())
                sys.stderr.flush()
                # Not by the end of an interpreter, which takes six times as long as the start.
                os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """The exit status for each bad value, and what is written to the standard error."""
    folder = tmp_path_factory.mktemp("starts")
    ran = start(FORKS, json.dumps([{name: value} for name, value, _ in BAD]), str(folder))
    assert ran.returncode == 0, ran.stderr
    errors = [(folder / str(number)).read_text() for number in range(len(BAD))]
    results = zip(map(int, ran.stdout.split()), errors, strict=True)
    return dict(zip([case[:2] for case in BAD], results, strict=True))


@pytest.mark.parametrize(("name", "value", "why"), BAD)
def test_a_bad_variable_stops_the_start_with_a_sentence(starts, name, value, why):
    status, error = starts[name, value]

    assert status == 1
    last = error.strip().splitlines()[-1]
    assert last.startswith("django.core.exceptions.ImproperlyConfigured: ")
    assert name in last
    assert why in last
    assert "hush" not in error
    assert FERNET not in error


def test_good_variables_start():
    tried = start(
        X_API_BASE_URL="http://127.0.0.1:9100/",
        DATABASE_URL="postgres://postgres@/name?host=%2Ftmp%2Fsocket",
        REQUEST_TIMEOUT="1.5",
        WORKERS=" 2 ",
        DEBUG="Yes",
        LOG_LEVEL="debug",
    )

    assert tried.returncode == 0, tried.stderr
    assert "started http://127.0.0.1:9100 " in tried.stdout
    assert "'host': '/tmp/socket'" in tried.stdout


HSTS = (
    "import tweetwatch.settings as s; print(s.SECURE_HSTS_SECONDS, "
    "s.SECURE_HSTS_INCLUDE_SUBDOMAINS, s.SECURE_HSTS_PRELOAD)"
)
A_YEAR = {"HSTS_SECONDS": "31536000", "HSTS_SUBDOMAINS": "true", "HSTS_PRELOAD": "true"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "3600 False False"),
        ({"HSTS_SECONDS": "0"}, "0 False False"),
        (A_YEAR, "31536000 True True"),
        ({**A_YEAR, "HTTPS": "false"}, "0 False False"),
    ],
)
def test_hsts_lasts_an_hour_and_excludes_subdomains_unless_configured(given, told):
    assert start(HSTS, **{"HTTPS": "true", **given}).stdout.strip() == told


def read(read_one, name, value):
    env = environment.Environment()
    env.ENVIRON = {name: value}
    return getattr(env, read_one)(name)


@pytest.mark.parametrize(
    ("read_one", "value", "why"),
    [
        ("base_url", "http://localhost.example:9100", "unencrypted"),
        ("base_url", "HTTP://127.0.0.1.example", "unencrypted"),
        ("base_url", "http://10.0.0.7:9100", "unencrypted"),
        ("proxy", "bob:hush@proxy.example:3128", "begin with http://"),
        ("proxy", "https://bob:hush@proxy.example:3128", "begin with http://"),
        ("proxy", "socks5://bob:hush@proxy.example:1080", "begin with http://"),
        ("proxy", "http://bob:hush@proxy.example", "with its port"),
        ("proxy", "http://bob:hush/@proxy.example:3128", "with its port"),
        ("proxy", "http://bob:hush@[::1", "with its port"),
        ("proxy", "http://bob:hush%0d%0aX:@proxy.example:3128", "has control characters"),
        ("ca_file", "manage.py", "no PEM certificate"),
    ],
)
def test_a_bad_proxy_is_refused_without_showing_its_password(read_one, value, why):
    with pytest.raises(ImproperlyConfigured, match=re.escape(why)) as refused:
        read(read_one, "IT", value)

    assert "hush" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize("allowed", ["false", "true"])
def test_bucket_is_reached_over_plain_http_only_where_that_is_allowed(allowed):
    env = environment.Environment()
    env.ENVIRON = {
        "ARCHIVE": "s3://tweets/of-2026/",
        "AWS_ENDPOINT_URL": "http://minio.example:9000",
        "EGRESS_PLAIN_HTTP": allowed,
    }
    if allowed == "true":
        assert env.archive("ARCHIVE") == "s3://tweets/of-2026"
    else:
        with pytest.raises(ImproperlyConfigured, match="EGRESS_PLAIN_HTTP=true"):
            env.archive("ARCHIVE")


@pytest.mark.parametrize("host", ["localhost:9100", "127.8.9.10", "[::1]:9100"])
def test_http_is_accepted_for_this_machine(host):
    assert read("base_url", "IT", f"http://{host}/") == f"http://{host}"


def test_the_password_of_a_proxy_is_read_but_not_shown():
    proxy = read("proxy", "IT", "http://bob:h%40sh%2F@Proxy.example:3128/")

    assert (proxy.user, proxy.password, str(proxy)) == ("bob", "h@sh/", "http://proxy.example:3128")
    assert "h@sh" not in repr(proxy)


def test_a_certificate_file_is_accepted(tmp_path):
    file = str(Authority(tmp_path).file)

    assert read("ca_file", "IT", file) == file


def test_networks_are_parsed():
    found = read("networks", "IT", " 10.1.0.0/16, fd00::/8,127.0.0.1,")

    assert [str(one) for one in found] == ["10.1.0.0/16", "fd00::/8", "127.0.0.1/32"]
    assert read("networks", "IT", "") == ()


@pytest.mark.parametrize("value", ["10.1.2.3/16", "10.0.0.0/33", "a.example", "10.0.0.0-10.0.0.9"])
def test_malformed_networks_are_refused(value):
    with pytest.raises(ImproperlyConfigured, match=f"IT has '{value}', which is not a network"):
        read("networks", "IT", f"fd00::/8,{value}")


def test_without_a_database_url_the_embedded_server_is_used():
    assert "tweetwatch.embedded_backend" in start().stdout


def test_the_folder_of_a_socket_may_be_written_as_the_host():
    env = environment.Environment()
    env.ENVIRON = {"DATABASE_URL": "postgresql://ours:p%2Fw@%2FVar%2Frun:5433/name"}

    found = env.database("DATABASE_URL")

    assert [found[one] for one in ("HOST", "PORT", "USER", "PASSWORD", "NAME")] == [
        "/Var/run", 5433, "ours", "p/w", "name",
    ]  # fmt: skip


def test_time_outs_join_the_options_of_the_url_and_pgbouncer_gets_no_prepared_statements():
    url = "postgres://u:p@h/d?options=-c%20search_path%3Dours"

    ran = start(DATABASE_URL=url, DATABASE_STATEMENT_TIMEOUT="15", DATABASE_PREPARE="false")

    assert "-c search_path=ours -c idle_in_transaction_session_timeout=60s" in ran.stdout
    assert "-c statement_timeout=15s" in ran.stdout
    assert "'prepare_threshold': None" in ran.stdout


def test_another_database_system_is_refused_with_a_sentence():
    ran = start("import sys; sys.platform = 'darwin'; import tweetwatch.settings")

    output = ran.stderr.strip().splitlines()[-1]
    assert output.startswith(
        "django.core.exceptions.ImproperlyConfigured: tweetwatch runs only on Linux"
    )
    assert "this is darwin: " in output
    assert "container or virtual machine" in ran.stderr
