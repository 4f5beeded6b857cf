"""A period's figures of a set by the API: those of its page."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from tests.scores.posts import checkpoint, post
from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.models import Author, TweetText

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
A_DAY = AGES.index(DAY) + 1
ZERO = dict.fromkeys(("retweets", "replies", "likes", "quotes", "bookmarks"), 0)


def posted(age, views=None, *, author=7):
    tweet = post(author, posted=age, now=timezone.now())
    TweetText.objects.filter(pk=tweet.pk).update(lang="en", hashtags=["moon"])
    if views is not None:
        checkpoint(tweet, A_DAY, **{**ZERO, "views": views, "likes": views // 100})
    return tweet


def test_a_period_is_answered_with_the_one_before(owner):
    posted(HOUR)
    for number in range(5):
        posted(30 * HOUR + number * HOUR, 1000 * (number + 1))
    posted(7 * DAY + 30 * HOUR, 2000)

    answer = owner.get("sets/author/7/period")

    assert (answer["kind"], answer["key"], answer["age"], answer["metric"]) == (
        "author", "7", "24h", "views",
    )  # fmt: skip
    this, before = answer["this"], answer["before"]
    assert (this["posts"], this["old_enough"], this["measured"]) == (6, 5, 5)
    assert (this["total"]["views"], this["median"]["views"]) == (15_000, 3000)
    assert (this["rate"], this["scored"], this["above"]) == (0.01, 0, None)
    assert (before["posts"], before["total"]["likes"]) == (1, 20)
    assert len(answer["steps"]) == 7
    assert sum(step["posts"] for step in answer["steps"]) == 6
    assert sum(step["total"] or 0 for step in answer["steps"]) == 15_000
    assert [one["count"] for one in answer["best"]] == [5000, 4000, 3000, 2000, 1000]
    assert answer["kinds"] == [
        {"kind": "text", "posts": 6, "measured": 5, "median": 3000, "rate": 0.01}
    ]
    assert answer["authors"] == []
    assert [one["language"] for one in answer["languages"]] == ["en"]
    assert sum(one["posts"] for one in answer["hours"]) == 6
    assert answer["newest_since"] is None


def test_names_of_sets_are_taken_as_people_say_them(owner):
    posted(30 * HOUR, 5)
    Author.objects.filter(pk=7).update(username="vera")

    assert owner.get("sets/author/@vera/period")["key"] == "7"
    assert owner.get("sets/hashtag/%23Moon/period")["this"]["posts"] == 1
    assert owner.get("sets/all/all/period?period=90d&metric=likes")["authors"][0]["author"] == "7"
    assert owner.get("sets/language/de/period")["this"]["posts"] == 0


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("period=8d", "period"),
        ("since=2026-03-01", "both since and until"),
        ("period=7d&since=2026-03-01&until=2026-03-02", "both since and until"),
        ("since=2026-03-02&until=2026-03-01", "ends before it begins"),
        ("since=2026-03-02&until=March", "until"),
        ("zone=CET-7", "zone"),
        ("zone=../etc", "zone"),
        ("age=2h", "age"),
        ("metric=all", "metric"),
        ("zone=UTC&zone=UTC", "only once"),
    ],
)
def test_a_period_that_cannot_be_is_400(owner, query, says):
    told = owner.get(f"sets/all/all/period?{query}")

    assert owner.status == 400
    assert says in told["error"]


def test_a_set_that_is_not_there_or_not_ones_own_is_404(owner):
    other = User.objects.create_user("otto")
    view = SavedView.objects.create(user=other, name="Mine", query="")
    mine = SavedView.objects.create(user=owner.user, name="Mine", query="lang=en")
    posted(30 * HOUR, 5)

    assert owner.get(f"sets/view/{mine.pk}/period")["this"]["posts"] == 1
    for there in (f"view/{view.pk}", "author/8", "tag/1", "hashtag/a%20b", "all/7"):
        owner.get(f"sets/{there}/period")
        assert owner.status == 404, there
    owner.get("sets/some/thing/period")
    assert owner.status == 400


def test_a_source_takes_the_permission_of_sources(keeper):
    source = Source.objects.create(kind="search", of="moon")
    keeper.user.user_permissions.add(Permission.objects.get(codename="view_tweet"))

    keeper.get(f"sets/source/{source.pk}/period")
    assert keeper.status == 403
    keeper.get("sets/all/all/period")
    assert keeper.status == 200
