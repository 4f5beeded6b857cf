import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils.timezone import now

from tests.factories import CredentialFactory, TweetUpdateFactory, id_born
from tests.pages.conftest import flat
from tests.pages.sources import words
from trackers.credentials.models import Window
from trackers.jobs.models import Queue
from trackers.jobs.observed.models import QueueCounters, Worker

pytestmark = pytest.mark.django_db


def worker(**fields):
    values = {
        "cluster": uuid4(), "host": "h1", "pid": 41, "kind": "worker",
        "started_at": now(), "seen_at": now(),
    }  # fmt: skip
    return Worker.objects.create(**{**values, **fields})


def test_without_workers_and_credentials_the_pages_say_what_to_do(staff):
    for address in ("/operations/", "/?part=now"):
        page = staff.get(address).content.decode()
        assert "manage.py qcluster" in page
        assert "/admin/trackers/credential/add/" in page


def test_a_silent_worker_is_flagged_and_not_counted_as_running(staff):
    worker(seen_at=now() - timedelta(minutes=2))

    page = staff.get("/operations/?tab=workers").content.decode()

    assert "silent" in page
    now_page = staff.get("/operations/").content.decode()
    assert "1 process stopped without a word" in now_page
    assert "Workers not running" in now_page


def test_a_worker_is_shown_with_its_task_and_since_when(staff):
    worker(doing="tweet:update, 100 keys", doing_since=now() - timedelta(seconds=3))

    page = staff.get("/operations/?tab=workers").content.decode()

    assert "tweet:update, 100 keys" in page
    assert "Workers not running" not in page


def test_the_statistics_are_those_of_the_queue(staff):
    TweetUpdateFactory.create_batch(3, due_at=now() - timedelta(seconds=90))
    TweetUpdateFactory.create_batch(2, due_at=now() + timedelta(seconds=900))

    page = flat(staff.get("/operations/"))

    assert '<dt>Scheduled</dt><dd><data data-figure="queue.scheduled" value="5"' in page
    assert '<dt>Due now</dt><dd><data data-figure="queue.due" value="3"' in page
    assert (
        'class="card warn" title="How long ago the most overdue tweet should have been checked."'
        in page
    )


def test_minutes_are_shown_as_bars(staff):
    this = now().replace(second=0, microsecond=0)
    given = {"queue": "tweet:update", "host": "h", "pid": 1, "batches": 1, "late": []}
    QueueCounters.objects.create(minute=this, measured=1500, **given)
    QueueCounters.objects.create(minute=this - timedelta(minutes=5), measured=500, **given)

    page = staff.get("/operations/").content.decode()

    assert "2,000 checks in the last 60 minutes, at most 1,500 in a minute" in page
    assert page.count('class="bar"') == 60


def test_a_credential_shows_its_window_and_never_a_secret(staff):
    credential = CredentialFactory(secrets={"bearer_token": "planted-secret"})
    Window.objects.create(
        app=credential.app, endpoint="GET /2/tweets", limit=3500, remaining=1234,
        resets_at=now() + timedelta(minutes=5), seen_at=now(),
    )  # fmt: skip

    page = staff.get("/operations/").content.decode()

    assert '<meter min="0" max="3500" value="1234"' in page
    assert "planted-secret" not in page


def test_the_page_opens_without_the_field_key(staff):
    credential = CredentialFactory()
    credential.disable("X refused it", now=now())
    with connection.cursor() as cursor:
        cursor.execute("UPDATE trackers_credential SET secrets = 'not to be decrypted'")

    page = staff.get("/operations/").content.decode()

    assert "X refused it" in page


def test_a_pause_and_a_hold_are_shown_with_their_reasons(staff):
    CredentialFactory()
    Queue.objects.filter(pk="tweet:update").update(
        held_until=now() + timedelta(minutes=2), held_reason="X answered 503"
    )
    assert "X answered 503" in staff.get("/?part=now").content.decode()

    Queue.objects.filter(pk="tweet:update").update(paused=True)
    assert "tweet:update is paused" in staff.get("/?part=now").content.decode()


def told_window(limit):
    Window.objects.create(
        app=CredentialFactory().app, endpoint="GET /2/tweets", limit=limit, remaining=limit,
        resets_at=now() + timedelta(minutes=5), seen_at=now(), learned_at=now(),
    )  # fmt: skip


def behind(count=60, age=timedelta(minutes=5)):
    born = now() - age
    for low in range(count):
        TweetUpdateFactory(key=id_born(born, low), due_at=now() - timedelta(seconds=90))
    # Last: one that was seen too long ago counts as dead.
    worker()


CATCH_UP = '<dt>Catch-up</dt><dd><data data-figure="queue.catch_up" value='


def test_the_card_says_that_nothing_is_late_only_while_tweets_are_checked(staff):
    page = flat(staff.get("/operations/"))

    assert "Workers not running." in page
    assert f'{CATCH_UP}"not known" title="not known">–</data>' in page
    assert "No tweet is late yet, but no worker is running." in page

    worker()
    CredentialFactory()
    page = flat(staff.get("/operations/"))

    assert f'{CATCH_UP}"0 s" title="0 s">nothing is late</data>' in page
    assert "Behind." not in page


def test_the_catch_up_time_is_on_the_card_and_in_a_sentence(staff):
    behind(60)  # Once a minute each: one a second.
    told_window(18)  # Two a second.

    page = staff.get("/operations/").content.decode()

    assert "<dt>Catch-up</dt>" in page
    assert 'value="60 s" title="60 s">1 min</data>' in page
    assert "60 tweets are due; all are fresh again about 1 min from now." in page


def test_during_catch_up_the_page_shows_the_state_of_the_youngest(staff):
    behind(60)
    TweetUpdateFactory(due_at=now() - timedelta(minutes=2), urgent=True)

    page = staff.get("/operations/").content.decode()

    assert "The youngest come first meanwhile, with up to 75% of each request" in page
    # However long the page takes, and since its transaction began.
    assert re.search(r"none of them has waited longer than [1-3] min( \d+ s)?\.", page)


def test_the_reason_for_no_look_ups_is_shown_once(staff):
    behind(60)
    CredentialFactory(name="main").disable("disabled by ada", now=now())

    page = staff.get("/operations/").content.decode()

    assert page.count("No credential is enabled (main: disabled by ada)") == 1
    assert "Disabled by ada. Enable it in the admin to use it again." in words(page)
    assert "60 tweets are due, and there is no forecast. See above." in page


def test_in_an_outage_the_catch_up_time_counts_from_the_return_of_x(staff):
    behind(60)
    told_window(18)
    Queue.objects.update(failures=5, held_until=now() + timedelta(hours=1), held_reason="503")

    assert "about 1 min after X answers again." in staff.get("/operations/").content.decode()


def test_too_few_credentials_are_reported(staff):
    behind(60)
    told_window(5)

    page = staff.get("/operations/").content.decode()

    assert "Never with these credentials: the intervals need about 1 tweets a second" in page
    assert 'value="never" title="never">never</data>' in page


def test_too_few_workers_are_reported(staff):
    behind(60)
    told_window(900)
    late = [0] * 10 + [30] + [0] * 3
    QueueCounters.objects.create(
        queue="tweet:update", minute=now().replace(second=0) - timedelta(minutes=5), host="h",
        pid=1, batches=1, asked=30, measured=30, late=late,
    )  # fmt: skip

    page = staff.get("/operations/").content.decode()

    assert "Never with these workers" in page
    assert "came to 0.5. Start another qcluster." in page
