"""Files of tweets: the same columns and values on the page, in the API and by command."""

import csv
import io
import json
import sys
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pyarrow import parquet

from tests.api.conftest import Program
from tests.factories import TweetFactory, TweetUpdateFactory
from tests.file_names import undated_name
from trackers.jobs.models import MAX_STRIKES
from trackers.listing.columns import TWEET_COLUMNS
from trackers.scores.models import Score
from trackers.tweets.checkpoints.models import Checkpoint, PackedCheckpoints
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag
from trackers.updater.models import TweetUpdate
from trackers.updater.states import STATES, tweet_state
from tweetwatch.tables import FORMULAS

AT = datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC)
DUE = datetime(2027, 3, 1, 12, tzinfo=UTC)
ENTITIES = {
    "kind": "reply", "hashtags": "moon, sun", "domains": "example.org", "mentions": "=someone",
    "cashtags": None, "links": "https://example.org/a,b https://example.org/c",
}  # fmt: skip
TEXTS = {"came_from", "withheld", "tags", "text", "author"}


def row(id, *, due=True, strikes=0, for_money_until=None, **given):
    TweetFactory(id=id, tracked_at=AT, **given)
    if due:
        TweetUpdateFactory(key=id, due_at=DUE, strikes=strikes)
        TweetUpdate.objects.filter(key=id).update(for_money_until=for_money_until)


@pytest.fixture
def world():
    """A tweet in each state, the first with all that can be known, in words like formulas."""
    author = Author.objects.create(id=7, username="=nasa", name="NASA")
    row(
        1, author=author, created_at=AT, taken_at=AT, measured_until=AT + timedelta(hours=1),
        measurements=9, likes=-1, views=3_000_000_000, came_from="@nasa's posts", newest=12,
        withheld="-DE copyright",
    )  # fmt: skip
    TweetText.objects.create(
        tweet_id=1, text='+1 "quoted", a \\ backslash\nand 東京', lang="en", conversation_id=5,
        replied_to=6, quoted=7, retweeted=8, media_keys=["3_1", "3_2"], kind=1,
        hashtags=["moon", "sun"], mentions=["=someone"], domains=["example.org"],
        links=[{"address": "https://example.org/a,b", "of_media": False},
               {"address": "https://example.org/c", "of_media": False},
               {"address": "https://x.com/i/status/1/photo/1", "of_media": True}],
    )  # fmt: skip
    for name in ("zeta", "=Alpha"):
        tagging.tag_tweets(get_or_create_tag(name).pk, [1])
    row(2, due=False)
    row(3, due=False, paused=True)
    row(4, for_money_until=DUE)
    row(5, missing_since=AT, missing_reason="protected")
    row(6, missing_since=AT, missing_reason="not_found")
    row(7, unreadable_since=AT)
    row(8, missing_since=AT, missing_reason="not_found", gone_at=AT, paused=True)
    TweetText.objects.create(tweet_id=8, text="deleted a moment ago", lang="en")
    row(9, strikes=MAX_STRIKES, missing_since=AT, missing_reason="suspended")
    row(10, due=False, version_of=1)
    row(11, version_of=1, for_money_until=AT)


def of_command(monkeypatch, form):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, write_through=True))
    call_command("export", "tweets", "--format", form)
    return out.getvalue()


def read_rows(told, form):
    if form == "jsonl":
        return [json.loads(line) for line in told.splitlines()]
    return list(csv.DictReader(io.StringIO(told.decode(), newline="")))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_page_api_and_command_have_the_same_columns_and_values(world, staff, monkeypatch, form):
    owner = Program(staff, User.objects.get(username="ada"))
    told = [
        staff.get(f"/tweets/export.{form}").getvalue(),
        owner.raw(f"tweets/export?format={form}").getvalue(),
        owner.raw(f"exports/tweets?format={form}").getvalue(),
        of_command(monkeypatch, form),
    ]

    page, *others = [
        sorted(read_rows(one, form), key=lambda each: int(each["tweet_id"])) for one in told
    ]

    assert list(page[0]) == [column.name for column in TWEET_COLUMNS]
    assert len(page) == 11
    assert others == [page] * 3
    assert all(list(one) == list(page[0]) for rows in others for one in rows)


def test_a_file_has_each_state_as_the_pages_name_it(world, staff):
    rows = read_rows(staff.get("/tweets/export.jsonl").getvalue(), "jsonl")

    jobs = TweetUpdate.objects.in_bulk()
    tweets = Tweet.objects.in_bulk()
    states = {int(one["tweet_id"]): one["state"] for one in rows}
    assert states == {id: tweet_state(tweet, jobs.get(id)).name for id, tweet in tweets.items()}
    assert set(states.values()) == set(STATES)
    scheduled = {int(one["tweet_id"]) for one in rows if one["next_check_at"]}
    assert scheduled == {id for id in tweets if tweet_state(tweets[id], jobs.get(id)).is_scheduled}
    assert {one["text"] for one in rows if one["state"] == "gone"} == {None}


def test_a_file_has_the_kind_and_what_x_recognised(world, staff):
    rows = read_rows(staff.get("/tweets/export.jsonl").getvalue(), "jsonl")

    [first] = [row for row in rows if row["tweet_id"] == "1"]
    assert {name: first[name] for name in ENTITIES} == ENTITIES
    others = [row[name] for row in rows for name in ENTITIES if row["tweet_id"] != "1"]
    assert set(others) == {None}


def test_a_file_has_scores_engagement_and_what_was_had_at_ages(world, staff):
    Tweet.objects.filter(pk=1).update(
        views=200, likes=4, retweets=3, replies=2, quotes=1, bookmarks=0
    )
    Score.objects.create(tweet_id=1, at=AT, views=7.125, expected_views=28, likes=None)
    for place, views in ((3, 40), (5, 90), (5, 80)):
        Checkpoint.objects.create(tweet_id=1, age=place, crossed_at=AT, views=views, likes=2)
    PackedCheckpoints.objects.create(
        tweet_id=1, ages=[13, 16], retweets=[None, 3], replies=[0, 0], likes=[3, 4], quotes=[0, 0],
        bookmarks=[0, 0], views=[150, 190],
    )  # fmt: skip

    rows = read_rows(staff.get("/tweets/export.jsonl").getvalue(), "jsonl")

    [first] = [row for row in rows if row["tweet_id"] == "1"]
    asked = {
        "engagement_rate": 0.05, "score_views": 7.13, "expected_views": 28.0, "score_likes": None,
        "scored_at": "2026-03-01T12:00:00.000250Z",
        "views_at_15_min": 40, "views_at_1_h": 80, "views_at_24_h": 150, "views_at_7_d": 190,
        "likes_at_1_h": 2, "retweets_at_24_h": None, "retweets_at_7_d": 3,
    }  # fmt: skip
    assert {name: first[name] for name in asked} == asked
    assert {row["views_at_24_h"] for row in rows if row["tweet_id"] != "1"} == {None}


def test_only_csv_is_guarded_against_formulas(world, staff, monkeypatch):
    owner = Program(staff, User.objects.get(username="ada"))

    def first(told, form):
        [found] = [one for one in read_rows(told, form) if one["tweet_id"] == "1"]
        return {name: found[name] for name in TEXTS}

    in_parquet = parquet.read_table(io.BytesIO(staff.get("/tweets/export.parquet").getvalue()))
    [plain] = [one for one in in_parquet.to_pylist() if one["tweet_id"] == "1"]
    plain = {name: plain[name] for name in TEXTS}

    assert all(text.startswith(FORMULAS) for text in plain.values())
    assert plain["tags"] == "=Alpha, zeta"
    for sent in (
        staff.get("/tweets/export.jsonl").getvalue(),
        owner.raw("exports/tweets?format=jsonl").getvalue(),
        of_command(monkeypatch, "jsonl"),
    ):
        assert first(sent, "jsonl") == plain
    for sent in (
        staff.get("/tweets/export.csv").getvalue(),
        owner.raw("exports/tweets?format=csv").getvalue(),
        of_command(monkeypatch, "csv"),
    ):
        assert first(sent, "csv") == {name: f"'{text}" for name, text in plain.items()}
        assert b",-1," in sent  # a number is no formula


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("", "tweets.csv"),
        ("columns=likes&page=2", "tweets.csv"),
        ("author=@nasa&min_likes=100", "tweets-author-nasa-min_likes-100.csv"),
        ("q=two+words&state=paused&sort=likes", "tweets-two-words-state-paused-sort-likes.csv"),
        ('q=../"x"%0d%0a', "tweets-x.csv"),
    ],
)
def test_a_file_is_named_after_what_was_asked_for(staff, query, name):
    assert undated_name(staff.get(f"/tweets/export.csv?{query}")) == name


def test_a_file_is_named_after_the_view_of_the_person(staff, client):
    staff.post("/tweets/views/save", {"name": "Début 東京!", "query": "tag=launch&sort=likes"})

    answer = staff.get("/tweets/export.csv?sort=likes&tag=launch")
    told = answer["Content-Disposition"]
    assert told.startswith(f"attachment; filename*=utf-8''tweets-{quote('début-東京')}-20")
    other = staff.get("/tweets/export.csv?sort=likes")
    assert undated_name(other) == "tweets-sort-likes.csv"


def test_a_long_name_ends(staff):
    answer = staff.get(f"/tweets/export.csv?q={'word+' * 40}")

    assert len(undated_name(answer)) <= 104
