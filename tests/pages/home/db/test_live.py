"""What is moving now: the newest changes as rows, and those behind a place."""

import re
from datetime import timedelta

from django.contrib.auth.models import User

from tests.pages.conftest import measure, watched
from trackers.ingest.sources.models import Source
from trackers.outbox.models import Event
from trackers.outbox.publish import NewEvent, publish_events

ROWS = re.compile(r'<tr id="event-.*?</tr>', re.DOTALL)


def rows(reply):
    """The words of each row."""
    assert reply.status_code == 200
    found = ROWS.findall(reply.content.decode())
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", one)).strip() for one in found]


def after(reply):
    return re.search(r'data-after="(\d+-\d+)"', reply.content.decode())[1]


def test_opening_the_page_records_changes_and_shows_gains_of_tweets(staff):
    tweet = watched(text="Liftoff")
    measure(tweet, 0, likes=3)
    assert rows(staff.get("/live/")) == []
    assert not Event.objects.exists()

    measure(tweet, 60, likes=5, views=120)
    page = staff.get("/live/")

    [row] = rows(page)
    assert re.match(r"moved ada @ada Liftoff Views 0 → 120 \+120 Likes 3 → 5 \+2", row)
    assert f'href="/tweets/{tweet.pk}/"' in page.content.decode()


def test_an_alert_names_its_subject(staff):
    staff.get("/live/")
    for of in ("subscriber", "credential", "project"):
        publish_events(
            [
                NewEvent(
                    "alerts", "create", url="/operations/", data={of: "main", "what": "It broke."}
                )
            ]
        )

    said = rows(staff.get("/live/?show=sources"))

    assert len(said) == 3
    for of, row in zip(("Project", "Credential", "Subscriber"), said, strict=True):
        assert f"{of} main: It broke." in row


def test_the_row_of_a_source_links_its_name_to_its_page(staff):
    staff.get("/live/")
    source = Source.objects.create(kind="search", of="liftoff", every=timedelta(hours=1))
    for id in (source.pk, source.pk + 1):
        gap = {"source": id, "what": "gap", "why": "It was paused."}
        publish_events([NewEvent("sources", "update", url=f"/sources/{id}/", data=gap)])

    page = staff.get("/live/?show=sources")

    gone, here = rows(page)
    assert here.startswith("gap search: liftoff It was paused.")
    assert gone.startswith(f"gap Source {source.pk + 1} (removed)")
    assert f'href="/sources/{source.pk}/"' in page.content.decode()


def test_an_ended_alert_is_shown_as_recovered(staff):
    staff.get("/live/")
    for state in ("down", "back"):
        data = {"stream": "filtered", "state": state, "what": "A word."}
        publish_events([NewEvent("alerts", "create", url="/sources/", data=data)])

    back, down = rows(staff.get("/live/?show=sources"))

    assert down.startswith("alert Sources Stream filtered: A word.")
    assert back.startswith("back Sources Stream filtered: A word.")


def test_the_newest_event_is_on_top_and_shown_events_are_not_repeated(staff):
    tweet = watched()
    measure(tweet, 0, likes=900)
    page = staff.get("/live/")
    assert (rows(page), "Nothing has happened" in page.content.decode()) == ([], True)

    measure(tweet, 60, likes=1_001)
    hidden = {"source": 4, "what": "hidden", "why": "It is private."}
    publish_events([NewEvent("sources", "update", url="/sources/4/", data=hidden)])
    brought = staff.get(f"/live/?part=rows&show=&after={after(page)}")

    assert [row.split()[0] for row in rows(brought)] == ["hidden", "milestone", "moved"]
    assert "1,000 likes reached, now 1,001" in rows(brought)[1]
    assert "It is private." in rows(brought)[0]
    assert rows(staff.get(f"/live/?part=rows&show=&after={after(brought)}")) == []
    assert [row.split()[0] for row in rows(staff.get("/live/?show=milestones"))] == ["milestone"]


def test_a_page_has_at_most_a_hundred_rows_with_escaped_text(staff):
    staff.get("/live/")
    alert = {"subscriber": "<script>1</script>", "what": "Nothing but failures."}
    publish_events([NewEvent("alerts", "create", url="/subscribers/", data=alert)] * 130)

    page = staff.get("/live/")

    assert len(rows(page)) == 100
    assert "Nothing but failures." in rows(page)[0]
    assert "<script>1" not in page.content.decode()


def test_bad_parameters_are_404_and_a_missing_permission_is_refused(staff, client):
    for query in ("show=x", "part=rows", "part=rows&after=1", "part=rows&after=x-1"):
        assert staff.get(f"/live/?{query}").status_code == 404

    client.force_login(User.objects.create_user("bob"))
    assert client.get("/live/").status_code == 403


def test_a_page_of_a_hundred_rows_takes_a_fixed_number_of_queries(
    staff, django_assert_max_num_queries
):
    staff.get("/live/")
    for low in range(60):
        tweet = watched(low)
        measure(tweet, 0)
        measure(tweet, 60, likes=1)
    staff.get("/live/")

    # None for each row.
    with django_assert_max_num_queries(14):
        assert len(rows(staff.get("/live/"))) > 50
