"""What is usual for an author is what a plain recount of the checkpoints says."""

import random
from datetime import timedelta

import pytest

from tests.scores.posts import NOW, checkpoints, post, usual_posts
from trackers.scores.benchmarks import make_benchmarks, make_due, mark_due
from trackers.scores.models import EVERY_KIND, Benchmark, BenchmarkAuthor
from trackers.scores.rule import MAX_POSTS, MIN_POSTS, middle_mean, never_falling
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.pack import pack
from tweetwatch.pieces import Deadline

D = timedelta(days=1)
HOUR = timedelta(hours=1)
AN_HOUR = AGES.index(HOUR) + 1


def recount(author):
    """By kind: for each metric and age the mean, and of how many posts."""
    tweets = [
        tweet
        for tweet in Tweet.objects.filter(author_id=author, gone_at=None).select_related(
            "tweettext"
        )
        if tweet.tweettext.kind is not None
    ]
    known = checkpoints_of([tweet.id for tweet in tweets])
    made = {}
    for kind in {EVERY_KIND, *(tweet.tweettext.kind for tweet in tweets)}:
        of_kind = [tweet.id for tweet in tweets if kind in (EVERY_KIND, tweet.tweettext.kind)]
        newest = sorted(of_kind, reverse=True)
        expected, posts = [], []
        for place in range(len(METRICS)):
            columns = []
            for age in AGES:
                with_age = [known[id][age] for id in newest if age in known[id]][:MAX_POSTS]
                columns.append([counts[place] for counts in with_age if counts[place] is not None])
            expected.append(never_falling([middle_mean(column) for column in columns]))
            posts.append([len(column) for column in columns])
        if kind == EVERY_KIND or max(map(max, posts)) >= MIN_POSTS:
            made[kind] = (expected, posts)
    return made


def approximately(expected):
    return [[None if v is None else pytest.approx(v, rel=1e-6) for v in row] for row in expected]


@pytest.mark.parametrize("is_packed", [False, True], ids=["rows", "arrays"])
def test_benchmarks_equal_a_recount(is_packed, django_assert_num_queries):
    draw = random.Random(5)
    for author, number in ((71, 260), (72, 30), (73, 4)):
        for n in range(number):
            kind = draw.choice([*PostKind, None])
            tweet = post(author, posted=2 * D + n * 3 * HOUR * draw.random() * 2, kind=kind)
            if draw.random() < 0.05:
                Tweet.objects.filter(id=tweet.id).update(gone_at=NOW)
            grown, counts_at = 1.0, {}
            for place in range(1, len(AGES) + 1):
                grown *= draw.uniform(1, 2)
                if draw.random() < 0.8 and NOW - AGES[place - 1] > tweet.created_at:
                    counts_at[place] = {
                        metric: None if draw.random() < 0.02 else int(grown * draw.uniform(0, 30))
                        for metric in METRICS
                    }
            checkpoints(tweet, counts_at)
    if is_packed:
        pack(now=NOW + 3 * D, deadline=Deadline.after(600))

    with django_assert_num_queries(2):
        make_benchmarks([71, 72, 73, 99], now=NOW)

    for author in (71, 72, 73):
        made = {row.kind: row for row in Benchmark.objects.filter(author_id=author)}
        expected = recount(author)
        assert made.keys() == expected.keys()
        for kind, (means, posts) in expected.items():
            assert made[kind].posts == posts
            assert made[kind].expected == approximately(means)
    assert not Benchmark.objects.filter(author_id=99).exists()


def test_an_author_who_posts_much_has_a_benchmark_of_a_month_too():
    """The newest hundred posts are all younger than that."""
    for n in range(400):
        tweet = post(7, posted=D + n * 4 * HOUR)
        reached = [place for place, age in enumerate(AGES, 1) if tweet.created_at + age <= NOW]
        checkpoints(tweet, {place: {"views": 1000 * place} for place in reached})

    make_benchmarks([7], now=NOW)

    row = Benchmark.objects.get(author_id=7, kind=EVERY_KIND)
    assert row.expected[METRICS.index("views")] == [1000 * (n + 1) for n in range(len(AGES))]
    assert set(row.posts[METRICS.index("views")]) == {100}


def test_a_kind_that_has_too_few_posts_again_loses_its_benchmark():
    posts = usual_posts(7, 12, place=AN_HOUR, kind=PostKind.PHOTO, views=500)
    make_benchmarks([7], now=NOW)
    assert Benchmark.objects.filter(author_id=7).count() == 2
    Tweet.objects.filter(id__in=[one.id for one in posts[:5]]).update(gone_at=NOW)

    make_benchmarks([7], now=NOW)

    [row] = Benchmark.objects.filter(author_id=7)
    assert row.kind == EVERY_KIND
    assert row.posts[METRICS.index("views")][AN_HOUR - 1] == 7
    assert row.expected[METRICS.index("views")][AN_HOUR - 1] is None


def test_benchmarks_are_made_when_a_post_crossed_an_age_and_hourly_at_most():
    [first, second] = usual_posts(7, 2, place=AN_HOUR, views=500)

    mark_due([first.id, second.id], now=NOW)
    assert make_due(most=9, now=NOW) == 1
    mark_due([second.id], now=NOW)
    assert make_due(most=9, now=NOW + HOUR / 2) == 0
    assert make_due(most=9, now=NOW + HOUR) == 1
    assert make_due(most=9, now=NOW + 9 * HOUR) == 0
    assert BenchmarkAuthor.objects.get().made_at == NOW + HOUR
