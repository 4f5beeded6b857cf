"""The planted secrets are sought wherever a secret could have got to, and found nowhere."""

import base64
import json
import subprocess
import sys
from urllib.parse import quote, quote_plus

import psutil
import pytest

from tests.conftest import PROJECT
from tests.flows.conftest import figures, wait_until

pytestmark = pytest.mark.django_db

OAUTH1 = {
    "consumer_key": "planted-consumer-key=1/",
    "consumer_secret": "planted-consumer+secret=2/",
    "access_token": "4242-planted-access-token=3/",
    "access_token_secret": "planted-access+token+secret=4/",
}
BEARER = "planted-Bearer+Token=5/"
REFUSED = "planted-refused+Token=6/"
OAUTH2 = {
    "client_id": "planted-client-id=7/",
    "client_secret": "planted-client+secret=8/",
    "access_token": "planted-user+access+token=9/",
    "refresh_token": "planted-refresh+token=10/",
}

# Every page that shows credentials or what was done with them, as a superuser sees it.
PAGES = """
import sys
from django.contrib.auth import get_user_model
from django.test import Client
from trackers.models import Credential
client = Client(HTTP_HOST="localhost")
client.force_login(get_user_model().objects.create_superuser("root", "", "x"))
pages = ["/", "/operations/", "/admin/", "/admin/trackers/credential/", "/admin/trackers/worker/",
         "/admin/django_q/failure/", "/admin/django_q/success/"]
pages += [f"/admin/trackers/credential/{one.pk}/change/" for one in Credential.objects.all()]
for page in pages:
    answer = client.get(page, follow=True)
    assert answer.status_code == 200, (page, answer.status_code)
    sys.stdout.write(answer.content.decode())
"""


def forms(secret):
    raw = secret.encode()
    encoded = [base64.b64encode(raw[start:]).decode().rstrip("=") for start in range(3)]
    # The ends of a base64 text depend on what stood beside it.
    middles = [text[2:-2] for text in encoded]
    return {secret, quote(secret, safe=""), quote_plus(secret), raw.hex(), *middles}


def secrets_in(text, secrets):
    return sorted({secret for secret in secrets for form in forms(secret) if form in text})


def dump_of(product):
    tables = product.sql(
        "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    )
    lines = []
    with product.database.cursor() as cursor:
        for (table,) in tables:
            with cursor.copy(f"COPY (SELECT * FROM {table}) TO STDOUT") as copy:
                lines += [bytes(block).decode() for block in copy]
    return "".join(lines)


def arguments_of(cluster):
    family = [psutil.Process(cluster.pid), *psutil.Process(cluster.pid).children(recursive=True)]
    return "\n".join(" ".join(process.cmdline()) for process in family)


def test_no_planted_secret_is_found_in_logs_tables_pages_or_arguments(product):
    product.x.tell("POST", "credentials", {"kind": "oauth1", **OAUTH1})
    product.x.tell("POST", "credentials", {"kind": "bearer", "bearer_token": BEARER})
    product.x.tell("POST", "credentials", {"kind": "oauth2", "name": "consent", **OAUTH2})
    product.x.put("credentials", {"strict": True})
    secrets = [*OAUTH1.values(), *OAUTH2.values(), BEARER, REFUSED]
    collected = []
    for name, kind, values in (
        ("app", "bearer", {"bearer_token": BEARER}),
        ("user", "oauth1", OAUTH1),
        ("bad", "bearer", {"bearer_token": REFUSED}),
        ("consent", "oauth2", OAUTH2),
    ):
        done = product.manage("credential", "add", name, "--kind", kind, stdin=json.dumps(values))
        assert done.returncode == 0, done.stderr
        collected.append(done.stdout + done.stderr)
    product.sql("UPDATE trackers_queue SET retry_first = '1s', retry_most = '1s'")
    ids = product.x.ids(600)
    product.manage_json("track", "-", stdin="\n".join(map(str, ids)))
    # What goes wrong is where secrets slip out: into messages, tracebacks and saved failures.
    faults = ["503_text", "html", "truncated", "reset", "garbage_list", "401"]
    product.x.put("faults", [{"match": {}, "kind": kind, "times": 1} for kind in faults])

    cluster = product.start_cluster(workers=2, LOG_LEVEL="DEBUG")
    wait_until(
        lambda: len({id for entry in product.x.log() for id in figures(entry)}) > 500,
        what="the tweets were looked up in spite of the faults",
    )
    collected.append(arguments_of(cluster))
    assert product.stop(cluster) == 0

    for command in (("credential", "list"), ("credential", "check"), ("status",)):
        done = product.manage(*command)
        collected.append(done.stdout + done.stderr)
    collected += [path.read_text() for path in product.logs.glob("*.log")]
    collected.append(dump_of(product))
    pages = subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", PAGES],
        cwd=PROJECT,
        env=product.environment | {"HTTPS": "false"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert pages.returncode == 0, pages.stderr
    collected.append(pages.stdout + pages.stderr)

    statuses = {entry["token"]: entry["status"] for entry in product.x.log()}
    assert len(statuses) == 4, "each credential was used"
    assert 401 in statuses.values()
    assert secrets_in(f"a log with {BEARER}", secrets) == [BEARER], "the search finds what is there"
    assert secrets_in("".join(collected), secrets) == []
