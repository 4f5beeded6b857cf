"""What stands beside the tweets of `screens`: sources, imports, people, subscribers, timelines.

There are as many of each as a large team has, or a thousand; what grows with the tweets is what
sources brought.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.contrib.auth.models import User

from tests.pages.many import TAGS
from tests.queues import fill_buckets
from trackers.dashboards.models import Column
from trackers.events.models import Subscriber
from trackers.events.subscribers.subscriptions import enroll
from trackers.saved_views.models import SavedView
from trackers.shares.models import Share, Sharing
from trackers.timelines.followers import own
from trackers.tokens import feed_addresses as feed_addresses
from trackers.tokens.models import ApiToken
from tweetwatch.database import cursor

SOURCES, IMPORTS, WATCHERS, FOLLOWS, SUBSCRIBERS = 1_000, 1_000, 20, 200, 20
FIRST_IMPORT = SOURCES + 1
FIRST_WATCHER = 1_001
SOURCE = """
    INSERT INTO trackers_source (id, kind, of, owner, priority, every, pages, exclude_replies,
        exclude_retweets, backfill, created_at, username, passed_id, begun_id, version, left_out,
        yielded, again, leaked, hidden_reason, problem, failures, polled_at, paused_at)
    SELECT n, '{kind}', '{of} ' || n, '', 1, '5min', 10, false, false, '1day', now(), '', 0, 0, 0,
           '{{}}', 1000, 20, n % 7, '', CASE WHEN n % 50 = 3 THEN 'X did not answer.' ELSE '' END,
           CASE WHEN n % 50 = 3 THEN 4 ELSE 0 END, now(), CASE WHEN n % 40 = 9 THEN now() END
    FROM generate_series({first}, {last}) n
"""
# A tenth of all tweets came by source 1 too, and a twentieth by the first file.
BESIDE = (
    SOURCE.format(kind="search", of="words", first=1, last=SOURCES),
    SOURCE.format(kind="import", of="file", first=FIRST_IMPORT, last=SOURCES + IMPORTS),
    "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
    f" SELECT 1 + abs(n) % {SOURCES}, id, to_timestamp(born) + interval '1 minute', n % 999 = 1"
    " FROM many ORDER BY 1, 2",
    "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
    " SELECT 1, id, to_timestamp(born) + interval '1 minute', false FROM many WHERE n % 10 = 3"
    " ORDER BY 2 ON CONFLICT DO NOTHING",
    "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
    f" SELECT {FIRST_IMPORT}, id, to_timestamp(born), false FROM many WHERE n % 20 = 3 ORDER BY 2",
    "INSERT INTO trackers_sourceday (source_id, day, posts, again, late, billed, money)"
    " SELECT s, (now() AT TIME ZONE 'UTC')::date - d, 33, 4, 0, 33, 0.165"
    f" FROM generate_series(1, {SOURCES}) s, generate_series(0, 29) d",
    "INSERT INTO trackers_gap (source_id, from_id, to_id, why, token, yielded_when_found, found_at,"
    " closed_at) SELECT 1 + g % 300, g, g + 5, 'budget', '', 0, now() - g * interval '1 minute',"
    " CASE WHEN g % 6 > 0 THEN now() END FROM generate_series(1, 3000) g",
    "INSERT INTO trackers_sourcepoll (key, due_at, stamp)"
    " SELECT n, now() + interval '4 hours' + n * interval '1 second', n"
    f" FROM generate_series(1, {SOURCES}) n WHERE n % 40 <> 9",
    'INSERT INTO trackers_import (source_id, format, "column", referenced, note, header, bytes,'
    " files, parts, parts_done, read, tracked, already, rejected, uploaded_at, began_at, ended_at)"
    " SELECT n, 'ids', '', false, '', '', 1000, '[]', 3, 3, 500, 400, 80, 20, now(), now(), now()"
    f" FROM generate_series({FIRST_IMPORT}, {SOURCES + IMPORTS}) n",
    "INSERT INTO trackers_rejectedline (source_id, line, text, why)"
    f" SELECT {FIRST_IMPORT}, n, 'no id', 'This is neither the id nor the address of a tweet.'"
    " FROM generate_series(1, 1000) n",
    "INSERT INTO auth_user (id, username, password, is_superuser, first_name, last_name, email,"
    " is_staff, is_active, date_joined) SELECT n, 'user ' || n, '', true, '', '', '', true, true,"
    f" now() FROM generate_series({FIRST_WATCHER}, {FIRST_WATCHER + WATCHERS - 1}) n",
    "INSERT INTO trackers_follower (id, user_id, read_at) SELECT n, n, now()"
    f" FROM generate_series({FIRST_WATCHER}, {FIRST_WATCHER + WATCHERS - 1}) n",
    "INSERT INTO trackers_follow (follower_id, origin_id, followed_at)"
    f" SELECT w, 1 + (w * 7 + n * 5) % {SOURCES}, now()"
    f" FROM generate_series({FIRST_WATCHER}, {FIRST_WATCHER + WATCHERS - 1}) w,"
    f" generate_series(1, {FOLLOWS}) n ON CONFLICT DO NOTHING",
    "INSERT INTO trackers_origin (id, clock) SELECT DISTINCT origin_id, 0 FROM trackers_follow",
    "INSERT INTO trackers_deliverymark (origin_id, number) SELECT id, 0 FROM trackers_origin",
    "INSERT INTO trackers_timeline (name, live, seq, size) VALUES ('screens', true, 1, 10000)",
    "INSERT INTO trackers_timelineentry (timeline_id, entry_id, seq)"
    " SELECT t.id, n, 1 FROM trackers_timeline t, generate_series(1, 10000) n",
)
DELIVERIES = (
    "INSERT INTO trackers_eventbatch (uid, subscriber_id, state, place, events, keys, bytes,"
    " first_at, last_at, deadline) SELECT gen_random_uuid(), s.id, 'ready', n, ARRAY[n], ARRAY[0],"
    " 100, now(), now(), now() FROM trackers_subscriber s, generate_series(1, 500) n",
    "UPDATE trackers_subscriberstate SET added = 500, waiting_batches = 500, waiting_bytes = 50000",
    "INSERT INTO trackers_attempt (at, subscriber_id, uid, number, outcome, took_ms, status, error,"
    " answer, events, first_at, last_at)"
    " SELECT now() - n * interval '1 second', s.id, gen_random_uuid(), 1,"
    " CASE WHEN n % 5 = 0 THEN 'failed' ELSE 'delivered' END, 30, 200, '', '', ARRAY[n], now(),"
    " now() FROM trackers_subscriber s, generate_series(1, 2000) n",
    "INSERT INTO trackers_subscriberminute (subscriber_id, minute, events)"
    " SELECT s.id, date_trunc('minute', now()) - n * interval '1 minute', 900"
    " FROM trackers_subscriber s, generate_series(1, 60) n",
)


def main(*, tweets: int) -> None:
    run(*BESIDE, TAGS.format(tweets=tweets))
    with cursor() as db:
        fill_buckets(db, "trackers_sourcepoll")
    for n in range(SUBSCRIBERS):
        row = Subscriber(
            name=f"subscriber-{n}",
            callback="https://example.com/events",
            secrets={"uuid": "", "signing": []},
        )
        enroll(row, ["orders"])
    run(*DELIVERIES)


class Entered(NamedTuple):
    """A person of the team, with a token of the API, the secret of a feed, a column, a share and a
    saved view."""

    user: User
    token: str
    feed: str
    column: int
    share: Share
    view: int


def enter() -> Entered:
    user = User.objects.get(pk=FIRST_WATCHER)
    token = ApiToken(user=user, name="screens", scope=ApiToken.Scope.ADMIN)
    feed = feed_addresses.make_address(own(user).pk, user.pk, now=datetime.now(UTC))
    column, _ = Column.objects.get_or_create(user=user, source_id=1, defaults={"position": 1})
    Sharing.objects.update_or_create(pk=1, defaults={"is_on": True})
    share, _ = Share.objects.get_or_create(
        kind="set", of="author/1", made_by=user,
        defaults={"ends_at": datetime.now(UTC) + timedelta(days=30)},
    )  # fmt: skip
    view, _ = SavedView.objects.get_or_create(
        user=user, name="liked", defaults={"query": "min_likes=1000"}
    )
    return Entered(user, token.save_with_secret(), feed, column.pk, share, view.pk)


def run(*statements: str) -> None:
    with cursor() as db:
        for statement in statements:
            for part in filter(str.strip, statement.split(";")):
                db.execute(part, prepare=False)
