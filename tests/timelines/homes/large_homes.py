"""Five thousand sources, many tweets, and followers who follow two hundred of them each."""

from tests.timelines.homes.world import BASE
from trackers.tweets.snowflake import TWEPOCH_MS
from tweetwatch.database import cursor

SOURCES, TWEETS, FOLLOWS = 5_000, 300_000, 200
AUTHORS = 2_000

# One tweet a minute; a few sources bring most of them, and one in five comes by two sources.
FILL = (
    "INSERT INTO trackers_source (id, kind, of, owner, priority, every, pages, exclude_replies,"
    " exclude_retweets, backfill, created_at, username, passed_id, begun_id, version, left_out,"
    " yielded, again, leaked, hidden_reason, problem, failures)"
    " SELECT n, 'search', 'words ' || n, '', 1, '5min', 10, false, false, '1day', now(), '', 0, 0,"
    " 0, '{}', 0, 0, 0, '', '', 0 FROM generate_series(1, %(sources)s::int) n",
    "INSERT INTO trackers_author (id, username, name, protected)"
    " SELECT n, 'name_' || n, '', false FROM generate_series(1, %(authors)s::int) n",
    "INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,"
    " missing_reason, measurements)"
    " SELECT %(base)s::bigint + ((n * 60000::bigint) << 22), n %% %(authors)s::int + 1,"
    " to_timestamp(((%(base)s::bigint >> 22) + %(epoch)s::bigint + n * 60000::bigint) / 1000.0),"
    " now(), '', false, '', 0 FROM generate_series(1, %(tweets)s::int) n",
    "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
    " SELECT 1 + floor(%(sources)s::int * power(random(), 3))::int, id, now(), false"
    " FROM trackers_tweet",
    "INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)"
    " SELECT 1 + floor(%(sources)s::int * power(random(), 3))::int, id, now(), false"
    " FROM trackers_tweet WHERE random() < 0.2 ON CONFLICT DO NOTHING",
    "UPDATE trackers_tweet SET gone_at = now() WHERE (id >> 22) / 60000 %% 50 = 0",
    "INSERT INTO auth_user (id, username, password, is_superuser, first_name, last_name, email,"
    " is_staff, is_active, date_joined) SELECT n, 'user ' || n, '', false, '', '', '', false,"
    # The first may be there: the account of commands.
    " true, now() FROM generate_series(1, %(followers)s::int) n ON CONFLICT (id) DO NOTHING",
    "INSERT INTO trackers_follower (id, user_id, read_at) SELECT n, n, now()"
    " FROM generate_series(1, %(followers)s::int) n",
    "INSERT INTO trackers_follow (follower_id, origin_id, followed_at)"
    " SELECT w, 1 + floor(%(sources)s::int * random())::int, now()"
    " FROM generate_series(1, %(followers)s::int) w, generate_series(1, %(follows)s::int)"
    " ON CONFLICT DO NOTHING",
    "INSERT INTO trackers_follow (follower_id, origin_id, followed_at)"
    " SELECT w, -(1 + floor(%(authors)s::int * random())::int), now()"
    " FROM generate_series(1, %(followers)s::int) w, generate_series(1, 20) ON CONFLICT DO NOTHING",
    "INSERT INTO trackers_origin (id, clock) SELECT DISTINCT origin_id, 0 FROM trackers_follow",
    "INSERT INTO trackers_deliverymark (origin_id, number) SELECT id, 0 FROM trackers_origin",
)
ANALYZE = (
    "ANALYZE trackers_source, trackers_author, trackers_tweet, trackers_sourcetweet,"
    " trackers_follower, trackers_follow, trackers_origin, trackers_deliverymark"
)


def fill(*, tweets=TWEETS, followers=20, follows=FOLLOWS, analyze=True, base=BASE):
    fields = {
        "sources": SOURCES, "authors": AUTHORS, "tweets": tweets, "followers": followers,
        "follows": follows, "base": base, "epoch": TWEPOCH_MS,
    }  # fmt: skip
    with cursor() as db:
        db.execute("SELECT setseed(0.5)", prepare=False)
        for statement in FILL:
            named = {name: one for name, one in fields.items() if f"%({name})s" in statement}
            db.execute(statement, named, prepare=False)
        if analyze:
            db.execute(ANALYZE, prepare=False)


def follow_many(follower_id, count):
    """In place of what it follows now."""
    with cursor() as db:
        db.execute("DELETE FROM trackers_follow WHERE follower_id = %s", [follower_id])
        db.execute(
            "INSERT INTO trackers_follow (follower_id, origin_id, followed_at)"
            " SELECT %s, n, now() FROM generate_series(1, %s, 2) n LIMIT %s",
            [follower_id, SOURCES, count],
        )
        db.execute(
            "INSERT INTO trackers_origin (id, clock) SELECT origin_id, 0 FROM trackers_follow"
            " WHERE follower_id = %s ON CONFLICT DO NOTHING",
            [follower_id],
        )
        db.execute(
            "INSERT INTO trackers_deliverymark (origin_id, number)"
            " SELECT id, 0 FROM trackers_origin ON CONFLICT DO NOTHING"
        )
