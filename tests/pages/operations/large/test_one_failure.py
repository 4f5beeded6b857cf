"""One failure is one sentence with one next step, the same on every page, and no two contradict."""

import re
from dataclasses import asdict
from datetime import timedelta
from html import unescape

import pytest

from tests.factories import CredentialFactory, ProjectFactory
from tests.pages.sources import now, source, words
from trackers.credentials import selection, sentences
from trackers.credentials.health import note_refusal
from trackers.credentials.models import Credential
from trackers.dashboards.words import with_code
from trackers.ingest.polls.sweep import Sweep
from trackers.ingest.stream.models import Stream
from trackers.ingest.stream.requests import NoTurnError, payer
from trackers.jobs.models import Queue
from trackers.money.models import Project
from trackers.xapi.errors import Refused
from tweetwatch.clock_times import clock_time

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def read(staff, address):
    return unescape(words(staff.get(address).content.decode()))


def hold(because):
    soon = now() + timedelta(seconds=15)
    Queue.objects.filter(pk__in=["tweet:update", "source:poll"]).update(
        held_until=soon, held_reason=because
    )


def listening():
    """Why the stream does not."""
    with pytest.raises(NoTurnError) as refused:
        payer()
    return refused.value.why


def everywhere(staff):
    """The pages that say why No requests to X."""
    made = source(due_in=15, problem=selection.select_credential().why)
    rule = source("stream", "#artemis", polled_at=None)
    Stream.objects.create(state="waiting", because=listening())
    addresses = (
        "/?part=now",
        "/operations/",
        "/sources/?part=list",
        f"/sources/{made.pk}/?part=detail",
    )
    return [read(staff, address) for address in (*addresses, f"/sources/{rule.pk}/?part=detail")]


def test_every_page_reports_a_disabled_credential_in_one_sentence(staff):
    CredentialFactory(name="main").disable("disabled by ada", now=now())
    sentence = (
        "No credential is enabled (main: disabled by ada). Enable one in the admin, or with "
        "`manage.py credential enable main`."
    )
    hold(selection.select_credential().why)

    pages = everywhere(staff)

    assert (
        selection.select_credential().why == listening() == sentences.nobody_may_ask() == sentence
    )
    for page in pages:
        assert sentence.replace("`", " ").split(" manage")[0] in page.replace("`", " ")
        assert "Add one" not in page
        assert "There is no" not in page
        assert "`" not in page
    # Not once more for each queue that it holds.
    assert pages[0].count("No credential is enabled") == 1
    assert "tweet:update is on hold" not in pages[0]


def test_without_any_credential_every_page_says_to_add_one(staff):
    hold(selection.select_credential().why)

    for page in everywhere(staff):
        assert "There is no credential for X yet. Add one in the admin" in page
        assert "enabled" not in page.replace("is enabled.", "")
    assert selection.select_credential().why == listening() == sentences.NONE_YET


def test_every_page_reports_a_depleted_project_once_in_the_same_words(staff):
    CredentialFactory(name="main")
    Project.objects.update(
        depleted_until=now() + HOUR, depleted_reason="402 depleted", depletions=1
    )
    sentence = sentences.depleted("main", "402 depleted")
    hold(selection.select_credential().why)

    overview, operations = (read(staff, one) for one in ("/?part=now", "/operations/"))

    assert (
        selection.select_credential().why == listening() == sentences.nobody_may_ask() == sentence
    )
    assert overview.count(sentence) == 1
    assert sentence in operations
    assert "is stopped: " not in operations


def test_pages_say_why_x_refuses_keys_and_when_they_are_tried_again(staff):
    main = CredentialFactory(name="main")
    note_refusal(main, Refused("401 Unauthorized", status=401))
    why = selection.select_credential().why
    hold(why)

    overview, operations, own = (
        read(staff, address)
        for address in (
            "/?part=now",
            "/operations/",
            f"/admin/trackers/credential/{main.pk}/change/",
        )
    )

    assert why == sentences.nobody_may_ask()
    assert "main: X refused its keys: 401 Unauthorized; tried again at" in overview
    assert "Next try in" not in overview, "the sentence says when"
    again = clock_time(Credential.objects.get().retry_at, now=now())
    for page in (operations, own):
        assert "X refused its keys since" in page
        assert f"401 Unauthorized. Correct them in the admin. Not asked before {again}." in page


def test_another_hold_is_shown_for_its_queue(staff):
    CredentialFactory()
    hold("X answered 503.")

    page = read(staff, "/?part=now")

    assert "tweet:update is on hold. X answered 503. Next try in 1" in page


def dry(**given):
    sentence = sentences.spent(["acme"], again=now() + HOUR, now=now())
    sweep = asdict(Sweep("poll", None, None, pages_left=6, pages=4))
    return source(due_in=3600, problem=sentence, sweep=sweep, poll_at=None, **given), sentence


def test_a_source_without_money_waits_only_for_money(staff):
    made, sentence = dry()

    listed, paged = (
        read(staff, "/sources/?part=list"),
        read(staff, f"/sources/{made.pk}/?part=detail"),
    )

    for page in (listed, paged):
        assert "Waits for money" in page
        assert sentence in page
        assert "Problem" not in page
        assert "under way" not in page
        assert "being read" not in page
    assert re.search(r"next in (59 min|1 h)", listed)
    assert re.search(r"next poll in (59 min|1 h)", paged)
    assert "A poll is waiting to continue: 4 pages read" in paged
    assert 'class="badge warn"' in staff.get(f"/sources/{made.pk}/?part=detail").content.decode()

    # Nor is one under way at X's locked door.
    made.hidden_reason, made.problem, made.polled_at = "protected", "", None
    made.save()
    locked = read(staff, f"/sources/{made.pk}/?part=detail")
    assert "A poll is waiting to continue: 4 pages read" in locked
    assert "Nothing read yet" in locked


def test_a_stream_without_money_waits_for_money(staff):
    made = source("stream", "#artemis", polled_at=None)
    _, sentence = dry()
    Stream.objects.create(state="waiting", because=sentence)

    assert "Waits for money" in read(staff, f"/sources/{made.pk}/?part=detail")


def test_a_source_missing_at_x_is_reported_as_not_found(staff):
    made = source(due_in=60, hidden_reason="not_found", problem="X has no such account or list.")

    page = read(staff, f"/sources/{made.pk}/?part=detail")

    assert "Not found on X" in page
    assert "X does not know this name: correct it, or remove the source" in page
    assert "Hidden" not in page


def test_budgets_of_several_projects_are_named():
    ProjectFactory(name="a")

    said = sentences.spent(["a", "b"], again=now() + HOUR, now=now())

    assert said.startswith("Today's budget of projects a, b is spent.")
    assert sentences.is_spent(said)
    assert not sentences.is_spent(sentences.NONE_YET)


def test_only_commands_in_a_sentence_become_markup():
    assert with_code("Run `a <b>` <i>.") == "Run <code>a &lt;b&gt;</code> &lt;i&gt;."
