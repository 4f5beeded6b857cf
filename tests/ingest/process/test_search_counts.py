"""X's own count of what a search finds: asked for once a person agrees, paid for, and kept."""

import io
import json
import re
import threading
from contextlib import closing
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test import Client

from tests.api.conftest import Program
from tests.factories import CredentialFactory
from tests.ingest.polls.steps import accounts, add, asked, connect, release
from tests.x import OAUTH1, save_credential, wait_until
from trackers.credentials.models import Credential
from trackers.history import by_command
from trackers.ingest.sources import acts, life
from trackers.ingest.sources.by_form import add_source
from trackers.ingest.sources.forms import SourceForm
from trackers.ingest.sources.models import SearchCount, Source
from trackers.money.models import Project, Spending

pytestmark = pytest.mark.django_db(transaction=True)

COUNTS = "GET /2/tweets/counts/recent"


@pytest.fixture
def x(fakex, settings):
    return connect(fakex, settings)


@pytest.fixture
def source(x):
    [(author, _)] = accounts(x, 1)
    hours = {"rate": 1 / 3600, "count": 100, "starts_in_s": -101 * 3600}
    release(x, authors=[author], tags=["poll"], tagged=1, retweets=0, **hours)
    return add("search", "#poll")


def test_a_count_is_kept_by_hours_and_paid_for(x, source):
    question = acts.asks_to_count(source)

    done = acts.count(source, by_command())

    shown = x.get("visible?from_ms=0&query=%23poll")["posts"]
    live = sum(post["state"] == "live" for post in shown)
    kept = SearchCount.objects.get()
    assert "for $0.005." in question
    assert done.is_done
    assert f"X counts {done.count:,} posts" in done.message
    assert kept.posts == sum(kept.by_hour) == done.count
    assert 90 <= live - 1 <= kept.posts <= live
    begins = [at for at, _ in kept.hours()]
    assert (begins[0], len(begins)) == (kept.since, len(kept.by_hour))
    assert all(at.minute == 0 for at in begins[1:])
    day = Spending.objects.get()
    assert (day.counts, day.counts_reserved, day.money) == (1, 0, Decimal("0.005"))
    assert (day.posts, day.users) == (0, 0)
    assert [entry["billed_micro"] for entry in asked(x, COUNTS)] == [5_000]
    assert LogEntry.objects.first().change_message.startswith("Had X count its posts, by ")


def test_the_newest_count_replaces_the_one_before(x, source):
    acts.count(source, by_command())
    SearchCount.objects.update(counted_at=F("counted_at") - timedelta(minutes=2))
    before = SearchCount.objects.get()

    acts.count(source, by_command())

    assert SearchCount.objects.get().counted_at > before.counted_at
    assert Spending.objects.get().counts == 2


def test_a_call_that_is_repeated_at_once_gets_the_same_count_and_is_not_billed(x, source):
    first = acts.count(source, by_command())

    again = acts.count(source, by_command())

    assert again == first
    assert Spending.objects.get().counts == 1
    assert len(asked(x, COUNTS)) == 1


def test_a_search_that_is_removed_while_x_counts_gets_a_reason(x, source):
    x.put("latency", {"ms": 1500})
    done = []

    def count():
        with closing(connection):
            done.append(acts.count(source, by_command()))

    thread = threading.Thread(target=count)
    thread.start()
    wait_until(lambda: Spending.objects.filter(counts_reserved=1).exists())
    Source.objects.filter(pk=source.pk).delete()
    thread.join()

    assert not done[0].is_done
    assert re.search(r"X counted \d+ posts, but it was removed\.", done[0].message)
    assert Spending.objects.get().counts == 1


def test_the_count_of_a_former_query_is_forgotten(x, source):
    acts.count(source, by_command())

    source.of = "#other"
    life.change_source(source, ["of"])

    assert not SearchCount.objects.exists()


def before(query):
    form = SourceForm({"kind": "search", "of": query})
    assert form.is_valid()
    return acts.count_before(form, by_command())


def test_a_search_is_counted_before_it_is_added(x, source):
    """What it costs is known before a post is read."""
    counted = acts.count(source, by_command()).count
    Source.objects.all().delete()
    Project.objects.update(price_of_a_post=Decimal(7))

    done = before("#poll")

    assert (done.is_done, done.count) == (True, counted)
    assert f"about ${counted:,.2f} a day to read them." in done.message
    assert not Source.objects.exists()
    assert Spending.objects.get().counts == 2
    assert LogEntry.objects.first().change_message.startswith("Had X count the posts of “#poll”")
    Project.objects.update(money_a_day=Decimal("0.0049"))
    assert "Today's budget does not allow it" in before("#other").message


def test_a_count_before_is_remembered_and_becomes_that_of_the_source(x, source):
    """A second click, or another door, is not billed again."""
    Source.objects.all().delete()

    done = before("#poll")

    assert before("#poll") == done
    assert re.search(r"in the seven days before \d\d:\d\d UTC: about ", done.message)
    assert (len(asked(x, COUNTS)), Spending.objects.get().counts) == (1, 1)
    assert LogEntry.objects.count() == 1

    again = add_source("search", "#poll", {}, by_command())

    assert SearchCount.objects.get(source=again).posts == done.count
    assert acts.count(again, by_command()).count == done.count
    assert len(asked(x, COUNTS)) == 1


def test_of_two_clicks_at_once_one_is_billed(x, source):
    Source.objects.all().delete()
    x.put("latency", {"ms": 1500})
    done = []

    def count():
        with closing(connection):
            done.append(before("#poll"))

    thread = threading.Thread(target=count)
    thread.start()
    wait_until(lambda: Spending.objects.filter(counts_reserved=1).exists())
    second = before("#poll")
    thread.join()

    assert (second.is_done, done[0].is_done) == (False, True)
    assert "X is being asked for this count at this moment." in second.message
    assert before("#poll") == done[0]
    assert Spending.objects.get().counts == 1


def test_a_failed_count_before_may_be_asked_for_again_at_once(x, source):
    Source.objects.all().delete()
    x.put("faults", [{"kind": "503_json", "match": {"endpoint": COUNTS}, "times": 1}])

    assert not before("#poll").is_done
    assert before("#poll").is_done


def test_the_command_counts_a_search_before_it_is_added_and_once(x, source):
    Source.objects.all().delete()
    with pytest.raises(CommandError, match=r"search: #poll finds\? .* \$0\.005\. Repeat it with"):
        call_command("source", "count", "--of", "#poll")
    assert asked(x, COUNTS) == []

    out = io.StringIO()
    call_command("source", "count", "--of", " #poll ", "--yes", "--json", stdout=out)
    # What is remembered costs nothing, so nothing is asked.
    call_command("source", "count", "--of", "#poll", "--json", stdout=out)

    first, second = map(json.loads, out.getvalue().splitlines())
    assert first == second == {"of": "#poll", "posts": before("#poll").count}
    assert len(asked(x, COUNTS)) == 1
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command("source", "count", "1", "--of", "#poll")
    add("search", "#poll")
    with pytest.raises(CommandError, match="It already exists"):
        call_command("source", "count", "--of", "#poll")


def test_the_api_counts_a_search_before_it_is_added_and_once(x, source):
    Source.objects.all().delete()
    program = Program(Client(), User.objects.create_superuser("olga"))
    assert (
        "for $0.005. Send it again with confirm"
        in (program.post("sources/count", {"of": "#poll"})["error"])
    )
    assert (program.status, asked(x, COUNTS)) == (409, [])

    first = program.post("sources/count", {"of": "#poll", "confirm": True})

    assert first["posts"] == sum(first["by_hour"]) > 0
    assert program.post("sources/count", {"of": "#poll"}) == first
    assert len(asked(x, COUNTS)) == 1
    added = program.post("sources", {"of": "#poll"})
    assert program.get(f"sources/{added['id']}/count") == first
    assert "already exists" in program.post("sources/count", {"of": "#poll"})["error"]
    assert program.status == 422


def test_a_count_that_the_budget_does_not_allow_is_not_asked_for(x, source):
    Project.objects.update(money_a_day=Decimal("0.0049"))

    done = acts.count(source, by_command())

    assert not done.is_done
    assert "Today's budget does not allow it: a count costs $0.005." in done.message
    assert asked(x, COUNTS) == []
    assert not Spending.objects.exclude(counts_reserved=0).exists()


@pytest.mark.parametrize(
    ("fault", "why"), [("503_json", "Service Unavailable"), ("403", "Client Forbidden")]
)
def test_a_failed_count_costs_nothing_and_has_its_reason(x, source, fault, why):
    x.put("faults", [{"kind": fault, "match": {"endpoint": COUNTS}}])

    done = acts.count(source, by_command())

    assert not done.is_done
    assert "X did not count: " in done.message
    assert why in done.message
    assert not SearchCount.objects.exists()
    assert (Spending.objects.get().counts, Spending.objects.get().counts_reserved) == (0, 0)


def test_without_the_token_of_an_app_x_is_not_asked(x, source):
    Credential.objects.all().delete()
    save_credential("user", kind="oauth1", secrets=OAUTH1)

    done = acts.count(source, by_command())

    assert "only bearer tokens" in done.message
    assert asked(x, COUNTS) == []


def test_only_a_search_is_counted(x):
    done = acts.count(add("list", "55"), by_command())

    assert (done.is_done, CredentialFactory._meta.model.objects.count()) == (False, 1)
    assert "only what a search finds" in done.message
