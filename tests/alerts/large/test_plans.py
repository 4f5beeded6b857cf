"""A minute of rules reads the lists, and never walks over what is tracked.

`ALERTS_TWEETS=1000000 pytest tests/alerts/large/test_plans.py -s` tells the time with a million.
"""

import os
import time

import pytest
from django.contrib.auth.models import User

from tests.alerts.conftest import NOW, minute, rule
from tests.plans import watched
from trackers.alerts.membership import searched_as
from trackers.alerts.models import AlertRule
from trackers.alerts.places import HappeningPlace
from trackers.alerts.rehearsal import rehearse
from trackers.alerts.unusual import MAX_RISES
from trackers.alerts.worded import with_words
from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView
from trackers.tweets.models import Author
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets
from tweetwatch.database import cursor

pytestmark = pytest.mark.django_db
TWEETS = int(os.environ.get("ALERTS_TWEETS", "10000"))
NAMED = 20 if TWEETS > 10_000 else 3
LARGE = {
    "trackers_tweet", "trackers_sourcetweet", "trackers_sample", "trackers_packedsamples",
    "trackers_tweettext", "trackers_crossing", "trackers_tweettag",
}  # fmt: skip
KEPT = {"trackers_recentrise", "trackers_happening"}
# Every list is full: 2,000 by gain, and as many by velocity. Young ones are a tenth of them.
FILL = (
    """
    INSERT INTO trackers_tweet (id, author_id, created_at, tracked_at, came_from, paused,
                                missing_reason, taken_at, measured_until, measurements, likes)
    SELECT n::bigint << 22, n %% 500 + 1, %(now)s - n %% 200 * interval '1 hour', %(now)s, '',
           false, '', %(now)s - interval '1 hour', %(now)s, 5, 3 * n %% 1000
    FROM generate_series(1, %(count)s) n ORDER BY random()
    """,
    """
    INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
    SELECT %(source)s, n::bigint << 22, %(now)s, false
    FROM generate_series(1, %(count)s) n ORDER BY random()
    """,
    # Not left empty: PostgreSQL would read an empty table as a whole, since there is nothing in it.
    """
    INSERT INTO trackers_tweettext (tweet_id, text, lang, edit_history)
    SELECT n::bigint << 22, 'Post ' || n, 'en', '{}' FROM generate_series(1, %(count)s) n
    """,
    """
    INSERT INTO trackers_gain (tweet_id, minutes, metric, gain, velocity, since, until, again_at)
    SELECT n::bigint << 22, minutes, 'likes', n, n, %(now)s - interval '1 hour', %(now)s,
           %(now)s + interval '1 hour'
    FROM generate_series(1, 4000) n, unnest('{15, 60, 1440}'::int[]) AS minutes ORDER BY random()
    """,
    "ANALYZE trackers_tweet, trackers_tweettext, trackers_sourcetweet, trackers_gain",
)
# As many as a minute reads; one in ten rose past 2, the others were above it.
# The lists as they were, and what rose, of a day in which nothing calmed down.
FILL_DAY = (
    """
    INSERT INTO trackers_gainhead (minutes, metric, at, ids, velocities)
    SELECT minutes, 'likes', %(now)s - n * interval '15 minutes',
           (SELECT array_agg((4001 - k)::bigint << 22 ORDER BY k) FROM generate_series(1, 500) k),
           (SELECT array_agg(4001 - k ORDER BY k) FROM generate_series(1, 500) k)
    FROM generate_series(1, 97) n, unnest('{15, 60, 1440}'::int[]) AS minutes
    """,
    """
    INSERT INTO trackers_recentrise (at, tweet_id, metric, was, score)
    SELECT %(now)s - n %% 1440 * interval '1 minute', n::bigint << 22, 'likes', 0, 2 + n %% 97
    FROM generate_series(1, %(count)s) n
    """,
    """
    INSERT INTO trackers_happening (what, tweet_id, at, figures)
    SELECT 'milestone', n::bigint << 22, %(now)s - n %% 1440 * interval '1 minute',
           '{"metric": "likes", "at": 10, "value": 11}'
    FROM generate_series(1, %(count)s) n
    """,
    """
    INSERT INTO trackers_happening (what, tweet_id, at, figures)
    SELECT 'fell', n::bigint << 22, %(now)s - n %% 1440 * interval '1 minute',
           '{"metric": "likes", "before": 100, "after": 60}'
    FROM generate_series(1, %(count)s) n
    """,
    "ANALYZE trackers_gainhead, trackers_recentrise, trackers_happening",
)
FILL_RISES = """
    INSERT INTO trackers_scorerise (at, tweet_id, metric, was, score)
    SELECT %(now)s, (n %% %(count)s + 1)::bigint << 22, 'likes',
           CASE WHEN n %% 10 = 0 THEN 1 ELSE 3 END, 4 + n %% 97
    FROM generate_series(1, %(rises)s) n
"""


def filled(statements):
    Author.objects.bulk_create(Author(id=id, username=f"a{id}") for id in range(1, 501))
    source = Source.objects.create(kind="search", of="cats")
    with cursor() as db:
        for statement in statements:
            params = {"now": NOW, "count": TWEETS, "source": source.pk}
            db.execute(statement, params if "%(" in statement else None, prepare=False)
    return source


def test_no_alert_rule_scans_the_table_of_tweets(monkeypatch):
    source = filled(FILL)
    for kind, params in {"velocity": {"at": 3000}, "usual": {"times": 2}}.items():
        rule(kind, metric="likes", **params)
        rule(kind, metric="likes", about="source", of=source.pk, **params)
        for of in range(1, 1 + NAMED):
            rule(kind, metric="likes", about="author", of=of, **params)
            rule(kind, metric="likes", about="tweet", of=(TWEETS - of) << 22, **params)
    tag = get_or_create_tag("launch")
    tag_tweets(tag.pk, [n << 22 for n in range(1, 4001, 2)])
    user = User.objects.create_user("ada")
    for n, query in enumerate((f"author={NAMED}", "q=post&min_likes=3", "tag=launch&lang=en")):
        view = SavedView.objects.create(user=user, name=f"v{n}", query=query)
        rule("velocity", metric="likes", about="view", of=view.pk, at=1)
        rule("usual", metric="likes", about="view", of=view.pk, times=2)
    rule("velocity", metric="likes", about="tag", of=tag.pk, at=1)
    rule("usual", metric="likes", about="tag", of=tag.pk, times=2)
    rule("milestone", metric="likes", at=10, about="tweet", of=5 << 22)
    rule("milestone", metric="likes", at=10)
    for kind in ("lateness", "credential", "source", "budget"):
        rule(kind)
    rule("quiet", about="author", of=7)
    rule("quiet", about="source", of=source.pk)

    def fill_rises():
        with cursor() as db:
            db.execute(FILL_RISES, {"now": NOW, "count": TWEETS, "rises": MAX_RISES + 10})
            db.execute("ANALYZE trackers_scorerise")

    fill_rises()
    began = time.monotonic()
    said = minute()
    print(f"\n{TWEETS:,} tweets: {len(said)} alerts in {time.monotonic() - began:.2f} s")
    fill_rises()
    with watched(monkeypatch) as watch:
        minute(1)

    large = [one for one in watch.reached if one.table in LARGE]
    assert {"trackers_tweet", "trackers_sourcetweet"} <= {one.table for one in large}
    assert [one for one in large if one.how == "Seq Scan"] == []
    # Twenty sources of each tweet at the most, and here there is one.
    assert max(one.rows for one in large) <= 8000, max(large, key=lambda one: one.rows)


def test_words_are_looked_for_in_what_came_alone(monkeypatch):
    source = filled(FILL)
    abouts = {"any": None, "author": 7, "source": source.pk}
    rules = [rule("words", words="post -5", about=about, of=of) for about, of in abouts.items()]
    ids = [n << 22 for n in range(1, 4001)]
    with watched(monkeypatch) as watch:
        found = with_words(rules, ids, **searched_as(rules))

    assert {id for id, _, _ in found} == {one.pk for one in rules}
    large = [one for one in watch.reached if one.table in LARGE]
    assert {"trackers_tweettext", "trackers_sourcetweet"} <= {one.table for one in large}
    assert [one for one in large if one.how == "Seq Scan"] == []
    assert max(one.rows for one in large) <= 4000, max(large, key=lambda one: one.rows)


def test_no_rehearsal_scans_a_table(monkeypatch):
    source = filled((*FILL, *FILL_DAY))
    abouts = ({}, {"about": "author", "of": 7}, {"about": "source", "of": source.pk})
    kinds = {"velocity": {"at": 3000}, "usual": {"times": 2}, "milestone": {"at": 10}, "fell": {}}
    quiet = [AlertRule(kind="quiet", **about) for about in abouts if about]
    asked = [
        AlertRule(kind=kind, metric="likes", **params, **about)
        for kind, params in kinds.items()
        for about in abouts
    ]
    began = time.monotonic()
    fired = [rehearse(one, now=NOW).fired for one in asked]
    print(f"\n{TWEETS:,} tweets: {len(asked)} rules in {time.monotonic() - began:.2f} s")
    assert all(fired)
    AlertRule.objects.all().delete()
    rule("fell", metric="likes")
    HappeningPlace.objects.create(reached=0, handled=[])
    with watched(monkeypatch) as watch:
        for alert_rule in (*asked, *quiet):
            rehearse(alert_rule, now=NOW)
        minute()

    large = [one for one in watch.reached if one.table in {*LARGE, *KEPT}]
    assert {"trackers_tweet", *KEPT} <= {one.table for one in large}
    assert [one for one in large if one.how == "Seq Scan"] == []
    assert max(one.rows for one in large) <= 8000, max(large, key=lambda one: one.rows)
