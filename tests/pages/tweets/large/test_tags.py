"""Tags on pages: of one tweet, of ticked ones, of all that match; the filter and the column."""

import csv
import io

import pytest
from django.http import QueryDict
from django.utils import timezone

from tests.factories import TweetFactory
from tests.jobs.ordinary import run_all
from tests.pages.conftest import flat, measure, watched
from tests.pages.sources import some_staff, source
from tests.pages.tweets.db.test_tweets import row_ids
from trackers.ingest.sources.models import SourceTweet
from trackers.listing.matching import matching_tweets
from trackers.listing.query import parse_query
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.tags import tagging
from trackers.tweets.tags.names import get_or_create_tag, offered_tags

pytestmark = pytest.mark.django_db
LIST, MANY, ACT = "/tweets/", "/tweets/many/", "/tweets/many/act"


@pytest.fixture
def three():
    tweets = [
        watched(1, author_id=8, username="ann", text="one word"),
        watched(2, author_id=9, username="Bob", text="two words"),
        watched(3, author_id=8, username="ann", text="three words", paused=True),
    ]
    for tweet, lang, likes in zip(tweets, ("en", "de", "ja"), (10, 30, 20), strict=True):
        measure(tweet, likes, likes=likes)
        TweetText.objects.filter(tweet=tweet).update(lang=lang)
    return [tweet.pk for tweet in tweets]


def put(name, *ids):
    tagging.tag_tweets(get_or_create_tag(name).pk, ids)


def test_a_tweet_is_tagged_on_its_page_and_the_tag_is_removed(staff, three):
    page = staff.post(f"{LIST}{three[0]}/tag", {"tag": "#Launch"}, follow=True)
    assert "tagged “Launch”" in flat(page)
    assert 'href="/tweets/?tag=Launch"' in flat(page)
    again = staff.post(f"{LIST}{three[0]}/tag", {"tag": "launch"}, follow=True)
    assert "tagged “Launch” already" in flat(again)
    wrong = staff.post(f"{LIST}{three[0]}/tag", {"tag": "a,b"}, follow=True)
    assert "no comma" in flat(wrong)

    gone = staff.post(f"{LIST}{three[0]}/untag", {"tag": "LAUNCH"}, follow=True)
    assert "Removed the tag" in flat(gone)
    assert tagging.tags_of(three) == {}


def test_view_permission_sees_tags_and_cannot_change_them(client, three):
    put("launch", three[0])
    viewer = some_staff(client, "view_tweet")

    page = flat(viewer.get(f"{LIST}{three[0]}/"))
    assert "launch" in page
    assert "add-tag" not in page
    assert "tweets/many" not in flat(viewer.get(LIST))
    for address in (f"{LIST}{three[0]}/tag", f"{LIST}{three[0]}/untag", ACT):
        assert viewer.post(address, {"tag": "launch", "act": "tag"}).status_code == 403
    assert tagging.tags_of(three) == {three[0]: ["launch"]}


def test_the_list_is_filtered_by_tag_and_has_a_tags_column(staff, three):
    put("launch", three[0], three[2])
    put("b-side", three[2])

    assert row_ids(staff.get(LIST, {"tag": "LAUNCH"})) == [three[2], three[0]]
    assert row_ids(staff.get(LIST, {"tag": "launch", "author": "bob"})) == []
    assert row_ids(staff.get(LIST, {"tag": "launch", "sort": "likes"})) == [three[2], three[0]]
    assert row_ids(staff.get(LIST, {"tag": "launch", "q": "one"})) == [three[0]]
    assert row_ids(staff.get(LIST, {"tag": "launch", "state": "paused"})) == [three[2]]
    nothing = staff.get(LIST, {"tag": "nonsense"})
    assert row_ids(nothing) == []
    assert "There is no tag “nonsense”" in flat(nothing)

    assert 'class="tags"' not in flat(staff.get(LIST))
    rows = flat(staff.get("/tweets/", {"part": "rows", "columns": "tags,likes"}))
    assert rows.index('href="/tweets/?tag=b-side"') < rows.index('href="/tweets/?tag=launch"')
    # A row is sent again when its tags changed.
    before = rows.split("data-version=")[1:]
    put("later", three[1])
    rows = flat(staff.get("/tweets/", {"part": "rows", "columns": "tags,likes"}))
    after = rows.split("data-version=")[1:]
    changed = [one[:8] != two[:8] or "later" in two for one, two in zip(before, after, strict=True)]
    assert changed == [False, True, False]


def test_a_view_keeps_its_tag_and_the_file_has_the_tags(staff, three):
    put("launch", three[0])
    staff.post("/tweets/views/save", {"name": "Launch", "query": "tag=launch"})
    assert 'href="/tweets/?tag=launch">Launch</a>' in flat(staff.get(LIST))

    lines = b"".join(staff.get("/tweets/export.csv").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(lines, newline="")))
    assert [row["tags"] for row in rows] == ["", "", "launch"]


def test_tagging_ticked_tweets_first_shows_their_number(staff, three):
    ids = [str(id) for id in three[:2]]
    page = flat(staff.get(MANY, {"ids": ids, "query": "sort=likes"}))
    assert "<h1>2 tweets ticked</h1>" in page
    assert "two words" in page

    done = staff.post(ACT, {"ids": ids, "query": "sort=likes", "act": "tag", "tag": "launch"})
    assert done["Location"] == "/tweets/?sort=likes"
    assert "2 tweets tagged “launch”." in flat(staff.get(LIST))
    staff.post(ACT, {"ids": ids[:1], "act": "untag", "tag": "launch"})
    assert f"Removed the tag “launch” from tweet {ids[0]}." in flat(staff.get(LIST))
    assert tagging.tags_of(three) == {three[1]: ["launch"]}
    staff.post(ACT, {"ids": ids[:1], "act": "untag", "tag": "launch"})
    assert "not tagged “launch”." in flat(staff.get(LIST))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({"act": "tag", "tag": "launch"}, "No tweets were chosen", id="no tweet"),
        pytest.param({"act": "tag", "tag": " ", "all": "1"}, "needs a name", id="no name"),
        pytest.param({"act": "untag", "tag": "x", "all": "1"}, "There is no tag “x”", id="no tag"),
    ],
)
def test_impossible_acts_are_refused_with_a_sentence(staff, three, given, says):
    assert says in flat(staff.post(ACT, given, follow=True))
    assert offered_tags() == []
    assert staff.post(ACT, {"act": "eat", "all": "1"}).status_code == 404


def test_all_matches_are_paused_resumed_and_untracked_after_a_question(staff, three):
    query = {"all": "1", "query": "author=ann"}
    assert "<h1>2 tweets match</h1>" in flat(staff.get(MANY, query))

    staff.post(ACT, {**query, "act": "pause"})
    assert set(Tweet.objects.filter(paused=True).values_list("pk", flat=True)) == {
        three[0], three[2]
    }  # fmt: skip
    staff.post(ACT, {**query, "act": "resume"})
    assert not Tweet.objects.filter(paused=True).exists()
    asked = flat(staff.post(ACT, {**query, "act": "untrack"}))
    assert "Stop tracking 2 tweets and remove the whole history?" in asked
    assert Tweet.objects.count() == 3
    staff.post(ACT, {**query, "act": "untrack", "sure": "yes"})
    assert [tweet.pk for tweet in Tweet.objects.all()] == [three[1]]


def test_untracking_matches_needs_the_permission_to_delete_tweets(client, three):
    operator = some_staff(client, "view_tweet", "change_tweet")

    assert "Untrack" not in flat(operator.get(MANY, {"all": "1"}))
    given = {"all": "1", "act": "untrack", "sure": "yes"}
    assert operator.post(ACT, given).status_code == 403
    assert Tweet.objects.count() == 3


def test_very_many_matches_are_tagged_by_workers_in_pieces_that_can_be_stopped(staff):
    Tweet.objects.bulk_create(TweetFactory.build(id=id) for id in range(1, 2501))

    page = flat(staff.get(MANY, {"all": "1"}))
    assert "2,500 tweets match" in page
    assert "in the background" in page
    begun = staff.post(ACT, {"all": "1", "act": "tag", "tag": "launch"}, follow=True)
    act = BulkAct.objects.get()
    assert begun.redirect_chain[-1][0] == f"{MANY}{act.pk}/"
    assert "0 of 2,500 tweets (0%)" in flat(begun)
    TweetFactory(id=9999)
    run_all()

    assert "2,500 of 2,500 tweets (100%)" in flat(staff.get(f"{MANY}{act.pk}/?part=progress"))
    assert len(tagging.tags_of(list(range(1, 10_000)))) == 2500

    staff.post(ACT, {"all": "1", "query": "tag=launch", "act": "untag", "tag": "launch"})
    last = BulkAct.objects.first()
    assert "Stopped." in flat(staff.post(f"{MANY}{last.pk}/stop", follow=True))
    run_all()
    assert len(tagging.tags_of(list(range(1, 10_000)))) == 2500
    assert "had already ended" in flat(staff.post(f"{MANY}{last.pk}/stop", follow=True))
    assert staff.get(f"{MANY}999999/").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "", "author=ann", "tag=launch", "tag=nonsense", "lang=ja", "min_likes=20", "state=paused",
        "state=fresh", "age=1h", "until=2020-01-01", "q=words", "q=wor", "q=@ann", "q=ann",
        "q=%22two+words%22", "q=-two+words", "q=%2B%2B", "q=words&tag=launch", "source=1",
        "q=words&state=paused&author=ann",
    ],
)  # fmt: skip
def test_all_matches_equal_those_of_the_list(staff, three, query):
    put("launch", three[0], three[2])
    there = source("account", "nasa")
    SourceTweet.objects.create(source=there, tweet_id=three[0], seen_at=timezone.now())
    query = query.replace("source=1", f"source={there.pk}")
    Tweet.objects.filter(pk=three[1]).update(gone_at=timezone.now())

    results = matching_tweets(parse_query(QueryDict(query)), now=timezone.now())

    listed = row_ids(staff.get(f"{LIST}?{query}"))
    assert sorted(results.values_list("pk", flat=True), reverse=True) == listed
    assert results.count() == len(listed)


def test_a_search_by_id_is_a_match(three):
    found = matching_tweets(parse_query(QueryDict(f"q={three[1]}")), now=timezone.now())

    assert [tweet.pk for tweet in found] == [three[1]]
