"""Many tweets with texts, authors and every state, as set-based inserts.

Words have frequencies as in a language (Zipf's law), "the" is in nearly every text, "worldcup" in
a third of the older ones and in no new one, and most texts end with a link of X. These three words
are hashtags too.
"""

from psycopg import sql

from tests.queues import fill_buckets
from tweetwatch.database import cursor

# Two a second, the newest a minute ago: a million are six days, of which two are looked up.
IDS = """
    CREATE TEMP TABLE many AS
    SELECT n, ((extract(epoch FROM now())::bigint * 1000 - 60000 - n * 500 - 1288834974657) << 22)
              + n % 1000 AS id
    FROM generate_series({tweets}, 1, -1) n
"""
AUTHORS = """
    INSERT INTO trackers_author (id, username, name, protected)
    SELECT n, initcap(substr(letters, 1, 3)) || '_' || n,
           initcap(substr(letters, 4, 5)) || ' ' || initcap(substr(letters, 9, 7)), false
    FROM generate_series(1, greatest({tweets} / 10, 1000)) n
    CROSS JOIN LATERAL (
        SELECT translate(md5('a' || n), '0123456789', 'ghijklmnop') AS letters
    ) AS l
"""
# One in 33 is gone, one in 500 paused, one in 2,000 missing.
TWEETS = """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
                                missing_reason, missing_since, gone_at, taken_at, measured_until,
                                measurements, retweets, replies, likes, quotes, bookmarks,
                                views)
    SELECT id, 1 + floor(random() ^ 2 * greatest({tweets} / 10, 1000))::bigint,
           to_timestamp(((id >> 22) + 1288834974657) / 1000.0), now(), 'many', n % 500 = 7,
           CASE WHEN n % 33 = 5 OR n % 2000 = 9 THEN 'not_found' ELSE '' END,
           CASE WHEN n % 33 = 5 OR n % 2000 = 9 THEN now() END,
           CASE WHEN n % 33 = 5 THEN now() END,
           now() - interval '1 hour', now() - interval '1 hour', 1, 0, 0, 0, 0, 0, 0
    FROM many ORDER BY id
"""
JOBS = """
    INSERT INTO trackers_tweetupdate (key, due_at, strikes)
    SELECT id, now() + interval '1 hour' + random() * interval '1 day',
           CASE WHEN n % 5000 = 11 THEN 4 ELSE 0 END
    FROM many WHERE n % 500 <> 7 AND (n <= {scheduled} OR n % 33 = 5) ORDER BY id
"""
TEXTS = """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history, kind, hashtags, domains)
    SELECT id,
           'The ' || words || CASE WHEN n % 7919 = 3 THEN ' zyzzyva' ELSE '' END
           || CASE WHEN n > {tweets} / 2 AND n % 3 = 0 THEN ' #WorldCup' ELSE '' END
           || CASE WHEN n % 40 = 1 THEN ' 東京タワーに行ったよ。楽しかった' ELSE '' END
           || CASE WHEN n % 5 <> 0 THEN ' https://t.co/' || substr(md5(n::text), 1, 10) ELSE '' END,
           'en', '{{}}', 1 + abs(n) % 6,
           array_remove(ARRAY['the', CASE WHEN n % 7919 = 3 THEN 'zyzzyva' END,
                              CASE WHEN n > {tweets} / 2 AND n % 3 = 0 THEN 'worldcup' END], NULL),
           CASE WHEN n % 5 <> 0 THEN ARRAY['example.org'] END
    FROM many CROSS JOIN LATERAL (
        SELECT string_agg(substr(translate(md5(floor(exp(random() * ln(50000)))::text),
                                           '0123456789', 'ghijklmnop'),
                                 1, 3 + (random() * 5)::int % 2 + 3), ' ') AS words
        FROM generate_series(1, 15 + n % 8)
    ) AS said
    WHERE n % 33 <> 5 ORDER BY id
"""
# A tag on every second tweet, and one on three.
TAGS = """
    INSERT INTO trackers_tag (name) VALUES ('half'), ('three');
    INSERT INTO trackers_tweettag (tag_id, tweet_id)
    SELECT t.id, m.id FROM many m CROSS JOIN trackers_tag t
    WHERE t.name = 'half' AND n % 2 = 0
       OR t.name = 'three' AND n IN (10, {tweets} / 2, {tweets} - 10)
    ORDER BY t.id, m.id
"""
# Two thirds of the tweets have a score; one in 5,000 stands out.
SCORES = """
    INSERT INTO trackers_score (tweet_id, at, views, expected_views)
    SELECT id, now(), CASE WHEN n % 5000 = 1 THEN 9 ELSE 1.1 END, 500
    FROM many WHERE n % 3 <> 0 ORDER BY id
"""
# Full lists of what grows fastest.
FILL_GAINS = """
    INSERT INTO trackers_gain
        (tweet_id, minutes, metric, gain, velocity, since, until, again_at)
    SELECT id, minutes, metric, n, n * 2.5, now() - interval '9 minutes', now(), now()
    FROM (SELECT id, row_number() OVER () AS n FROM (
              SELECT id FROM trackers_tweet ORDER BY id DESC LIMIT %(most)s) t) t
    CROSS JOIN unnest(ARRAY[0, 15, 60, 1440]) AS minutes
    CROSS JOIN unnest(%(metrics)s::text[]) AS metric
"""
TABLES = [
    "trackers_author",
    "trackers_tweet",
    "trackers_tweetupdate",
    "trackers_tweetbucket",
    "trackers_tweettext",
    "trackers_tweettag",
    "trackers_score",
]


def fill(tweets):
    """As a database is after a while: analysed, with its visibility maps."""
    scheduled = sql.Literal(tweets // 3)
    with cursor() as db:
        for statement in (IDS, AUTHORS, TWEETS, JOBS, TEXTS, SCORES, *TAGS.split(";")):
            db.execute(sql.SQL(statement).format(tweets=sql.Literal(tweets), scheduled=scheduled))
        fill_buckets(db)
        db.execute("DROP TABLE many")
        for table in TABLES:
            db.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))
