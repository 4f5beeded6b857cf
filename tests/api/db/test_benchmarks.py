"""What is usual for an author, in the API."""

from datetime import timedelta

from django.utils import timezone

from tests.scores.posts import usual_posts
from trackers.scores.benchmarks import make_benchmarks
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import METRICS, Author


def test_an_author_has_benchmarks_by_kind_metric_and_age(owner):
    hour = AGES.index(timedelta(hours=1)) + 1
    usual_posts(7, 12, place=hour, kind=PostKind.PHOTO, views=1000, likes=20)
    usual_posts(7, 2, place=hour, kind=PostKind.TEXT, first=timedelta(days=90), views=1)
    make_benchmarks([7], now=timezone.now())

    answer = owner.get("authors/7/benchmarks")

    of_all, photo = answer["benchmarks"]
    assert (answer["author"], of_all["kind"], photo["kind"]) == ("7", None, "photo")
    assert set(photo["metrics"]) == set(METRICS)
    views = photo["metrics"]["views"]
    assert [one["age"] for one in views][:5] == ["5m", "10m", "15m", "30m", "1h"]
    assert views[hour - 1] == {"age": "1h", "posts": 12, "usual": 1000.0}
    assert views[0] == {"age": "5m", "posts": 0, "usual": None}
    assert photo["metrics"]["quotes"][hour - 1]["usual"] is None
    assert of_all["metrics"]["views"][hour - 1]["posts"] == 14


def test_an_unknown_author_is_404_and_one_without_posts_has_none(owner):
    Author.objects.create(id=8)

    assert owner.get("authors/8/benchmarks") == {"author": "8", "benchmarks": []}
    owner.get("authors/9/benchmarks")
    assert owner.status == 404
