"""Leaderboards of sets by the API are those of the page."""

import pytest
from django.utils import timezone

from tests.pages.tweets.db.test_leaderboards_page import (  # noqa: F401
    DAY,
    make,
    two_authors,
)
from trackers import tasks
from trackers.rollups.models import Rollup, RollupKind
from trackers.sets.leaderboards.models import LargeLeaderboard, Leaderboard
from trackers.tweets.models import Tweet
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets

pytestmark = pytest.mark.django_db


def test_sets_of_a_kind_come_in_order(owner, two_authors):  # noqa: F811
    answer = owner.get("leaderboards/author")

    assert [one["key"] for one in answer["sets"]] == ["8", "7"]
    vera = answer["sets"][1]
    assert (vera["name"], vera["posts"], vera["posts_before"], vera["measured"]) == (
        "@vera", 6, 2, 6,
    )  # fmt: skip
    assert (vera["total"]["views"], vera["total_before"]["views"]) == (21_000, 14_000)
    assert (vera["rate"], vera["scored"], vera["above"]) == (0.05, 0, None)
    assert (answer["kind"], answer["age"]) == ("author", "24h")
    [first] = owner.get("leaderboards/author?by=posts&limit=1&metric=likes")["sets"]
    assert first["key"] == "7"
    assert owner.get("leaderboards/hashtag?period=30d")["sets"][0]["name"] == "#moon"


def test_days_are_counted_at_once_if_they_have_few_posts(owner, two_authors):  # noqa: F811
    today = timezone.now().date()
    days = f"since={today - 6 * DAY}&until={today}&zone=Asia/Kathmandu"

    assert [one["key"] for one in owner.get(f"leaderboards/author?{days}")["sets"]] == ["8", "7"]
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)
    owner.get(f"leaderboards/author?{days}")
    assert owner.status == 400


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("all", 400), ("author?period=8d", 400), ("author?since=2026-01-01", 400),
        ("author?period=7d&since=2026-01-01&until=2026-01-02", 400), ("author?zone=Mars", 400),
        ("author?since=2026-01-02&until=2026-01-01", 400), ("author?limit=101", 400),
    ],
)  # fmt: skip
def test_a_query_without_an_answer_is_refused(owner, query, status):
    owner.get(f"leaderboards/{query}")

    assert owner.status == status


def test_within_a_set_only_its_posts_are_counted(owner, two_authors):  # noqa: F811
    tag = get_or_create_tag("launch")
    tag_tweets(tag.pk, [id for (id,) in Tweet.objects.filter(author=7).values_list("pk")])

    answer = owner.get(f"leaderboards/author?within=tag/{tag.pk}")

    assert [one["key"] for one in answer["sets"]] == ["7"]
    assert (answer["within"], answer["newest_since"]) == (f"tag/{tag.pk}", None)
    assert owner.get("leaderboards/author")["within"] is None
    for nowhere in ("tag/99", "author/7", "tag", "view/1"):
        owner.get(f"leaderboards/author?within={nowhere}")
        assert owner.status == 404


def test_many_posts_are_counted_by_a_worker(owner, two_authors):  # noqa: F811
    today = timezone.now().date()
    address = f"leaderboards/author?since={today - 6 * DAY}&until={today}"
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)
    assert "by a POST to this address" in owner.get(address)["error"]

    assert owner.post(address) == {"posts": None, "counted": 0, "problem": ""}
    assert owner.status == 202
    owner.get(address)
    assert owner.status == 202
    tasks.count_large_leaderboard(LargeLeaderboard.objects.get().pk)

    assert [one["key"] for one in owner.get(address)["sets"]] == ["8", "7"]


def test_of_many_posts_the_list_may_not_be_made_yet(owner, two_authors):  # noqa: F811
    Leaderboard.objects.all().delete()
    Rollup.objects.filter(kind=RollupKind.ALL).update(posts=9_000)

    owner.get("leaderboards/author")

    assert owner.status == 503
