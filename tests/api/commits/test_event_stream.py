"""Who may read the live feed, what may be asked of it, and what an answer without a place holds."""

import json
import re

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User

from tests.api.conftest import Program, allowed
from tests.api.db.test_document import STREAM, TEXT
from tests.factories import TweetFactory
from trackers import roles
from trackers.events.live import open as open_streams
from trackers.outbox.models import Event, Staged, Topic
from trackers.outbox.publish import NewEvent, publish_events

STREAMS = "events/stream"


def blocks(answer):
    """Of an answer that has ended."""
    text = b"".join(answer.streaming_content).decode()
    return [
        {name: value for name, _, value in (line.partition(": ") for line in block.split("\n"))}
        for block in text.rstrip("\n").split("\n\n")
    ]


def events(answer):
    return [
        (one["event"], json.loads(one["data"]))
        for one in blocks(answer)
        if one.get("event") not in (None, "stream-busy")
    ]


def get(program, query="", **headers):
    given = {"Authorization": f"Bearer {program.token}"} | headers
    return program.client.get(f"/api/v1/{STREAMS}{query}", headers=given)


@pytest.mark.django_db
def test_a_missing_or_wrong_token_is_refused(client):
    session = f"{settings.SESSION_COOKIE_NAME}=x"
    for headers in ({}, {"Authorization": "Bearer nobody"}, {"Cookie": session}):
        answer = client.get(f"/api/v1/{STREAMS}", headers=headers)
        assert (answer.status_code, json.loads(answer.content)["status"]) == (401, 401)
    assert not Topic.objects.exclude(watched_until=None).exists()


@pytest.mark.django_db
def test_a_logged_in_user_reads_the_stream_until_the_account_is_deactivated(client):
    person = User.objects.create_user("bob")
    client.force_login(person)
    assert client.get(f"/api/v1/{STREAMS}").status_code == 401
    person.user_permissions.add(Permission.objects.get(codename="view_tweet"))
    assert client.get(f"/api/v1/{STREAMS}").status_code == 200

    User.objects.update(is_active=False)
    assert client.get(f"/api/v1/{STREAMS}").status_code == 401


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?topics=", r"topics must be 1 to 20 names"),
        ("?topics=" + ",".join(f"a{'_' * n}" for n in range(21)), r"topics must be 1 to 20"),
        ("?topics=tweets,nothing", r"There is no topic 'nothing'\."),
        ("?topics=tweets%00", r"Text must not contain the NUL character"),
        ("?author=ada", r"author: an id is a string of up to 19 digits"),
        ("?author=9999999999999999999", r"author: .*"),
        ("?source=1.5", r"source: an id is"),
        ("?with_data=perhaps", r"with_data: "),
        ("?after=5", r"Last-Event-ID is the id of an event of this stream"),
    ],
)
def test_bad_parameters_are_400_with_a_sentence(program, query, sentence):
    allowed(program.user, "view_topic")

    answer = get(program, query)

    assert answer.status_code == 400
    assert re.match(sentence, json.loads(answer.content)["detail"])


@pytest.mark.django_db
def test_a_malformed_last_event_id_is_refused(program):
    assert get(program, **{"Last-Event-ID": "x\ty"}).status_code == 400


@pytest.mark.django_db
def test_each_topic_takes_its_own_view_permission(program):
    Topic.objects.create(name="parcels")
    seen_by = {"tweets": "tweet", "milestones": "tweet", "sources": "source", "alerts": "queue"}
    every = {f"view_{name}" for name in ("tweet", "source", "queue", "topic")}
    for topic, model in {**seen_by, "parcels": "topic"}.items():
        names = every - {f"view_{model}"}
        program.user.user_permissions.set(Permission.objects.filter(codename__in=names))
        answer = get(program, f"?topics={topic}")
        assert answer.status_code == 403
        assert f"trackers.view_{model}" in json.loads(answer.content)["detail"]

    allowed(program.user, *every)
    assert get(program, "?topics=tweets,alerts,sources,parcels").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_stream_does_not_go_on_once_the_role_is_taken(client):
    user = User.objects.create_user("eve")
    roles.give(user, roles.VIEWER)
    program = Program(client, user)
    [*_, at] = [one["id"] for one in blocks(get(program)) if "id" in one]

    roles.take(user)

    assert get(program, **{"Last-Event-ID": at}).status_code == 403
    client.force_login(user)
    assert client.get(f"/api/v1/{STREAMS}", headers={"Last-Event-ID": at}).status_code == 401


@pytest.mark.django_db
def test_head_takes_no_place_among_the_streams(program):
    answer = program.client.head(
        f"/api/v1/{STREAMS}", headers={"Authorization": f"Bearer {program.token}"}
    )

    assert (answer.status_code, answer["Content-Type"]) == (200, "text/event-stream")
    assert (b"".join(answer.streaming_content), open_streams.taken) == (b"", 0)


@pytest.mark.django_db(transaction=True)
def test_a_poll_returns_newer_events_as_documented(program, settings):
    settings.PUBLIC_URL = "https://localhost"
    [(path, example)] = [
        (path, example) for _, path, example in STREAM.findall(TEXT) if path.startswith(STREAMS)
    ]
    *_, wanted = example.rstrip("\n").split("\n\n")
    fields = dict(line.split(": ", 1) for line in wanted.split("\n"))
    data = json.loads(fields["data"])
    TweetFactory(id=int(data["tweet_id"]))

    first = blocks(get(program))
    assert [one.get("retry") for one in first] == ["5000", None, None, None]
    assert json.loads(first[1]["data"])["retry_ms"] == 5000
    [*_, at] = [one["id"] for one in first if "id" in one]
    publish_events([NewEvent("tweets", data["type"], tweet_id=int(data["tweet_id"]), t=data["t"])])
    figures = [*data["data"].pop("before").values(), *data["data"].values()]
    Event.objects.update(figures=figures)

    headers = {"Last-Event-ID": at}
    again = get(program, "?" + path.split("?")[1], **headers)
    assert events(again) == [(fields["event"], json.loads(fields["data"]))]
    del data["data"]
    assert events(get(program, f"?after={at}")) == [("tweets", data)]
    # The header wins: a browser that comes back has the address as it was.
    assert events(get(program, "?after=0-0", **headers)) == [("tweets", data)]
    assert not Staged.objects.exists()
    # What nothing is known of any more is told once, and then what is known.
    gap, known = events(get(program, "?after=0-0"))
    assert (gap[0], [*gap[1]], known[0]) == ("stream-gap", ["kept_since", "told"], "tweets")


@pytest.mark.django_db(transaction=True)
def test_a_topic_cannot_imitate_events_of_the_stream_itself(client):
    client.force_login(User.objects.create_superuser("eve"))
    Topic.objects.bulk_create([Topic(name=name, publisher="shop") for name in ("gap", "busy")])
    address = f"/api/v1/{STREAMS}?topics=gap,busy"
    [*_, at] = [one["id"] for one in blocks(client.get(address)) if "id" in one]
    publish_events(
        [NewEvent(name, "create", url="https://shop.example/1") for name in ("gap", "busy")]
    )

    answer = blocks(client.get(f"{address}&after={at}"))

    named = [(one["event"], "topic" in json.loads(one["data"])) for one in answer if "event" in one]
    assert named == [("stream-busy", False), ("gap", True), ("busy", True)]
