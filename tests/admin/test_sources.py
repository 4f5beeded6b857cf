from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission, User

from tests import queues
from tests.admin.conftest import act, said
from tests.factories import id_born
from trackers.ingest.sources.models import Gap, Source, SourcePoll, Stream

pytestmark = pytest.mark.django_db
SOURCES = "/admin/trackers/source/"


def now():
    return datetime.now(UTC)


def filled(kind="account", of="@nasa", **changed):
    """The form as the admin sends it."""
    return {
        "kind": kind, "of": of, "every": "5m", "pages": "10", "backfill": "1d", "late_by": "",
        "priority": "1", "owner": "", **changed,
    }  # fmt: skip


def source(of="nasa", **given):
    made = Source.objects.create(**{"kind": "account", "of": of, **given})
    queues.put(SourcePoll, made.pk, now() + timedelta(minutes=5))
    return made


def change_page(made):
    return f"{SOURCES}{made.pk}/change/"


def edited(made, **changed):
    """What the form of a source that is there sends: its kind stays."""
    given = filled(**{"of": made.of, **changed})
    return {name: value for name, value in given.items() if name != "kind"}


@pytest.mark.parametrize(
    ("kind", "typed", "of"),
    [
        ("account", "https://x.com/nasa", "nasa"),
        ("mentions", "@nasa", "nasa"),
        ("search", "#artemis lang:en", "#artemis lang:en"),
        ("list", "https://x.com/i/lists/12", "12"),
    ],
)
def test_a_source_that_is_added_is_polled_at_once(staff, kind, typed, of):
    page = staff.post(f"{SOURCES}add/", filled(kind, typed), follow=True)

    assert "was added successfully" in said(page)[0]
    made = Source.objects.get()
    assert (made.kind, made.of) == (kind, of)
    assert SourcePoll.objects.get(key=made.pk).due_at <= now()


def test_a_rule_is_added_and_nothing_of_it_is_polled(staff):
    staff.post(f"{SOURCES}add/", filled("stream", "#artemis"))

    assert Source.objects.get().kind == "stream"
    assert not SourcePoll.objects.exists()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"of": ""}, "Enter whose posts"),
        ({"every": "1s"}, "An interval is 5 seconds at least and 1 day at most."),
        ({"pages": "501"}, "A poll reads 1 to 500 pages."),
        ({"late_by": "-0:00:05"}, "A duration cannot be negative."),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(staff, changed, why):
    page = staff.post(f"{SOURCES}add/", filled(**changed))

    assert why in page.content.decode()
    assert not Source.objects.exists()


def test_the_same_source_is_linked_and_not_added_twice(staff):
    made = source()

    page = staff.post(f"{SOURCES}add/", filled(of="NASA")).content.decode()

    assert f'It already exists: <a href="/sources/{made.pk}/">' in page


def test_the_form_says_what_it_may_cost(staff):
    assert "288 polls a day" in staff.get(f"{SOURCES}add/").content.decode()
    made = source(every=timedelta(minutes=1))
    assert "1,440 polls a day" in staff.get(change_page(made)).content.decode()


def test_a_change_takes_effect_now_and_leaves_alone_what_a_poll_wrote(staff):
    made = source(latest_id=77, yielded=5, polled_at=now())

    staff.post(change_page(made), edited(made, every="30s", owner="science"))

    made.refresh_from_db()
    assert (made.every, made.owner) == (timedelta(seconds=30), "science")
    assert (made.kind, made.of, made.latest_id, made.yielded) == ("account", "nasa", 77, 5)
    assert SourcePoll.objects.get(key=made.pk).due_at <= now()


def test_what_was_not_touched_moves_no_poll(staff):
    made = source()

    staff.post(change_page(made), edited(made))

    assert SourcePoll.objects.get(key=made.pk).due_at > now()


def test_the_same_account_written_otherwise_keeps_what_was_read_and_polls_nothing(staff):
    made = source(latest_id=77, asked_at_ms=88, account_id=11, username="NASA")
    gap = Gap.objects.create(source=made, from_id=1, to_id=2, why="budget", found_at=now())

    page = staff.post(change_page(made), edited(made, of="https://x.com/nasa"), follow=True)

    made.refresh_from_db()
    gap.refresh_from_db()
    assert (made.of, made.latest_id, made.account_id, gap.closed_at) == ("nasa", 77, 11, None)
    assert SourcePoll.objects.get(key=made.pk).due_at > now()
    assert not any("given up" in told for told in said(page))


def test_another_search_says_which_stretch_is_given_up(staff):
    since = now() - timedelta(days=4)
    made = source(kind="search", of="#artemis", latest_id=id_born(since))
    Gap.objects.create(source=made, from_id=1, to_id=2, why="reach", found_at=now())
    Gap.objects.create(source=made, from_id=3, to_id=4, why="quota", found_at=now())

    page = staff.post(change_page(made), edited(made, of="#mars"), follow=True)

    [told] = [one for one in said(page) if "Given up" in one]
    assert f"posts from {since:%Y-%m-%d %H:%M} UTC" in told
    assert "1 gap" in told
    shown = staff.get(change_page(made)).content.decode()
    [gaps] = re.findall(r"<ul>(<li>.*?)</ul><a", shown, re.S)
    assert re.search(r": given up [-\d: ]+: of “#artemis”</li>", gaps)
    assert ": lost: of “#artemis”</li>" in gaps
    assert "filled" not in gaps


def test_the_kind_of_a_source_stays(staff):
    made = source()

    staff.post(change_page(made), {**edited(made), "kind": "search"})

    made.refresh_from_db()
    assert made.kind == "account"


def test_gaps_are_shown_and_cannot_be_changed(staff):
    made = source()
    ids = [id_born(now() - timedelta(minutes=minutes)) for minutes in (120, 60)]
    gap = Gap.objects.create(
        source=made, from_id=ids[0], to_id=ids[1], why="budget", found_at=now()
    )

    page = staff.get(change_page(made)).content.decode()

    assert str(gap.to_id) in page
    assert 'name="gaps' not in page


def test_a_source_with_very_many_gaps_is_edited(staff):
    made = source()
    Gap.objects.bulk_create(
        Gap(source=made, from_id=n, to_id=n + 1, why="budget", found_at=now())
        for n in range(1, 491)
    )
    page = staff.get(change_page(made)).content.decode()

    # As a browser sends the form: every field of it.
    names = re.findall(r'<(?:input|select|textarea)[^>]*name="([^"]+)"', page)
    given = {**dict.fromkeys(names, ""), **edited(made, pages="20")}
    answer = staff.post(change_page(made), given)

    made.refresh_from_db()
    assert (answer.status_code, made.pages) == (302, 20)
    assert page.count("<li>the pages of a poll were used up") == 20


@pytest.mark.parametrize(
    ("action", "told", "due"),
    [
        ("pause", "Paused 1.", None),
        ("poll_now", "Polled next: 1.", True),
    ],
)
def test_an_action_reaches_the_queue(staff, action, told, due):
    made = source()

    page = act(staff, SOURCES, action, made.pk)

    assert said(page) == [told]
    jobs = SourcePoll.objects.filter(key=made.pk)
    assert [job.due_at <= now() for job in jobs] == ([due] if due else [])


def test_a_paused_source_is_resumed(staff):
    made = source(paused_at=now())
    SourcePoll.objects.all().delete()

    page = act(staff, SOURCES, "resume", made.pk)

    assert said(page) == ["Resumed 1."]
    assert Source.objects.get().paused_at is None
    assert SourcePoll.objects.filter(key=made.pk).exists()


def test_removing_asks_first(staff):
    made = source()

    page = act(staff, SOURCES, "remove", made.pk).content.decode()
    assert "The tweets stay tracked. This cannot be undone." in page
    assert "@nasa&#x27;s posts" in page
    assert Source.objects.exists()

    given = {"action": "remove", "_selected_action": [str(made.pk)], "sure": "yes"}
    staff.post(SOURCES, given)
    assert not Source.objects.exists()
    assert not SourcePoll.objects.exists()


def test_the_list_is_filtered_and_searched_and_counts_gaps(staff):
    one = source(owner="science", priority=2)
    source("esa", paused_at=now())
    gap = {"source": one, "from_id": 1, "to_id": 2, "found_at": now()}
    Gap.objects.create(why="budget", **gap)
    Gap.objects.create(why="budget", closed_at=now(), **gap)

    def found(**query):
        return list(staff.get(SOURCES, query).context["cl"].queryset)

    for query in ({"owner": "science"}, {"priority__exact": "2"}, {"paused": "no"}):
        assert found(**query) == [one]
    assert found(q="nas") == [one]
    assert [row.of for row in found(paused="yes")] == ["esa"]
    assert found(kind__exact="search") == []
    assert [row.open_gaps for row in found(q="nas")] == [1]


def test_more_sources_cost_the_list_no_more_queries(staff, django_assert_num_queries):
    source("a")
    # Session, user, how many there are and are found, the rows, the owners.
    with django_assert_num_queries(6):
        staff.get(SOURCES)
    for number in range(20):
        source(f"b{number}")

    with django_assert_num_queries(6):
        staff.get(SOURCES)


def some_staff(client, *permissions):
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return client


def test_who_may_only_look_may_do_nothing(client):
    looker, made = some_staff(client, "view_source"), source()

    assert looker.get(change_page(made)).status_code == 200
    assert looker.get(f"{SOURCES}add/").status_code == 403
    assert looker.post(change_page(made), edited(made)).status_code == 403
    for action in ("pause", "poll_now", "remove"):
        act(looker, SOURCES, action, made.pk)
    assert Source.objects.get().paused_at is None
    assert SourcePoll.objects.get().due_at > now()


def test_who_may_change_may_not_remove(client):
    changer, made = some_staff(client, "view_source", "change_source"), source()

    act(changer, SOURCES, "pause", made.pk)
    assert Source.objects.get().paused_at is not None
    given = {"action": "remove", "_selected_action": [str(made.pk)], "sure": "yes"}
    changer.post(SOURCES, given)
    assert Source.objects.exists()
    assert changer.get(f"{SOURCES}{made.pk}/delete/").status_code == 403


def test_the_stream_is_shown_and_cannot_be_changed(staff):
    Stream.objects.create(state="open", lease=4711471147114711)

    page = staff.get("/admin/trackers/stream/filtered/change/")

    assert page.status_code == 200
    assert "4711471147114711" not in page.content.decode()
    assert staff.post("/admin/trackers/stream/filtered/change/", {"lines": 5}).status_code == 403
    assert staff.get("/admin/trackers/stream/add/").status_code == 403
