"""A home by the API: whose, which page of it, and what is followed."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User

from tests.api.conftest import Program
from tests.timelines.homes.world import bring, follower, source, tweet
from trackers.ingest.sources.models import Source
from trackers.timelines import homes
from trackers.timelines.followers import own
from trackers.timelines.models import Follow, Follower
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db
LINE = "users/me/timeline"


@pytest.fixture
def nine(program):
    """The ids of a home's nine tweets, the oldest first."""
    came_from = source()
    homes.follow(own(program.user).pk, source_id=came_from)
    ids = [tweet(1, n) for n in range(9)]
    bring(came_from, *ids)
    return ids


def ids(page):
    return [int(one["id"]) for one in page["tweets"]]


def test_a_positive_limit_pages_to_older_and_a_negative_one_to_newer_tweets(program, nine):
    assert ids(program.get(LINE)) == nine[::-1]
    assert ids(program.get(f"{LINE}?limit=2")) == [nine[8], nine[7]]
    assert ids(program.get(f"{LINE}?limit=2&anchor={nine[4]}")) == [nine[3], nine[2]]
    # The nearest to the anchor, and the newest of them first.
    assert ids(program.get(f"{LINE}?limit=-2&anchor={nine[4]}")) == [nine[6], nine[5]]
    # The anchor is a position: no tweet has to be there.
    assert ids(program.get(f"{LINE}?limit=-2&anchor={nine[4] + 1}")) == [nine[6], nine[5]]
    assert ids(program.get(f"{LINE}?limit=-2")) == []
    assert ids(program.get(f"{LINE}?limit=0")) == []


def test_before_and_after_page_through_a_home_both_ways(program, nine):
    page = program.get(f"{LINE}?limit=4")
    down = ids(page)
    while page["older"]:
        page = program.get(f"{LINE}?limit=4&before={page['older']}")
        down += ids(page)
    assert down == nine[::-1]

    page = program.get(f"{LINE}?limit=4&after={nine[0]}")
    assert ids(page) == nine[1:5][::-1]
    assert page["newer"] == str(nine[4])


def test_a_tweet_comes_with_author_text_and_metrics(program, nine):
    Tweet.objects.filter(pk=nine[8]).update(likes=7)

    [told] = program.get(f"{LINE}?limit=1")["tweets"]

    assert (told["id"], told["text"], told["likes"]) == (str(nine[8]), "words", 7)
    assert told["author"] == {"id": "7", "username": "", "name": ""}


# By commits: what one transaction brings and reads is no later than itself.
@pytest.mark.django_db(transaction=True)
def test_since_returns_newer_tweets_and_marks_late_ones(program, nine):
    clock = program.get(LINE)["clock"]
    came_from = Follow.objects.get().source_id
    bring(came_from, tweet(1, 20), tweet(0, 5))

    told = program.ask("GET", f"users/me/since?tweet={nine[8]}&clock={clock}")

    assert ids(told) == [tweet(1, 20), tweet(0, 5)]
    assert told["late"] == [str(tweet(0, 5))]


def test_a_deleted_tweet_is_not_in_the_home(program, nine):
    Tweet.objects.filter(pk=nine[8]).update(gone_at="2026-11-22T00:00Z", missing_reason="not_found")
    assert ids(program.get(f"{LINE}?limit=1")) == [nine[7]]


def test_follow_and_unfollow_are_idempotent_and_counted(program):
    first_source = source()
    for _ in range(2):
        assert program.put(f"users/me/following/{first_source}") is None
        assert program.status == 204
    program.put("users/me/following/accounts/4242")

    assert program.get("users/me/following_count") == {"count": 2}
    assert program.get(f"sources/{first_source}/followers_count") == {"count": 1}
    assert program.get("accounts/4242/followers_count") == {"count": 1}
    assert program.get("accounts/4243/followers_count") == {"count": 0}
    answer = program.get("users/me/following?limit=1")
    assert [(row["source"], row["account"]) for row in answer["following"]] == [(None, "4242")]
    answer = program.get(f"users/me/following?after={answer['next']}")
    assert [row["source"] for row in answer["following"]] == [str(first_source)]
    assert answer["next"] is None

    for _ in range(2):
        program.delete(f"users/me/following/{first_source}")
        assert program.status == 204
    program.delete("users/me/following/accounts/4242")
    assert program.get("users/me/following_count") == {"count": 0}
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        f"{act} {origin}, by the API."
        for act in ("Followed", "Unfollowed")
        for origin in (Source.objects.get(pk=first_source), "author 4242")
    ]


def test_a_token_reads_only_homes_of_its_user_and_their_teams(program, client):
    team = Group.objects.create(name="desk")
    theirs = Follower.objects.create(team=team).pk
    stranger = follower()

    for home in (theirs, stranger, 10**17, "x", "²"):
        for method, path in (
            ("GET", "timeline"), ("GET", "since"), ("GET", "following"),
            ("GET", "following_count"), ("PUT", "following/1"), ("DELETE", "following/1"),
            ("PUT", "following/accounts/1"), ("DELETE", "following/accounts/1"),
        ):  # fmt: skip
            told = program.ask(method, f"users/{home}/{path}")
            assert (program.status, told) == (404, {"error": "You have no such home."})
    assert not Follow.objects.exists()

    program.user.groups.add(team)
    assert program.get(f"users/{theirs}/timeline")["tweets"] == []
    mine = own(program.user).pk
    assert program.get("users") == {
        "users": [
            {"id": str(mine), "kind": "user", "name": "ada"},
            {"id": str(theirs), "kind": "team", "name": "desk"},
        ]
    }
    # A team of which nobody has looked at anything yet.
    program.user.groups.add(Group.objects.create(name="crew"))
    [_, crew, _] = program.get("users")["users"]
    assert program.get(f"users/{crew['id']}/timeline")["tweets"] == []
    root = Program(client, User.objects.create_superuser("root"))
    root.get(f"users/{mine}/timeline")
    assert root.status == 404


BAD = {
    "limit=many": "limit: ",
    "limit=801": "up to 800",
    "limit=-801": None,
    "limit=-801&anchor=5": "up to 800",
    "anchor=1.0": "anchor: an id is a string of up to 19 digits.",
    "anchor=-5": "-5 is not the id of a tweet.",
    "anchor=9223372036854775808": "anchor: an id has up to 64 bits.",
    "anchor=99999999999999999999": "anchor: an id",
    "anchor=1&before=2": "Give only one of anchor, before and after.",
    "before=1&after=2": "before a tweet or after one",
    "limit=-1&before=5": "A limit below 0 needs anchor, not before or after.",
}


@pytest.mark.parametrize("query", BAD)
def test_bad_page_parameters_are_refused_with_a_sentence(program, query):
    answer = program.get(f"{LINE}?{query}")

    if BAD[query] is None:
        assert (program.status, answer["tweets"]) == (200, [])
    else:
        assert program.status == 400
        assert BAD[query] in answer["error"]


def test_unknown_sources_and_bad_ids_cannot_be_followed(program):
    for path, status in (
        ("following/123456", 404), ("following/0", 400), ("following/x", 400),
        ("following/accounts/0", 400), ("following/accounts/-3", 400),
        ("following/9223372036854775808", 400), ("following/99999999999999999999", 400),
    ):  # fmt: skip
        told = program.put(f"users/me/{path}")
        assert (path, program.status, set(told)) == (path, status, {"error"})
    assert not Follow.objects.exists()


@pytest.mark.parametrize("query", ["clock=spoilt", "tweet=9223372036854775808", "tweet=-1"])
def test_a_malformed_place_is_refused(program, query):
    told = program.get(f"users/me/since?{query}")
    assert (program.status, set(told)) == (400, {"error"})
