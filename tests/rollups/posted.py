"""Tweets in sets, through the statements that put them there."""

from datetime import UTC, datetime, timedelta

from tests.factories import figures, id_born, post
from trackers.ingest.files.import_part import YIELDED
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.track import track_chunk
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.rollups.update import update_rollups
from trackers.schedule.intervals import Plan
from trackers.scores.update import update_scores
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict
from trackers.xapi.results import Entities, Link
from tweetwatch.database import array, cursor
from tweetwatch.pieces import Deadline

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def described(id, *, author=7, lang="en", hashtags=(), domains=(), text="words"):
    links = tuple(
        Link(f"https://t.co/{n}", domain, f"https://{domain}/", of_media=False)
        for n, domain in enumerate(domains)
    )
    entities = Entities(hashtags=tuple(hashtags), links=links)
    return post(id, author_id=author, text=text)._replace(lang=lang, entities=entities)


def tracked(*ids, source=None, **described_as):
    """Found, by a source if one is named."""
    found = [FoundTweet(id, described(id, **described_as)) for id in ids]
    track_chunk(found, came_from="a test")
    if source:
        yielded(source, *ids)
    return list(ids)


def yielded(source, *ids):
    with cursor() as db:
        db.execute(YIELDED, {"source": source, "ids": array(sorted(ids))})


def looked_up(id, *, at, **counts):
    """What X showed of it then."""
    _save(Verdict(id, MINUTE, figures(**counts), DAY), at=at)


def gone(id, *, at):
    _save(Verdict(id, MINUTE, missing="not_found", gone=True), at=at)


def _save(verdict, *, at):
    queue.schedule_many(TWEET_UPDATE, [(verdict.tweet_id, timedelta(0))])
    batch = queue.get(TWEET_UPDATE, 1)
    save_batch(batch, [Judged([verdict], at=at)], Plan(()))


def measured_at(id, age, **counts):
    """So that it has a checkpoint of that age."""
    born = born_of(id)
    looked_up(id, at=born + age * 0.9, **counts)
    looked_up(id, at=born + age, **counts)


def born_of(id):
    return datetime.fromtimestamp(((id >> 22) + 1288834974657) / 1000, UTC)


def id_of(posted, low=0):
    """Of one that was posted so long before NOW."""
    return id_born(NOW - posted, low)


def update(*, now=NOW):
    """What the minute's two tasks do."""
    update_scores(now=now, deadline=Deadline.after(60))
    return update_rollups(now=now, deadline=Deadline.after(60))
