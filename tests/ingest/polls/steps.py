"""Sources polled as the cluster polls them, step by step, against the fake X over HTTP."""

import time
from collections import Counter
from datetime import timedelta
from urllib.parse import urlencode

from tests.factories import CredentialFactory
from trackers import tasks
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.jobs import queue
from trackers.money.models import Spending
from trackers.tweets.models import Sample, Tweet
from tweetwatch.database import cursor

POLL = "source:poll"
FAR = 10**15
AT_ONCE = {"usual_ms": 0, "late_share": 0, "very_late_share": 0}


def visible(x, **which):
    """The ids of what X shows by now, as the fake itself tells."""
    return {
        int(post["id"])
        for post in x.get(f"visible?{urlencode(which)}")["posts"]
        if post["state"] == "live"
    }


def release(x, **flow):
    """Let posts appear: at once and all of them, unless the test says otherwise."""
    x.tell("POST", "posts", {"lag": AT_ONCE, "rate": 1e6, **flow})
    end = time.monotonic() + 10
    while "starts_in_s" not in flow and len(visible(x)) < len(visible(x, until_ms=FAR)):
        assert time.monotonic() < end, "posts did not appear"
        time.sleep(0.02)


def accounts(x, count):
    """Accounts that nothing befalls: their ids and names."""
    steady = [one for one in x.get("authors")["authors"] if one["steady"]]
    return [(one["id"], one["username"]) for one in steady[:count]]


def add(kind, of, **given):
    """A source that was added, without limits of its own."""
    source = Source(kind=kind, of=of, **{"backfill": None, **given})
    life.add_source(source)
    return source


def step(source):
    """The next step of its poll, whenever it is due; whether there was one."""
    with cursor() as db:
        db.execute(
            "UPDATE trackers_pollbucket SET due_at = now() WHERE %s = ANY(keys)", [source.pk]
        )
    batch = queue.get(POLL)
    if batch is None:
        return False
    tasks.poll_source(batch)
    source.refresh_from_db()
    return True


def poll(source, most=60):
    """A whole poll, from now."""
    life.poll_now([source.pk])
    source.refresh_from_db()
    before = source.polled_at
    for _ in range(most):
        assert step(source), "it has no job"
        if source.polled_at != before:
            return
    raise AssertionError(f"after {most} steps the poll is not over: {source.problem}")


def fill(source, most=60):
    """All gaps that can be filled."""
    for _ in range(most):
        rest = source.gaps.filter(closed_at=None).exclude(why="reach", archive_asked_at=None)
        if not source.sweep and not rest:
            return
        step(source)
    raise AssertionError(f"after {most} steps there are gaps: {source.problem}")


def yielded(source):
    return set(source.tweets.values_list("tweet_id", flat=True))


def asked(x, endpoint):
    return [entry for entry in x.log() if entry["endpoint"] == endpoint]


def connect(fakex, settings):
    """A fake X that nobody owes anything, and a credential for it."""
    settings.X_API_BASE_URL = fakex.url
    # A reply that comes too late counts as paid here, and at X it may not be.
    settings.REQUEST_TIMEOUT = timedelta(seconds=15)
    CredentialFactory(name="one")
    fakex.delete("projects")
    fakex.put("world", {"search_newest_s": 0, "search_end_s": 0})
    return fakex


# The books: X's, as the fake's log has them, and ours.


def answers(x):
    """How often X gave figures of each post."""
    collected = Counter()
    for entry in x.log():
        collected.update(int(id) for id, said in entry["answers"].items() if isinstance(said, dict))
        collected.update(map(int, entry["shown"]))
    return collected


def measurements():
    newest = {id: count for id, count in Tweet.objects.values_list("id", "measurements") if count}
    total = Counter(newest)
    for id, count in Sample.objects.values_list("tweet_id", "measurements"):
        total[id] += count
    return total


def billed(x):
    return sum(entry["billed_posts"] for entry in x.log())


def spent():
    rows = Spending.objects.values_list("posts", "posts_reserved")
    assert all(reserved == 0 for _, reserved in rows)
    return sum(posts for posts, _ in rows)
