"""What each way in which X fails does to the tweets, the credential and the queue.

`docs/failures.md` holds the table that comes out; with WRITE_FAILURES=1, and without a random
order, this file writes it anew.
"""

import os
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from tests import queues
from tests.conftest import PROJECT
from tests.factories import CredentialFactory
from trackers import tasks
from trackers.credentials.models import Credential, Window
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE, Queue
from trackers.money.models import Project
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = PROJECT / "docs" / "failures.md"
# Enough that a burst of false not-founds is one.
COUNT = 12
MINUTE = timedelta(minutes=1)

# The kinds of the fake's script, and what X does then.
FAULTS = {
    "429": "429, the window is used up, with its reset",
    "429_per_second": "429, more than one a second",
    "429_past": "429, the window is used up, with a reset that is past",
    "429_twice": "429, the window is used up, and each rate header comes twice",
    "429_edge": "429 of a server in front of X, without rate headers",
    "429_cap": "429, the cap of the month is reached",
    "429_connections": "429, too many connections",
    "402_credits": "402, no credits",
    "402_depleted": "402, credits depleted",
    "401": "401, without headers",
    "403": "403, the client is not enrolled",
    "403_unsupported": "403, another kind of authentication is needed",
    "403_forbidden": "403, and no more is said",
    "404": "404",
    "503_json": "503 in JSON",
    "503_text": "503 in plain text",
    "500": "500",
    "redirect": "308, to the other name of X",
    "html": "200 with HTML",
    "slow": "no answer in time",
    "reset": "the connection is reset",
    "truncated": "the body ends too early",
    "bad_chunk": "a chunk of the body has a size below zero",
    "no_date": "200 without a Date",
    "garbage_list": "200 with a list",
    "omit": "the tweets are left out of the answer",
    "broken": "the tweets come with figures of a wrong type",
    "not_found": "X says at once that all tweets do not exist",
    "null_count": "the tweets come with one count of six that is null",
}


@pytest.fixture
def x(fakex, settings):
    settings.X_API_BASE_URL = fakex.url
    settings.REQUEST_TIMEOUT = timedelta(seconds=1)
    CredentialFactory(name="main app")
    return fakex


def look(*, after):
    """One look-up of all that is tracked, as if `after` had passed since the last."""
    queues.turn_clock(TweetUpdate, after)
    with cursor() as db:
        db.execute("UPDATE trackers_queue SET held_until = held_until - %s", [after])
        db.execute(
            "UPDATE trackers_window SET learned_at = learned_at - %(by)s,"
            " resets_at = resets_at - %(by)s, seen_at = seen_at - %(by)s,"
            " cooldown_until = cooldown_until - %(by)s, rejected_at = rejected_at - %(by)s",
            {"by": after},
        )
        db.execute("UPDATE trackers_credential SET retry_at = retry_at - %s", [after])
        # Between two looks at a missing tweet lies an hour.
        db.execute("UPDATE trackers_tweet SET missing_since = missing_since - interval '1 hour'")
    batch = queue.get(TWEET_UPDATE, 100)
    if batch is not None:
        tasks.update_tweets(batch)


def the_tweets():
    """When they are asked for again, and what is shown of them meanwhile."""
    with cursor() as db:
        waits = db.execute(
            "SELECT extract(epoch FROM due_at - now())::float8 FROM trackers_tweetupdate"
        ).fetchall()
    longest = max(wait for (wait,) in waits)
    classes = [(1, "at once"), (7, "after some 5 s"), (31, "after 30 s"), (601, "after 10 min")]
    again = next((said for bound, said in classes if longest <= bound), "by their age")
    missing = Tweet.objects.exclude(missing_reason="").count()
    visible = "shown as missing" if missing else "figures stay as they were"
    visible = "shown as unreadable" if Tweet.objects.exclude(unreadable_since=None) else visible
    unknown = Tweet.objects.filter(likes=None).count() == COUNT
    visible = "this count is unknown, the others are measured" if unknown else visible
    return f"asked again {again}; {visible}"


def the_credential():
    credential, window = Credential.objects.get(), Window.objects.get()
    refused = f"refused {credential.refused} times in a row, asked nowhere for"
    if window.refused:
        refused = f"refused {window.refused} times in a row, not asked at this endpoint for"
    until = credential.retry_at or (window.refused and window.cooldown_until)
    refused = f"{refused} {round((until - timezone.now()) / MINUTE)} min" if until else ""
    lost = f"{len(window.lost)} requests count as lost in its window" if window.lost else ""
    used_up = "its window is used up" if window.remaining == 0 else ""
    project = Project.objects.get()
    sentence = "depleted, with its project, for 10 min and then longer"
    depleted = sentence if project.depleted_until and credential.state == "depleted" else ""
    rests = "rests, each time twice as long" if window.limited else ""
    sentence = (refused, lost, used_up, rests, depleted)
    return "; ".join(part for part in sentence if part) or "as before"


def still_doubted():
    """Of tweets that X said three times, an hour apart, not to exist, or told nothing of."""
    if Tweet.objects.exclude(unreadable_since=None):
        return "; then " + the_tweets().partition(";")[0]
    missing = Tweet.objects.exclude(missing_reason="")
    if not missing:
        return ""
    return "; gone" if missing.exclude(gone_at=None) else ", and still doubted two hours later"


def the_queue():
    held = Queue.objects.get(name=TWEET_UPDATE)
    if held.held_until is None:
        return "goes on"
    # Times of the day differ from run to run.
    because = re.sub(r"(\d+ \w{3}, )?\d\d:\d\d:\d\d", "HH:MM:SS", held.held_reason)
    return f"held: {because}"


def row_of(kind, x):
    ids = x.ids(COUNT)
    x.put("tweets", {str(id): {"state": "live"} for id in ids})
    list(track((FoundTweet(id) for id in ids), came_from="a test"))
    look(after=timedelta(seconds=10))
    assert Tweet.objects.filter(measurements=1).count() == COUNT
    params = {"ms": 2500} if kind == "slow" else {}
    rule = {"match": {"endpoint": "GET /2/tweets"}, "kind": kind, "params": params}
    x.put("faults", [rule])
    cycle = timedelta(days=2)
    look(after=cycle)
    tweets = the_tweets()
    for _ in range(2):
        look(after=cycle)
    look(after=timedelta(0))
    tweets += still_doubted()
    row = f"| `{kind}` | {FAULTS[kind]} | {tweets} | {the_credential()} | {the_queue()} |"
    x.delete("faults")
    assert not TweetUpdate.objects.filter(strikes__gt=0).exists(), "a failure is no strike"
    assert Credential.objects.get().disabled_at is None
    return row


def with_row(page, kind, row):
    """The page with the row of this kind as the last of its table."""
    lines = [line for line in page.splitlines() if not line.startswith(f"| `{kind}` |")]
    last = max(place for place, line in enumerate(lines) if re.match(r"\| `\w+` \|", line))
    return "\n".join([*lines[: last + 1], row, *lines[last + 1 :]]) + "\n"


@pytest.mark.parametrize("kind", FAULTS)
def test_the_documented_failures_match_what_happens(kind, x):
    row = row_of(kind, x)

    if os.environ.get("WRITE_FAILURES"):
        PAGE.write_text(with_row(PAGE.read_text(), kind, row))
    assert row in PAGE.read_text().splitlines()


def test_the_documented_failures_are_the_kinds_of_the_fake(fakex):
    reply = fakex.session.put(
        f"{fakex.url}/_fake/faults", json=[{"match": {}, "kind": "?"}], timeout=10
    )
    known = set(re.findall(r"[a-z0-9_]+", reply.text.split("known:")[1].split('"')[0]))

    assert known - {"lose_answer"} == set(FAULTS)
    assert re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), re.MULTILINE) == list(FAULTS)
