"""Many workers and one refresh token; and workers that die, or come late, with new tokens."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone

from tests.credentials.process.test_selection_together import learn, together
from tests.databases import url_of
from tests.x import PROJECT, consent, ends_in, look_up_with_tokens, wait_until
from trackers.credentials.models import Credential
from trackers.credentials.renew import NotRenewed, ensure_valid
from trackers.xapi.errors import NotReady

pytestmark = pytest.mark.django_db(transaction=True)
TWEETS, TOKEN = "GET /2/tweets", "POST /2/oauth2/token"


def refreshes(fake):
    return [status for endpoint, status in fake.log() if endpoint == TOKEN]


def rotations(fake):
    [grant] = fake.tell("GET", "credentials")["registered"]
    return grant["rotations"]


@pytest.fixture
def started():
    """Processes of the product with this test's database and X, killed at the end."""
    running = []

    def start(fake, *words):
        where = {
            "DATABASE_URL": url_of(connection.settings_dict["NAME"]),
            "X_API_BASE_URL": fake.url,
            "REQUEST_TIMEOUT": "20",
            "TASK_TIMEOUT": "45",
        }
        process = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=PROJECT,
            env={**os.environ, **where},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.mark.parametrize("client_secret", [None, "client-secret"])
def test_of_eight_threads_one_renews_and_the_others_skip_the_credential(fake, client_secret):
    credential = consent(fake, client_secret=client_secret)
    ends_in(credential, seconds=30)
    fake.tell("PUT", "latency", ms=0, token_ms=700)
    id = fake.ids(1)

    def ask():
        try:
            return look_up_with_tokens(Credential.objects.get(), id, **fake.asking)
        except NotReady as error:
            return error.reason

    answers = together(ask, threads=8)

    assert refreshes(fake) == [200]
    passed_over = [answer for answer in answers if isinstance(answer, str)]
    assert set(passed_over) == {"Another worker is renewing its tokens."}
    assert len(passed_over) == 7


def test_eight_threads_with_a_refused_token_renew_it_once(fake):
    consent(fake, access_token="another")
    # So that all of them are on their way when the first hears of it.
    fake.tell("PUT", "latency", ms=1000, token_ms=0)
    id, begin = fake.ids(1), threading.Barrier(8)

    def ask():
        outcomes = []
        for _ in range(2):
            credential = Credential.objects.get()
            begin.wait(10)
            try:
                look_up_with_tokens(credential, id, **fake.asking)
                outcomes.append("answered")
            except NotReady as error:
                outcomes.append("refused" if error.sent else "passed over")
        return outcomes

    outcomes = together(ask, threads=8)

    assert [first for first, _ in outcomes] == ["refused"] * 8
    assert {second for _, second in outcomes} <= {"answered", "passed over"}
    assert refreshes(fake) == [200]


def test_processes_with_a_refused_token_renew_it_once(fake, started):
    credential = consent(fake)
    # Room for all: of an unknown window only one would get as far as the tokens.
    learn(credential, 50)
    ends_in(credential, seconds=30)
    fake.tell("PUT", "latency", ms=0, token_ms=4000)

    processes = [started(fake, "credential", "check", "user") for _ in range(4)]

    said = "".join(process.communicate(timeout=60)[0] for process in processes)
    assert refreshes(fake) == [200]
    assert "user: ok" in said


def test_a_worker_killed_before_the_renewal_answer_requires_a_new_sign_in(fake, started):
    credential = consent(fake)
    ends_in(credential, seconds=30)
    fake.tell("PUT", "latency", ms=0, token_ms=60_000)
    worker = started(fake, "credential", "check", "user")
    wait_until(lambda: rotations(fake) == 1, within=30)

    os.kill(worker.pid, signal.SIGKILL)
    worker.wait(10)
    fake.tell("PUT", "latency", ms=0, token_ms=0)

    # The mark of the dead keeps others away for a while.
    assert ensure_valid(credential, **fake.asking) == NotRenewed(
        "Another worker is renewing its tokens."
    )
    credential.refresh_from_db()
    left = credential.refreshing_until - timezone.now()
    assert timedelta(0) < left <= timedelta(seconds=50)
    Credential.objects.update(refreshing_until=Now())
    assert ensure_valid(credential, **fake.asking).refused

    told = started(fake, "credential", "list").communicate(timeout=30)[0]
    assert "disabled" in told
    assert "sign in again: X no longer accepts its refresh token" in told


def test_late_tokens_are_kept_and_undo_the_failure_of_another_worker(fake):
    credential = consent(fake)
    ends_in(credential, seconds=30)
    fake.tell("PUT", "latency", ms=0, token_ms=2500)
    late = []

    def renew_slowly():
        late.append(ensure_valid(Credential.objects.get(), **fake.asking))
        connection.close()

    slow = threading.Thread(target=renew_slowly)
    slow.start()
    wait_until(lambda: rotations(fake) == 1)
    fake.tell("PUT", "latency", ms=0, token_ms=0)
    Credential.objects.update(refreshing_until=Now())
    assert ensure_valid(credential, **fake.asking).refused
    assert Credential.objects.get().state == "disabled"
    slow.join(20)

    credential.refresh_from_db()
    assert (credential.state, credential.reason) == ("ready", "")
    assert dict(late[0].secrets) == dict(credential.secrets)
    look_up_with_tokens(credential, fake.ids(1), **fake.asking)
    assert fake.log() == [(TOKEN, 400), (TOKEN, 200), (TWEETS, 200)]


def test_no_transaction_is_open_while_tokens_are_renewed(fake):
    credential = consent(fake)
    ends_in(credential, seconds=30)

    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        ensure_valid(credential, **fake.asking)

    assert refreshes(fake) == []


def test_new_tokens_survive_a_broken_database_connection(fake):
    credential = consent(fake)
    ends_in(credential, seconds=30)
    fake.tell("PUT", "latency", ms=0, token_ms=1500)
    pids, done = [], []

    def renew_on_a_broken_connection():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pids.append(cursor.fetchone()[0])
        done.append(ensure_valid(Credential.objects.get(), **fake.asking))
        connection.close()

    worker = threading.Thread(target=renew_on_a_broken_connection)
    worker.start()
    wait_until(lambda: rotations(fake) == 1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pids[0]])
    worker.join(20)

    credential.refresh_from_db()
    assert dict(done[0].secrets) == dict(credential.secrets)
    look_up_with_tokens(credential, fake.ids(1), **fake.asking)
    assert fake.log() == [(TOKEN, 200), (TWEETS, 200)]
