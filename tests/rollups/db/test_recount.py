"""Rollups are what a plain recount of the tweets says, whatever happens to them."""

import random

import pytest

from tests.rollups.posted import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    born_of,
    described,
    gone,
    id_of,
    looked_up,
    measured_at,
    tracked,
    update,
    yielded,
)  # fmt: skip
from tests.rollups.recounted import counted, kept
from trackers.ingest.sources.models import Source
from trackers.rollups.audit import audit_rollups
from trackers.rollups.models import Rollup, RollupKind, RollupQuarter
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.checkpoints.ages import ROLLUP_AGES
from trackers.tweets.describe import describe
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.pack import pack
from trackers.tweets.tags.acts import end_tags, sweep_ended
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.tagging import tag_tweets, untag_tweets
from trackers.tweets.uncounted import Uncounted
from trackers.tweets.versions import SeenVersion, learn
from tweetwatch.database import cursor
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db

LATER = NOW + HOUR
ID = id_of(8 * DAY)


def row(kind, key="all"):
    return Rollup.objects.filter(kind=kind, key=key).first()


def is_exact(*, now=NOW):
    update(now=now)
    assert not Uncounted.objects.filter(id__gt=0).exists()
    assert kept() == counted()
    return kept()


def test_a_post_is_counted_in_all_its_sets_and_at_each_age_once_it_is_reached():
    source = Source.objects.create(kind="account", of="nasa")
    tag = Tag.objects.create(name="space")
    tracked(ID, source=source.pk, hashtags=["moon"], domains=["nasa.gov"])
    tag_tweets(tag.pk, [ID])

    assert {(RollupKind(kind), key) for kind, _, key in is_exact()} == {
        (RollupKind.ALL, "all"), (RollupKind.AUTHOR, "7"), (RollupKind.SOURCE, str(source.pk)),
        (RollupKind.TAG, str(tag.pk)), (RollupKind.LANGUAGE, "en"), (RollupKind.HASHTAG, "moon"),
        (RollupKind.DOMAIN, "nasa.gov"),
    }  # fmt: skip
    assert (row(RollupKind.ALL).posts, row(RollupKind.ALL).measured_1h) == (1, 0)

    measured_at(ID, HOUR, views=900, likes=4)
    measured_at(ID, DAY, views=2000, likes=7)

    is_exact(now=LATER)
    made = row(RollupKind.HASHTAG, "moon")
    assert (made.posts, made.measured_1h, made.measured_24h, made.measured_7d) == (1, 1, 1, 0)
    assert (made.views_1h, made.likes_24h, made.views_7d) == (900, 7, None)
    # The sums of one post say all.
    assert made.places_24h is None
    tracked(ID + 1)
    measured_at(ID + 1, HOUR, views=900, likes=4)
    is_exact(now=LATER + HOUR)
    assert len(row(RollupKind.AUTHOR, "7").places_1h) == len(METRICS)
    assert set(row(RollupKind.AUTHOR, "7").counts_1h) == {2}


def test_checkpoints_of_past_days_count_as_those_of_today():
    tracked(ID, ID + 1)
    for id in (ID, ID + 1):
        measured_at(id, HOUR, views=10)
    before = is_exact()
    pack(now=NOW + 3 * DAY, deadline=Deadline.after(60))
    measured_at(ID, DAY, views=99)

    after = is_exact(now=LATER)
    assert before != after


def test_a_tweet_moves_from_set_to_set():
    tags = [Tag.objects.create(name=name) for name in ("one", "two")]
    source = Source.objects.create(kind="account", of="nasa")
    tracked(ID, ID + 1, ID + 2)
    measured_at(ID, HOUR, views=500)
    is_exact()

    tag_tweets(tags[0].pk, [ID, ID + 1])
    yielded(source.pk, ID + 1)
    is_exact(now=LATER)
    describe([described(ID, lang="fr", hashtags=["neuf"])])
    is_exact(now=LATER + HOUR)
    end_tags([tags[0]], into=tags[1])
    sweep_ended(deadline=Deadline.after(60))
    untag_tweets(tags[1].pk, [ID])
    assert [key for kind, _, key in is_exact(now=LATER + 2 * HOUR) if kind == RollupKind.TAG] == [
        str(tags[1].pk)
    ]
    gone(ID, at=NOW)
    is_exact(now=LATER + 3 * HOUR)
    assert row(RollupKind.ALL).posts == 2
    assert row(RollupKind.LANGUAGE, "fr") is None
    looked_up(ID, at=NOW + MINUTE, views=600)
    is_exact(now=LATER + 4 * HOUR)
    assert row(RollupKind.ALL).posts == 3
    merged = described(ID + 1)._replace(edit_history=(ID, ID + 1))
    learn([SeenVersion(merged, NOW)])
    is_exact(now=LATER + 5 * HOUR)
    assert row(RollupKind.ALL).posts == 2
    untrack_tweets([ID, ID + 1, ID + 2])
    assert is_exact(now=LATER + 6 * HOUR) == {}
    assert RollupQuarter.objects.get().posts == 0


def test_retweets_and_ids_without_a_time_are_in_no_set():
    tracked(ID, text="RT @nasa: words")
    tracked(20, author=8)

    assert is_exact() == {}


def test_posts_that_come_late_are_counted_in_the_quarter_in_which_they_were_posted():
    tracked(ID)
    is_exact()
    tracked(id_of(400 * DAY), ID + 1)

    is_exact(now=LATER)
    assert sorted(RollupQuarter.objects.values_list("posts", flat=True)) == [1, 2]


def test_a_busy_quarter_waits_by_the_number_of_its_posts():
    tracked(ID)
    update()
    RollupQuarter.objects.update(posts=20_000)
    tracked(ID + 1)

    update(now=NOW + 2 * MINUTE)
    assert row(RollupKind.ALL).posts == 1
    update(now=NOW + 3 * MINUTE)
    assert row(RollupKind.ALL).posts == 2
    RollupQuarter.objects.update(posts=90_000_000)
    tracked(ID + 2)
    update(now=NOW + 18 * MINUTE)
    assert row(RollupKind.ALL).posts == 3


def test_a_clock_that_was_an_hour_ahead_delays_nothing():
    tracked(ID)
    update(now=LATER)
    tracked(ID + 1)

    update(now=NOW + MINUTE)
    is_exact(now=NOW + 2 * MINUTE)
    tracked(ID + 2, id_of(DAY))
    update(now=NOW + 3 * MINUTE)
    RollupQuarter.objects.update(due_at=LATER)
    tracked(ID + 3)
    is_exact(now=NOW + 4 * MINUTE)


def test_after_a_crash_all_is_counted_again():
    tracked(ID, id_of(DAY))
    update()
    tracked(ID + 1, id_of(3 * DAY))
    untrack_tweets([ID])
    with cursor() as db:
        db.execute("TRUNCATE trackers_uncounted")

    is_exact(now=LATER)
    assert RollupQuarter.objects.count() == 3


def test_the_audit_mends_what_is_wrong_and_finds_what_is_missing(caplog):
    tracked(ID, id_of(DAY), id_of(3 * DAY))
    update()
    Rollup.objects.filter(kind=RollupKind.ALL, quarter=row(RollupKind.ALL).quarter).update(posts=9)
    Tweet.objects.filter(id=id_of(DAY)).update(author_id=8)
    RollupQuarter.objects.filter(quarter=max(key[1] for key in kept())).delete()

    assert audit_rollups(now=NOW + DAY / 2, deadline=Deadline.after(60)) == 0
    assert audit_rollups(now=NOW + 2 * DAY, deadline=Deadline.after(60)) == 1
    assert "1 quarters of an hour had no rollups yet" in caplog.text
    is_exact(now=NOW + 2 * DAY)
    assert audit_rollups(now=NOW + 4 * DAY, deadline=Deadline.after(60)) == 0


def test_changes_before_the_audit_are_no_fault():
    tracked(ID)
    update()
    tracked(ID + 1)

    assert audit_rollups(now=NOW + 2 * DAY, deadline=Deadline.after(60)) == 0
    is_exact(now=NOW + 2 * DAY)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kept_equals_a_recount_after_a_thousand_random_acts(seed):
    draw = random.Random(seed)
    sources = [Source.objects.create(kind="account", of=f"name{n}").pk for n in range(3)]
    tags = [Tag.objects.create(name=f"tag {n}").pk for n in range(3)]
    born = [id_of(8 * DAY + n * 4 * MINUTE) for n in range(40)]
    now = NOW

    def any_tracked():
        return draw.choice(list(Tweet.objects.order_by("id").values_list("id", flat=True)) or [ID])

    def words():
        return {
            "author": draw.randint(1, 4), "lang": draw.choice(["", "en", "fr"]),
            "hashtags": draw.sample(["a", "b", "c"], draw.randint(0, 3)),
            "domains": draw.sample(["d.com", "e.com"], draw.randint(0, 2)),
            "text": draw.choice(["words", "words", "RT @name: words"]),
        }  # fmt: skip

    def measure():
        if not Tweet.objects.exists():
            return
        id = any_tracked()
        counts = {"views": draw.randint(0, 10**6), "likes": draw.choice([None, 3, 70])}
        last = Tweet.objects.get(id=id).measured_until
        at = born_of(id) + draw.choice([HOUR, HOUR, DAY, 7 * DAY])
        if last is None or last < at:
            early = at - (at - born_of(id)) * 0.1
            looked_up(id, at=max(last or early, early), **counts)
            looked_up(id, at=at + MINUTE, **counts)

    acts = {
        lambda: tracked(draw.choice(born), source=draw.choice([None, *sources]), **words()): 4,
        measure: 8,
        lambda: tag_tweets(draw.choice(tags), [any_tracked()]): 2,
        lambda: untag_tweets(draw.choice(tags), [any_tracked()]): 1,
        lambda: yielded(draw.choice(sources), any_tracked()): 1,
        lambda: describe([described(any_tracked(), **words())]): 1,
        lambda: gone(any_tracked(), at=NOW): 1,
        lambda: untrack_tweets([any_tracked()]): 1,
        lambda: pack(now=NOW + 300 * DAY, deadline=Deadline.after(60)): 0.2,
    }
    ages = set()
    for n in range(1000):
        draw.choices(list(acts), list(acts.values()))[0]()
        if n % 40 == 0:
            now += MINUTE
            rows = is_exact(now=now).values()
            ages |= {age for one in rows for age in ROLLUP_AGES if one[f"measured_{age}"]}
    is_exact(now=now + MINUTE)
    assert ages == ROLLUP_AGES.keys()
