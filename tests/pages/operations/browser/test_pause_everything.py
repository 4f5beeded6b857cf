"""Everything paused by one button, said on every page, and resumed just as it was before."""

from threading import Thread

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection

from tests.factories import CredentialFactory
from tests.pages.looking import looking
from tests.pages.sources import some_staff, words
from trackers import tasks
from trackers.credentials.models import Credential
from trackers.ingest.stream.requests import NoTurnError, check_payer, payer
from trackers.jobs import queue
from trackers.jobs.models import PausedAll, Queue
from trackers.jobs.pausing import pause_all, paused_all, resume_all
from trackers.tweets.models import Author

pytestmark = pytest.mark.django_db

PAGES = ("/", "/sources/", "/operations/", "/live/", "/feeds/")


def running():
    return set(Queue.objects.filter(paused=False).values_list("name", flat=True))


def test_pausing_everything_asks_first_and_names_what_stops(staff):
    Queue.objects.filter(pk="import:part").update(paused=True)

    page = words(staff.get("/operations/pause/").content.decode())

    assert "Pause everything?" in page
    assert f"Queues that stop {len(running())}" in page
    assert "These stay paused after “Resume everything”: import:part." in page
    assert paused_all() is None


def test_resuming_restores_the_former_state(staff):
    Queue.objects.filter(pk="import:part").update(paused=True)
    before = running()

    staff.post("/operations/pause/", {"because": "the bill"})
    assert running() == set()
    staff.post("/operations/resume")

    assert running() == before
    assert "import:part" not in running()


def test_every_page_shows_the_pause_once(staff, client):
    page = staff.post("/operations/pause/", {"because": "the bill"}, follow=True).content.decode()
    assert "“the bill”. No request goes to X, and no queue runs." in words(page)

    for address in PAGES:
        page = staff.get(address).content.decode()
        assert page.count("Everything is paused.") == 1, address
        assert "is paused.</strong> Nothing in it" not in page, address
        assert 'action="/operations/resume"' in page, address
    assert "Pause everything…" not in page

    # Who may not end it is told all the same.
    viewer = some_staff(client, "view_tweet").get("/").content.decode()
    assert "Everything is paused." in viewer
    assert 'action="/operations/resume"' not in viewer


def test_open_pages_learn_of_the_pause(staff):
    assert "paused" not in staff.get("/operations/paused/").content.decode()
    pause_all(by="bob")
    assert "bob paused it" in staff.get("/operations/paused/").content.decode()


def test_the_pause_is_shown_only_with_permission_on_tweets(client):
    pause_all(by="ada")
    page = some_staff(client, "view_source").get("/sources/").content.decode()

    assert "Everything is paused" not in page
    assert "pause-line" not in page
    assert client.get("/operations/paused/").status_code == 403


def test_pausing_everything_needs_a_permission_and_is_recorded(staff, client):
    staff.post("/operations/pause/", {"because": "the bill"})
    staff.post("/operations/resume")
    told = list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))
    assert told == ["Paused everything: the bill, on a page.", "Resumed everything, on a page."]

    bob = some_staff(client, "view_queue")
    assert bob.post("/operations/pause/").status_code == 403
    assert bob.post("/operations/resume").status_code == 403
    assert "Pause everything" not in bob.get("/operations/").content.decode()


def test_a_second_pause_and_a_second_resume_change_nothing(staff):
    pause_all(by="bob")

    text = staff.post("/operations/pause/", follow=True).content.decode()
    assert "Everything was paused already." in text
    assert paused_all().by == "bob"

    staff.post("/operations/resume")
    text = staff.post("/operations/resume", follow=True).content.decode()
    assert "Everything was not paused." in text


def test_a_single_queue_cannot_be_resumed_during_the_pause(staff):
    pause_all(by="bob")

    said = staff.post("/operations/queues/tweet:update/resume", follow=True).content.decode()

    assert "tweet:update continues once everything is resumed" in said
    assert running() == set()


def test_the_pause_stops_claims_the_stream_and_periodic_tasks(settings):
    CredentialFactory()
    Author.objects.create(id=7)
    # Nobody listens there: a request would fail, and count as a use of the credential.
    settings.X_API_BASE_URL = "http://127.0.0.1:9"
    pause_all(by="bob")

    assert queue.claim_batch("tweet:update") is None
    with pytest.raises(NoTurnError, match="Everything is paused"):
        payer()
    with pytest.raises(NoTurnError, match="Everything is paused"):
        check_payer(None)
    tasks.ask_authors()
    tasks.compare_usage()
    assert Credential.objects.get().used_at is None

    resume_all()
    assert payer().name
    tasks.ask_authors()
    assert Credential.objects.get().used_at is not None


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_pauses_one_is_done():
    before = running()
    made = []

    def pause(by):
        made.append(pause_all(by=by))
        connection.close()

    threads = [Thread(target=pause, args=(by,)) for by in ("ann", "bob", "cy", "dee")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    [row] = [one for one in made if one]
    assert PausedAll.objects.get().queues == row.queues == sorted(before)
    assert resume_all()
    assert running() == before


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_person_pauses_and_resumes_everything_with_the_keyboard(staff, live_server):
    before = running()
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        seen.page.goto(f"{seen.address}/operations/")
        seen.page.focus("#pause-link")
        seen.page.keyboard.press("Enter")
        seen.page.fill("#because", "the bill is too high")
        seen.page.focus("#pause-all")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_selector(".pause-line")
        assert running() == set()
        seen.page.goto(f"{seen.address}/sources/")
        assert "the bill is too high" in seen.page.inner_text(".pause-line")
        seen.page.focus("#resume-all")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_selector(".pause-line", state="detached")

    assert running() == before
