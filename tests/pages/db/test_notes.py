"""Notes: written, changed, removed, brought back, and gone with what they are on."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from tests.pages.conftest import flat, watched
from trackers import history, roles
from trackers.ingest.sources.life import remove_sources
from trackers.ingest.sources.models import Source
from trackers.notes import acts
from trackers.notes.models import Note, notes_of
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.tags.acts import merge_tags, remove_tags
from trackers.tweets.tags.names import get_or_create_tag

pytestmark = pytest.mark.django_db


@pytest.fixture
def grace():
    return history.on_page(User.objects.create_user("grace"))


def written(actor, kind, key, text="A word", **given):
    return acts.add(kind, str(key), text, actor, **given)


def test_a_note_is_on_a_thing_that_is_there(grace):
    tweet = watched()
    source = Source.objects.create(kind="account", of="nasa")
    tag = get_or_create_tag("to watch")
    for kind, key in (
        ("tweet", tweet.pk), ("author", tweet.author_id), ("source", source.pk), ("tag", tag.pk),
        ("day", "2026-03-14"),
    ):  # fmt: skip
        note = written(grace, kind, key)
        assert (note.kind, note.key, note.writer) == (kind, str(key), "grace")

    for kind, key in (
        ("tweet", 1), ("tweet", f"0{tweet.pk}"), ("tweet", "x"), ("author", "9" * 19), ("day", 7),
        ("day", "2026-02-30"), ("word", "mars"),
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            written(grace, kind, key)


@pytest.mark.parametrize(
    ("text", "at"),
    [("", None), (" \0 ", None), ("x" * 1001, None), ("a", datetime(1999, 1, 1, tzinfo=UTC))],
)
def test_a_note_needs_words_and_a_time_of_our_days(grace, text, at):
    with pytest.raises(ValidationError):
        written(grace, "day" if at is None else "tweet", "2026-03-14", text, at=at)


def test_a_chart_gets_what_was_written_on_its_thing_and_on_days(grace):
    tweet, other, now = watched(1), watched(2), timezone.now()
    hour = timedelta(hours=1)
    early = written(grace, "tweet", tweet.pk, at=now - 3 * hour)
    inside = written(grace, "tweet", tweet.pk, at=now - hour)
    written(grace, "tweet", other.pk, at=now - hour)
    today = written(grace, "day", now.astimezone(UTC).date().isoformat())

    between = (now - 48 * hour, now)
    assert {note.pk for note in notes_of("tweet", tweet.pk, between)} == {
        early.pk, inside.pk, today.pk,
    }  # fmt: skip
    assert notes_of("tweet", tweet.pk, (now - 3 * hour, now - hour))[-1].pk != inside.pk
    assert notes_of("tweet", tweet.pk, (now - 3 * hour, now - hour))


def test_notes_go_with_what_they_are_on(grace):
    tweet, other = watched(1), watched(2)
    source = Source.objects.create(kind="account", of="nasa")
    tags = [get_or_create_tag(name) for name in ("one", "two", "three")]
    for kind, key in (("tweet", tweet.pk), ("tweet", other.pk), ("source", source.pk)):
        written(grace, kind, key)
    for tag in tags:
        written(grace, "tag", tag.pk)

    untrack_tweets([tweet.pk])
    remove_sources([source.pk])
    merge_tags([tags[0]], grace, into=tags[1])
    remove_tags([tags[2]], grace)

    assert sorted(Note.objects.values_list("kind", "key")) == [
        ("tag", str(tags[1].pk)), ("tag", str(tags[1].pk)), ("tweet", str(other.pk)),
    ]  # fmt: skip


def test_the_page_of_a_tweet_has_its_notes_and_a_removed_one_comes_back(staff):
    tweet = watched()
    page = f"/tweets/{tweet.pk}/"
    answer = staff.post(
        "/notes/write", {"kind": "tweet", "key": tweet.pk, "text": "On the news", "at": ""}
    )
    assert answer.headers["Location"] == f"{page}#notes"
    note = Note.objects.get()
    assert "On the news" in flat(staff.get(page))

    at = "2026-03-14T08:30"
    staff.post(f"/notes/{note.pk}/edit/", {"text": "On the <late> news", "at": at})
    assert "On the &lt;late&gt; news" in flat(staff.get(page))
    before = Note.objects.get()
    assert before.changed_at

    assert staff.post(f"/notes/{note.pk}/remove").headers["Location"] == f"{page}#notes"
    assert not Note.objects.exists()
    # Another page neither says nor forgets it.
    assert "The note is removed" not in flat(staff.get(f"/authors/{tweet.author_id}/"))
    said_once = flat(staff.get(page))
    assert "The note is removed" in said_once
    assert "The note is removed" not in flat(staff.get(page))
    [removed] = re.findall(r'name="removed" value="([^"]+)"', said_once)
    staff.post("/notes/undo", {"removed": removed})
    after = Note.objects.get()
    assert (after.text, after.at, after.written_by_id, after.written_at) == (
        before.text, before.at, before.written_by_id, before.written_at,
    )  # fmt: skip
    assert [entry.change_message for entry in LogEntry.objects.order_by("pk")] == [
        f"Written on the tweet {tweet.pk}, on a page.",
        f"Changed the note on the tweet {tweet.pk}, on a page.",
        f"Removed the note on the tweet {tweet.pk}, on a page.",
        f"Brought back the note on the tweet {tweet.pk}, on a page.",
    ]


def test_a_removal_that_we_did_not_sign_is_not_undone(staff):
    staff.post("/notes/undo", {"removed": "made:up"})

    assert not Note.objects.exists()


def test_pages_of_author_source_and_tag_have_their_notes(staff, grace):
    tweet = watched()
    source = Source.objects.create(kind="account", of="nasa")
    tag = get_or_create_tag("to watch")
    for kind, key, page in (
        ("author", tweet.author_id, f"/authors/{tweet.author_id}/"),
        ("source", source.pk, f"/sources/{source.pk}/"),
        ("tag", tag.pk, "/tweets/?tag=to+watch"),
    ):
        written(grace, kind, key, f"About the {kind}")
        answer = staff.get(page)
        assert f"About the {kind}" in flat(answer)
        assert 'id="notes"' in flat(answer)


def test_a_faulty_note_is_shown_again_with_what_was_typed(staff):
    answer = staff.post("/notes/write", {"kind": "day", "key": "2026-02-30", "text": "Leap"})

    assert answer.status_code == 400
    assert "There is no day 2026-02-30" in flat(answer)
    assert ">Leap<" in flat(answer).replace("\n", "")
    assert 'type="date"' in flat(answer)


def test_the_page_of_all_notes_leads_to_what_they_are_on(staff, grace):
    tweet = watched()
    for count in range(51):
        written(grace, "tweet", tweet.pk, f"Note {count}.")
    written(grace, "day", "2026-03-14", "Holiday")
    first = flat(staff.get("/notes/"))
    assert "Holiday" in first
    assert f'href="/tweets/{tweet.pk}/#notes"' in first
    assert "Note 0." not in first
    [older] = re.findall(r'href="\?([^"]*)">Older notes', first)
    assert "Note 0." in flat(staff.get(f"/notes/?{older.replace('&amp;', '&')}"))


def test_a_viewer_reads_notes_and_gets_no_buttons(client, grace):
    viewer = User.objects.create_user("eve")
    roles.give(viewer, roles.VIEWER)
    client.force_login(viewer)
    tweet = watched()
    note = written(grace, "tweet", tweet.pk, "Read me")
    page = flat(client.get(f"/tweets/{tweet.pk}/"))

    assert "Read me" in page
    assert "/notes/write" not in page
    assert f"/notes/{note.pk}/" not in page
    assert client.post(f"/notes/{note.pk}/remove").status_code == 403
