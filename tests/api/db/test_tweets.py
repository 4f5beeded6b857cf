"""Tweets by the API: track, read, act on many or one, and the history in pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission

from tests.factories import TweetFactory, figures, post
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.track import track_chunk
from trackers.schedule import tweet_changes
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.record import Measured, record
from trackers.updater.models import TweetUpdate

AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def track(*ids):
    track_chunk([FoundTweet(id, post(id, created_at=AT)) for id in ids], came_from="a test")


def allow(program, *names):
    program.user.user_permissions.set(Permission.objects.filter(codename__in=names))


def measure(id, *steps, hole_after=MINUTE):
    for minutes, likes in steps:
        record([Measured(id, AT + minutes * MINUTE, figures(likes), hole_after)])


def test_many_tweets_are_tracked_each_with_its_own_result(owner):
    track(77)
    TweetVersion.objects.create(id=78, tweet_id=77)
    given = ["77", "https://x.com/nasa/status/79?s=20", "79", "78", "2.1E+18", "words"]

    answer = owner.post("tweets", {"tweets": given})

    assert owner.status == 200
    assert [(one["id"], one["outcome"]) for one in answer["results"]] == [
        ("77", "already"), ("79", "tracked"), ("79", "already"), ("77", "already"),
        (None, "rejected"), (None, "rejected"),
    ]  # fmt: skip
    assert (answer["tracked"], answer["already"], answer["rejected"]) == (1, 3, 2)
    assert "rounded" in answer["results"][4]["detail"]
    assert Tweet.objects.get(pk=79).came_from == "the API, by olga"
    assert TweetUpdate.objects.filter(pk=79).exists()
    assert LogEntry.objects.get().change_message == "Tracked, by the API."


@pytest.mark.parametrize("given", [[], ["1"] * 1001, [7], "7", None])
def test_an_empty_or_too_long_list_tracks_nothing(owner, given):
    owner.post("tweets", {"tweets": given})
    assert (owner.status, Tweet.objects.count()) == (400, 0)


def test_ids_that_seem_rounded_are_refused_as_a_whole(owner):
    rounded = ["1212092628029690000", "1212092632211410000", "20"]

    answer = owner.post("tweets", {"tweets": rounded})

    assert owner.status == 422
    assert "end in zeros" in str(answer)
    assert Tweet.objects.count() == 0
    assert owner.post("tweets", {"tweets": rounded, "anyway": True})["tracked"] == 3


def test_a_tweet_is_read_with_all_its_fields(owner):
    track_chunk([FoundTweet(77, post(77, created_at=AT, likes=5), AT)], came_from="a test")

    answer = owner.get("tweets/77")

    assert owner.status == 200
    assert answer["author"] == {"id": "7", "username": "", "name": ""}
    assert (answer["likes"], answer["lang"], answer["text"]) == (5, "en", "words")
    assert (answer["state"], answer["created_at"]) == ("fresh", "2026-11-02T12:00:00Z")
    schemas = owner.get("openapi.json")["components"]["schemas"]
    assert set(answer) == set(schemas["TweetDetailOut"]["properties"])


def test_the_id_of_a_version_reads_its_tweet_but_cannot_untrack_it(owner):
    track(77)
    Tweet.objects.update(newest=78)
    TweetVersion.objects.create(id=78, tweet_id=77, text="before")

    told = owner.get("tweets/78")
    assert (told["id"], told["newest_version"], told["versions"][0]["text"]) == (
        "77",
        "78",
        "before",
    )
    owner.delete("tweets/78")
    assert (owner.status, Tweet.objects.count()) == (404, 1)


def test_an_untracked_tweet_is_404(owner):
    for method, path in (("GET", ""), ("GET", "/history"), ("POST", "/pause"), ("DELETE", "")):
        assert owner.ask(method, f"tweets/5{path}") == {"error": "Tweet 5 is not tracked."}
        assert owner.status == 404
    for id in ("x", "-1", "9" * 19, "²"):
        owner.get(f"tweets/{id}")
        assert owner.status == 400


def test_a_tweet_is_paused_resumed_checked_and_untracked(owner):
    track(77)

    for _ in range(2):
        owner.post("tweets/77/pause")
        assert (owner.status, Tweet.objects.get().paused) == (204, True)
    assert "no check now, because paused" in owner.post("tweets/77/check")["error"]
    assert owner.status == 409
    owner.post("tweets/77/resume")
    assert (owner.status, Tweet.objects.get().paused) == (204, False)
    owner.post("tweets/77/check")
    assert owner.status == 204
    assert TweetUpdate.objects.get(pk=77).urgent
    owner.delete("tweets/77")
    assert (owner.status, Tweet.objects.count()) == (204, 0)
    assert LogEntry.objects.count() == 4


def test_acts_on_many_tweets_name_those_not_tracked(owner):
    track(77, 78)
    tweet_changes.pause_tweets([78])

    assert owner.post("tweets/pause", {"ids": ["77", "78", "79", "77"]}) == {
        "asked": 3, "done": 1, "not_tracked": ["79"],
    }  # fmt: skip
    assert owner.post("tweets/resume", {"ids": ["77", "78"]})["done"] == 2
    assert owner.post("tweets/check", {"ids": ["77", "78"]})["done"] == 2
    assert owner.post("tweets/untrack", {"ids": ["77", "5"]}) == {
        "asked": 2, "done": 1, "not_tracked": ["5"],
    }  # fmt: skip
    assert [one.pk for one in Tweet.objects.all()] == [78]


CALLS = [
    ("GET", "tweets/77", "view"), ("GET", "tweets/77/history", "view"),
    ("POST", "tweets", "add"), ("POST", "tweets/pause", "change"),
    ("POST", "tweets/77/check", "change"), ("DELETE", "tweets/77", "delete"),
    ("POST", "tweets/untrack", "delete"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "needs"), CALLS)
def test_each_call_needs_its_permission(program, method, path, needs):
    TweetFactory(id=77)
    body = {"tweets": ["9"]} if path == "tweets" else {"ids": ["77"]}
    allow(
        program, *({"view_tweet", "add_tweet", "change_tweet", "delete_tweet"} - {f"{needs}_tweet"})
    )

    told = program.ask(method, path, body if method == "POST" else None)

    assert (program.status, f"trackers.{needs}_tweet" in told["error"]) == (403, True)
    tweet = Tweet.objects.get()
    assert (tweet.pk, tweet.paused) == (77, False)


def pages(program, path):
    """All pages of a list, following `next`."""
    collected, sign = [], "&" if "?" in path else "?"
    answer = program.get(path)
    while True:
        assert program.status == 200
        collected.append(answer)
        if answer["next"] is None:
            return collected
        answer = program.get(f"{path}{sign}cursor={answer['next']}")


def likes(told):
    return [(one["at"][11:16], one["likes"]) for page in told for one in page["samples"]]


def test_the_history_comes_in_pages_of_measurements(owner):
    TweetFactory(id=77)
    measure(77, (0, 1), (1, 1), (2, 2), (3, 3), (9, 3))

    measurements = pages(owner, "tweets/77/history?limit=2")

    assert [len(one["samples"]) for one in measurements] == [2, 2]
    assert likes(measurements) == [("12:00", 1), ("12:02", 2), ("12:03", 3), ("12:09", 3)]
    assert measurements[0]["samples"][0]["until"] == "2026-11-02T12:01:00Z"
    assert measurements[0]["samples"][0]["measurements"] == 2

    some = owner.get("tweets/77/history?since=2026-11-02T12:01:00Z&until=2026-11-02T12:03:00Z")
    assert likes([some]) == [("12:00", 1), ("12:02", 2)]


def test_the_history_is_thinned_to_buckets_and_gaps_stay_gaps(owner):
    TweetFactory(id=77)
    # 12:00 to 12:12 the same, a change at 12:13 and one at 12:14; then a hole; then 12:31.
    measure(
        77, *((minute, 1) for minute in range(13)), (13, 2), (14, 5), (31, 9), hole_after=2 * MINUTE
    )

    report = pages(owner, "tweets/77/history?bucket=5m&limit=2")

    assert [len(one["samples"]) for one in report] == [2, 2]
    assert likes(report) == [("12:00", 1), ("12:05", 1), ("12:10", 5), ("12:30", 9)]
    assert report[0]["samples"][0]["until"] is None
    assert likes(pages(owner, "tweets/77/history?bucket=1h")) == [("12:00", 9)]
    since = "since=2026-11-02T12:06:00Z&until=2026-11-02T12:09:00Z"
    assert likes(pages(owner, f"tweets/77/history?bucket=1m&{since}&limit=2")) == [
        ("12:06", 1), ("12:07", 1), ("12:08", 1), ("12:09", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "query",
    ["since=yesterday", "since=2026-11-02T12:00:00", "bucket=2m", "limit=0", "limit=5001",
     "cursor=x", "since=2026-11-03T00:00:00Z&until=2026-11-02T00:00:00Z"],
)  # fmt: skip
def test_invalid_history_parameters_are_refused(owner, query):
    TweetFactory(id=77)
    owner.get(f"tweets/77/history?{query}")
    assert owner.status == 400


def test_a_cursor_of_another_tweet_is_refused(owner):
    TweetFactory(id=77)
    TweetFactory(id=78)
    measure(77, (0, 1), (1, 2), (2, 3))
    cursor = owner.get("tweets/77/history?limit=1")["next"]

    assert (
        "cursor is not from this list"
        in owner.get(f"tweets/78/history?limit=1&cursor={cursor}")["error"]
    )
    assert owner.status == 400
