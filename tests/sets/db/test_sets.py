"""Sets, who may see them, and their figures against a plain recount."""

from datetime import timedelta
from statistics import median
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.utils import timezone

from tests.scores.posts import NOW, checkpoint, post
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.roles import VIEWER
from trackers.rollups.recount import recount
from trackers.saved_views.models import SavedView
from trackers.scores.benchmarks import make_benchmarks
from trackers.sets import members, period_figures
from trackers.sets.compared import compared_set
from trackers.sets.kinds import SetKind, find_set
from trackers.sets.period_figures import period_figures as figures_of
from trackers.sets.periods import TimeSpan, named_period
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Author, Tweet, TweetText
from trackers.tweets.tags.models import Tag, TweetTag

pytestmark = pytest.mark.django_db
UTC_ZONE = ZoneInfo("UTC")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
A_DAY = AGES.index(DAY) + 1


@pytest.fixture
def viewer():
    user = User.objects.create_user("vera")
    user.groups.add(Group.objects.get(name=VIEWER))
    return user


def make_source():
    return Source.objects.create(kind="account", of="vera", every=HOUR)


def test_a_set_is_found_by_its_row_or_its_name(viewer):
    author = Author.objects.create(id=7, username="vera")
    source, tag = make_source(), Tag.objects.create(name="launch")
    view = SavedView.objects.create(user=viewer, name="Most liked", query="sort=likes")
    titles = {
        ("all", "all"): "All tweets",
        ("author", author.pk): "@vera",
        ("source", source.pk): "@vera's posts",
        ("tag", tag.pk): "launch",
        ("view", view.pk): "Most liked",
        ("hashtag", "moon"): "#moon",
        ("domain", "example.org"): "example.org",
        ("language", "de"): "language de",
    }

    for (kind, key), title in titles.items():
        of = find_set(kind, str(key), viewer)
        assert (of.kind, of.key, of.title) == (kind, str(key), title)
    assert {kind for kind, _ in titles} == set(SetKind)


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("all", "some"), ("author", "8"), ("author", "07"), ("author", "vera"), ("author", ""),
        ("author", str(2**63)), ("source", "1"), ("tag", "99"), ("view", "99"), ("view", "-1"),
        ("view", "9" * 30), ("hashtag", ""), ("hashtag", "two words"), ("domain", ""),
        ("language", "german"), ("language", "d1"), ("tweet", "1"), ("day", "2026-03-01"),
        ("", ""), ("hashtag", "a\0"),
    ],
)  # fmt: skip
def test_there_is_no_such_set(viewer, kind, key):
    Author.objects.create(id=7, username="vera")
    found = find_set(kind, key, viewer)
    assert found is None or found.key == "a"


def test_a_name_is_taken_as_it_was_typed(viewer):
    assert find_set("hashtag", "#Moon", viewer).key == "moon"
    assert find_set("domain", "https://www.Example.org/page", viewer).key == "example.org"
    assert find_set("language", "DE", viewer).key == "de"


def test_only_those_who_may_see_a_set_find_it(viewer):
    source, tag = make_source(), Tag.objects.create(name="gone", ended_at=timezone.now())
    mine = SavedView.objects.create(user=viewer, name="Mine", query="")
    other = User.objects.create_user("otto")

    assert find_set("view", str(mine.pk), viewer)
    assert find_set("view", str(mine.pk), other) is None
    assert find_set("source", str(source.pk), other) is None
    assert find_set("hashtag", "moon", other) is None
    assert find_set("tag", str(tag.pk), viewer) is None
    other.groups.add(Group.objects.get(name=VIEWER))
    assert find_set("view", str(mine.pk), User.objects.get(pk=other.pk)) is None


def filled():
    """Three weeks of posts of two authors, a third of them in the set of each kind."""
    source, tag = make_source(), Tag.objects.create(name="launch")
    ids = []
    for n in range(120):
        posted = n * 4.1 * HOUR
        kind = PostKind.PHOTO if n % 3 else PostKind.TEXT
        tweet = post(7 + n % 2, posted=posted, kind=kind)
        ids.append(tweet.id)
        if n % 3 == 0:
            TweetText.objects.filter(pk=tweet.id).update(
                hashtags=["moon"], domains=["example.org"], lang="de"
            )
            SourceTweet.objects.create(source=source, tweet_id=tweet.id, seen_at=NOW)
            TweetTag.objects.create(tag=tag, tweet_id=tweet.id)
        if posted >= DAY and n % 10 != 1:
            checkpoint(
                tweet, A_DAY, **{**dict.fromkeys(METRICS, 1), "views": 1000 + 37 * n, "likes": n}
            )
    make_benchmarks([7, 8], now=NOW)
    return {
        ("all", "all"): ids,
        ("author", "7"): ids[::2],
        ("source", str(source.pk)): ids[::3],
        ("tag", str(tag.pk)): ids[::3],
        ("hashtag", "moon"): ids[::3],
        ("domain", "example.org"): ids[::3],
        ("language", "de"): ids[::3],
    }


def counted_again(ids, span, old):
    born = {id: Tweet.objects.get(pk=id).created_at for id in ids}
    inside = [id for id in ids if span.since <= born[id] < span.until]
    old_enough = [id for id in inside if old.since <= born[id] < old.until]
    at = checkpoints_of(old_enough, [DAY])
    views = [at[id][DAY].views for id in old_enough if DAY in at[id]]
    engagements = [sum(at[id][DAY][:5]) for id in old_enough if DAY in at[id]]
    return {
        "posts": len(inside),
        "old_enough": len(old_enough),
        "measured": len(views),
        "total": sum(views),
        "median": median(views),
        "rate": sum(engagements) / sum(views),
    }


def counted(made):
    return {
        "posts": made.posts,
        "old_enough": made.old_enough,
        "measured": made.measured,
        "total": made.total["views"],
        "median": made.median["views"],
        "rate": pytest.approx(made.rate),
    }


def test_figures_of_each_kind_are_what_a_recount_says(viewer):
    sets = filled()
    period = named_period("7d", ZoneInfo("Asia/Kathmandu"), now=NOW)
    old, old_before = period.old_enough(DAY)
    for (kind, key), ids in sets.items():
        of = find_set(kind, key, viewer)

        made = figures_of(of, period, age="24h", metric="views")

        assert counted_again(ids, period.this, old) == counted(made.this), kind
        assert counted_again(ids, period.before, old_before) == counted(made.before), kind
        assert made.this.old_enough < made.this.posts
        assert made.newest_since is None
        assert sum(step.posts for step in made.steps) == made.this.posts
        assert sum(step.posts_before for step in made.steps) == made.before.posts
        assert bool(made.authors) == (kind != "author")


def test_a_view_has_the_matches_that_it_is_given(viewer):
    ids = filled()["all", "all"]
    view = SavedView.objects.create(user=viewer, name="Some", query="")
    of = find_set("view", str(view.pk), viewer)
    period = named_period("7d", UTC_ZONE, now=NOW)

    made = figures_of(of, period, age="24h", metric="views", matches=members.Members(ids[5:25], 0))

    assert made.this.posts == counted_again(ids[5:25], period.this, period.this)["posts"]


def test_retweets_versions_and_gone_posts_are_left_out(viewer):
    kept, retweet, version, gone = (post(7, posted=n * 26 * HOUR) for n in range(1, 5))
    TweetText.objects.filter(pk=retweet.id).update(kind=None)
    Tweet.objects.filter(pk=version.id).update(version_of=kept.id)
    TweetText.objects.filter(pk=gone.id).delete()
    Tweet.objects.filter(pk=gone.id).update(gone_at=NOW)
    for one in (kept, retweet, version, gone):
        checkpoint(one, A_DAY, views=50)
    period = named_period("7d", UTC_ZONE, now=NOW)

    made = figures_of(find_set("author", "7", viewer), period, age="24h", metric="views")

    assert made.this.posts == 1
    assert [one.id for one in made.best] == [kept.id]


def test_of_more_posts_than_are_read_the_newest_are_shown(viewer, monkeypatch):
    ids = filled()["all", "all"]
    monkeypatch.setattr(period_figures, "MAX_POSTS", 20)
    period = named_period("7d", UTC_ZONE, now=NOW)

    made = figures_of(find_set("all", "all", viewer), period, age="24h", metric="views")

    assert made.this.posts == 20
    assert made.before is None
    assert made.newest_since.replace(microsecond=0) == Tweet.objects.get(
        pk=ids[20]
    ).created_at.replace(microsecond=0)


def test_a_period_is_compared_only_with_all_of_the_one_before(viewer, monkeypatch):
    filled()
    of = find_set("all", "all", viewer)
    # The last four days have no posts.
    period = named_period("7d", UTC_ZONE, now=NOW + 4 * DAY)
    every = figures_of(of, period, age="24h", metric="views")
    assert every.this.posts < 30 < every.before.posts
    monkeypatch.setattr(period_figures, "MAX_POSTS", 30)

    made = figures_of(of, period, age="24h", metric="views")

    assert made.this == every.this
    assert made.newest_since is None
    assert made.before is None
    assert {step.posts_before for step in made.steps} == {None}


def test_a_frequent_name_is_looked_for_among_the_newest_texts(viewer, monkeypatch):
    ids = filled()["hashtag", "moon"]
    monkeypatch.setattr(members, "MAX_RARE", 3)
    monkeypatch.setattr(members, "STEP", 10)
    monkeypatch.setattr(members, "MOST_LOOKED", 40)
    span = TimeSpan(NOW - 30 * DAY, NOW + DAY)
    of = find_set("hashtag", "moon", viewer)

    newest = members.newest_members(of, span, most=5)
    assert list(newest.ids) == ids[:5]
    assert newest.complete_from == ids[4]

    newest = members.newest_members(of, span, most=500)
    assert list(newest.ids) == ids[:14]
    assert not newest.has_all_of(span)

    monkeypatch.setattr(members, "MOST_LOOKED", 4000)
    newest = members.newest_members(of, span, most=500)
    assert list(newest.ids) == ids
    assert newest.has_all_of(span)


def test_the_number_of_statements_does_not_grow_with_posts(viewer, django_assert_num_queries):
    filled()
    of = find_set("author", "7", viewer)
    period = named_period("30d", UTC_ZONE, now=NOW)

    with django_assert_num_queries(3):
        figures_of(of, period, age="24h", metric="views")


def test_scores_are_at_the_age_against_what_is_usual_then(viewer):
    for n in range(20):
        checkpoint(post(7, posted=(2 + n) * DAY), A_DAY, views=1000)
    hit, miss = post(7, posted=50 * HOUR), post(7, posted=51 * HOUR)
    checkpoint(hit, A_DAY, views=12_000)
    checkpoint(miss, A_DAY, views=250)
    make_benchmarks([7], now=NOW)
    period = named_period("7d", UTC_ZONE, now=NOW)

    made = figures_of(find_set("author", "7", viewer), period, age="24h", metric="views")

    assert [(one.id, one.score) for one in made.best] == [(hit.id, 12)]
    assert [(one.id, one.score) for one in made.worst] == [(miss.id, -4)]
    assert made.this.above == 1 / made.this.scored
    assert (made.best[0].scored.expected, made.best[0].scored.posts) == (1000, 22)


def test_of_more_posts_than_are_read_rollups_say_what_all_have(viewer, monkeypatch):
    sets = filled()
    first = int((NOW - 30 * DAY).timestamp()) // 900
    with transaction.atomic():
        recount(range(first, int(NOW.timestamp()) // 900 + 1), now=NOW)
    period = named_period("7d", ZoneInfo("Asia/Kathmandu"), now=NOW)
    for kind, key in sets:
        of = find_set(kind, key, viewer)
        with monkeypatch.context() as patch:
            whole = figures_of(of, period, age="24h", metric="views")
            patch.setattr(period_figures, "MAX_POSTS", 5)

            made = figures_of(of, period, age="24h", metric="views")

        assert made.is_summed
        assert not whole.is_summed
        assert made.newest_since is not None
        for summed, read in ((made.this, whole.this), (made.before, whole.before)):
            assert (summed.posts, summed.old_enough) == (read.posts, read.old_enough)
            assert (summed.measured, summed.total) == (read.measured, read.total)
            assert summed.rate == pytest.approx(read.rate)
            assert summed.median["views"] == pytest.approx(read.median["views"], rel=0.2)
        assert made.steps == whole.steps


def test_a_comparison_has_the_figures_of_each_set_and_medians_by_age(
    viewer, django_assert_num_queries
):
    filled()
    of = find_set("author", "7", viewer)
    period = named_period("7d", UTC_ZONE, now=NOW)
    whole = figures_of(of, period, age="24h", metric="views")

    with django_assert_num_queries(4):
        made = compared_set(of, period, age="24h", metric="views")

    assert (made.this, made.before, made.steps) == (whole.this, whole.before, whole.steps)
    assert made.by_age == {DAY: made.this.median["views"]}
    assert made.aged == made.this.old_enough
