import html
import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import DELETION, LogEntry

from tests import queues
from tests.pages.sources import gap, listed, now, paged, some_staff, source, words
from trackers.dashboards.sources.list_views import MAX_SOURCES
from trackers.ingest.files.models import Import
from trackers.ingest.polls.sweep import Sweep
from trackers.ingest.sources.models import PollBucket, Source, SourcePoll
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import Queue

pytestmark = pytest.mark.django_db


def test_without_sources_the_page_says_what_to_do(staff):
    page = staff.get("/sources/").content.decode()

    assert "Nothing is watched yet" in page
    assert "What do you want to watch?" in page
    assert "default-src 'self'" in staff.get("/sources/").headers["Content-Security-Policy"]


def test_a_running_source_shows_its_interval_and_next_poll(staff):
    source(due_in=180, yielded=12345, again=67)

    text = words(listed(staff))

    assert "@nasa&#x27;s posts Polled reads every 5 minutes" in text
    assert "12,345" in text
    assert "next in 2 min" in text or "next in 3 min" in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"paused_at": datetime(2026, 1, 1, tzinfo=UTC)}, "Paused not read until it is resumed"),
        ({"hidden_reason": "protected"}, "Hidden X does not show it: protected"),
        ({"problem": "X takes no such <query>."}, "X takes no such &lt;query&gt;."),
        ({"polled_at": None}, "New the first poll is due, then every 5 minutes"),
        ({"skew": timedelta(seconds=2.25)}, "our clock is 2.2 s ahead of X&#x27;s"),
        ({"skew": timedelta(seconds=-3)}, "our clock is 3.0 s behind X&#x27;s"),
        ({"leaked": 3, "yielded": 12000}, "1 in 4,000 posts"),
        ({"owner": "science"}, "owner: science"),
    ],
)
def test_the_state_of_a_source_is_described_in_words(staff, given, said):
    source(due_in=180, **given)

    assert said in words(listed(staff))


def test_a_small_clock_skew_is_not_shown(staff):
    source(due_in=180, skew=timedelta(seconds=0.9))

    assert "clock" not in listed(staff)


def test_claimed_lost_and_isolated_polls_are_shown_as_such(staff):
    reading, idle, isolated = source(of="a", due_in=60), source(of="b"), source(of="c", due_in=0)
    PollBucket.objects.filter(keys=[reading.pk]).update(lease=7)
    SourcePoll.objects.filter(key=isolated.pk).update(strikes=4)

    text = words(listed(staff))

    assert "@a&#x27;s posts Reading is being read now" in text
    assert "@b&#x27;s posts Idle no poll is planned" in text
    assert "@c&#x27;s posts Isolated four polls of it never finished" in text
    assert idle.pk in {row.pk for row in Source.objects.all()}


def test_a_source_between_two_pages_of_a_poll_is_shown_as_being_read(staff):
    source(due_in=-600, polled_at=None, sweep=asdict(Sweep("poll", None, None, pages_left=6)))

    assert "Reading is being read now" in words(listed(staff))


def test_open_and_lost_gaps_are_counted(staff):
    made = source(due_in=60)
    gap(made)
    gap(made, "quota")
    gap(made, "reach", from_id=None)
    gap(made, closed=True)

    assert "2 open, 1 lost" in listed(staff)


def test_a_paused_queue_is_shown_above_the_list(staff):
    Queue.objects.filter(pk="source:poll").update(paused=True)

    assert "source:poll is paused" in listed(staff)
    assert "manage.py qcluster" in listed(staff)


def test_the_stream_has_a_card_when_a_source_needs_it(staff):
    assert "The live stream" not in listed(staff)

    made = source("stream", "#artemis", polled_at=None, rule_id=7)
    assert "No process is listening yet. Start" in words(listed(staff))
    assert "Not running no process is listening: start manage.py stream" in words(listed(staff))

    Stream.objects.create(
        state="open", state_since=now(), heard_at=now(), lines=1234, duplicates=5, garbled=2,
        connects=4, host="h1", pid=77, rules_of_others=2,
    )  # fmt: skip
    text = words(listed(staff))
    assert "Live posts come in as they appear" in text
    assert "Lines 1,234 Duplicates 5 Unreadable 2 Reconnects 3" in text
    assert "h1, pid 77" in text
    assert (
        "X has 2 rules for this app that this installation did not make, and bills what they match."
        in text
    )
    Stream.objects.update(rules_of_others=1)
    assert (
        "1 rule for this app that this installation did not make, and bills what it matches."
        in (words(listed(staff)))
    )
    assert "The live stream" in paged(staff, made)


def test_a_stream_that_waits_says_why_and_until_when(staff):
    source("stream", "#artemis", polled_at=None)
    soon = now() + timedelta(seconds=45)
    Stream.objects.create(state="waiting", because="X answered 503", next_try_at=soon)

    told = words(listed(staff))

    assert "X answered 503" in told
    assert "Waiting to reconnect next try in 4" in told


def test_a_killed_stream_is_not_shown_as_live(staff):
    source("stream", "#artemis", polled_at=None)
    Stream.objects.create(state="open", lease=7, lease_until=now() - timedelta(minutes=10))

    told = words(listed(staff))

    assert "The live stream not running" in told
    assert "Not running no process is listening: start manage.py stream" in told


def test_the_list_takes_as_many_queries_for_any_number_of_sources(
    staff, django_assert_num_queries, django_assert_max_num_queries
):
    for number in range(30):
        gap(source(of=f"a{number}", due_in=60))

    # Session, user, sources, files, jobs, gaps, imports, stream; workers, credentials, projects,
    # queues, and whether everything is paused.
    with django_assert_max_num_queries(13):
        staff.get("/sources/?part=list")


def test_of_very_many_sources_the_rest_is_linked_in_the_admin(staff):
    Source.objects.bulk_create(Source(kind="list", of=str(number)) for number in range(1, 202))

    assert "These are the first 200." in words(listed(staff))
    Source.objects.get(of="77").delete()
    assert "in the admin" not in words(listed(staff)).split("Poll", 1)[1]


def test_many_finished_imports_hide_no_active_source(staff):
    live = source("stream", "#artemis", polled_at=None)
    Source.objects.bulk_create(Source(kind="import", of=f"{n}.csv") for n in range(201))
    unfinished = Source.objects.filter(kind="import").earliest("pk")
    for made in Source.objects.filter(kind="import"):
        ended = None if made == unfinished else now()
        Import.objects.create(source=made, format="ids", uploaded_at=now(), ended_at=ended)

    page = listed(staff)

    assert f'data-source="{live.pk}"' in page
    assert f'data-source="{unfinished.pk}"' in page
    assert page.count("data-source=") == 21
    assert "These are the newest 20 imported files." in words(page)


def test_advice_in_the_list_has_its_button(staff, client):
    paused, isolated = source(of="a", paused_at=now()), source(of="b", due_in=0)
    SourcePoll.objects.filter(key=isolated.pk).update(strikes=4)

    page = listed(staff)

    assert f'action="/sources/{paused.pk}/resume"' in page
    assert f'action="/sources/{isolated.pk}/poll"' in page
    assert 'action="/sources/' not in listed(some_staff(client, "view_source"))


def test_a_paused_queue_is_resumed_by_the_button_beside_the_advice(staff, client):
    Queue.objects.filter(pk="source:poll").update(paused=True)
    address = "/operations/queues/source:poll/resume"
    assert f'action="{address}"' in listed(staff)

    page = staff.post(address, follow=True)

    assert "Resumed source:poll." in words(page.content.decode())
    assert not Queue.objects.get(pk="source:poll").paused
    assert staff.post("/operations/queues/none/resume").status_code == 404
    assert some_staff(client, "view_source").post(address).status_code == 403


def test_a_rule_unknown_to_x_is_not_shown_as_live(staff):
    source("stream", "#artemis", polled_at=None)
    Stream.objects.create(state="open", state_since=now(), heard_at=now())

    assert "live: #artemis Connecting" in words(listed(staff))


def test_sources_with_findings_come_first_then_by_name(staff):
    source("search", "zebra", problem="X says no", failures=3)
    gap(source("account", "lost"), "reach")
    gap(source("account", "open"))
    source("account", "aaa", due_in=60)
    source("account", "Bbb", due_in=60)
    queues.put(SourcePoll, source("account", "yyy").pk, now(), strikes=4)

    page = listed(staff)

    names = re.findall(r"<strong>(.*?)</strong>\s*</a>", page)
    assert [html.unescape(name) for name in names] == [
        "@lost's posts", "@yyy's posts", "search: zebra", "@open's posts", "@aaa's posts",
        "@Bbb's posts",
    ]  # fmt: skip


def test_of_very_many_sources_those_with_findings_are_shown(staff):
    Source.objects.bulk_create(
        Source(kind="search", of=f"a{n:03}", priority=2) for n in range(MAX_SOURCES + 1)
    )
    source("search", "zebra", problem="X says no", priority=0)

    assert "search: zebra" in listed(staff)


def test_finished_imports_have_a_list_of_their_own(staff):
    source("account", "nasa", due_in=60)
    for name, ended in (("old.csv", now()), ("new.csv", None)):
        made = source("import", name, yielded=3)
        Import.objects.create(
            source=made, uploaded_at=now(), began_at=now(), ended_at=ended, parts=1
        )

    watched, finished = listed(staff).split("Finished imports")

    assert "file new.csv" in watched
    assert "old.csv" not in watched
    assert "file old.csv" in finished
    assert "new.csv" not in finished


def test_a_page_with_only_finished_imports_is_not_empty(staff):
    made = source("import", "old.csv")
    Import.objects.create(source=made, uploaded_at=now(), began_at=now(), ended_at=now())

    page = listed(staff)

    assert "Finished imports" in page
    assert "Nothing is watched yet" not in page


def test_ticked_sources_are_polled_paused_resumed_and_removed_after_a_question(staff):
    one, two, other = source(of="a", due_in=60), source(of="b", due_in=60), source(of="c")
    ids = [one.pk, two.pk]
    assert listed(staff).count('name="ids"') == 3

    def do(act, **given):
        page = staff.post("/sources/act", {"act": act, "ids": ids, **given}, follow=True)
        return words(page.content.decode())

    assert "@b's posts: Paused." in html.unescape(do("pause"))
    assert set(Source.objects.filter(paused_at=None)) == {other}
    assert "It was already paused." in do("pause")
    do("resume")
    assert not Source.objects.exclude(paused_at=None).exists()
    assert "Its next poll is due now." in do("poll")
    assert "Remove @a's posts, @b's posts?" in html.unescape(do("remove"))
    assert Source.objects.count() == 3
    do("remove", sure="yes")
    assert set(Source.objects.all()) == {other}
    assert LogEntry.objects.filter(action_flag=DELETION).count() == 2


@pytest.mark.parametrize("ids", [[], ["x"], ["0"], ["99999999999999999999"]])
def test_bulk_acts_need_a_ticked_source(staff, ids):
    source()

    page = staff.post("/sources/act", {"act": "pause", "ids": ids}, follow=True)

    assert "Tick some in the list." in page.content.decode()
    assert Source.objects.get().paused_at is None


def test_acts_on_ticked_sources_need_the_permission(client):
    changer, made = some_staff(client, "view_source", "change_source"), source()

    given = {"ids": [made.pk], "sure": "yes"}
    assert changer.post("/sources/act", {"act": "remove", **given}).status_code == 403
    assert changer.post("/sources/act", {"act": "nonsense", **given}).status_code == 404
    assert 'value="remove"' not in listed(changer)
    assert Source.objects.exists()
