"""The list of tweets, sorted by how far they are above usual."""

import html
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages.conftest import flat
from tests.scores.posts import post, usual_posts
from trackers.listing import sorts
from trackers.scores.benchmarks import make_benchmarks
from trackers.scores.models import Score
from trackers.scores.update import score_tweets
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.kinds import PostKind
from trackers.tweets.models import Tweet, TweetText

H, D = timedelta(hours=1), timedelta(days=1)
AN_HOUR = AGES.index(H) + 1


@pytest.fixture
def tweets():
    """Three of an author for whom 1,000 views are usual after an hour, and one of a stranger."""
    now = timezone.now()
    usual_posts(7, 12, place=AN_HOUR, views=1000)
    make_benchmarks([7], now=now)
    views = (2500, 8400, 900)
    made = [post(7, posted=2 * H + n * H, now=now, views=count) for n, count in enumerate(views)]
    made.append(post(8, posted=6 * H, now=now, views=99_000))
    for tweet in made:
        Tweet.objects.filter(id=tweet.id).update(measured_until=tweet.created_at + H)
    score_tweets([tweet.id for tweet in made], now=now)
    return made


def listed(content):
    return [int(piece.split('"', 1)[0]) for piece in content.split('<tr id="row-')[1:]]


def test_few_tweets_are_all_sorted_those_without_a_score_last(staff, tweets):
    higher, high = tweets[1], tweets[0]

    content = flat(staff.get("/tweets/?sort=score-views&age=24h"))

    assert listed(content) == [higher.id, high.id, tweets[2].id, tweets[3].id]
    assert "Views ÷ usual" in content
    assert "8.4×" in content
    assert "usually 1,000" in content


def test_of_many_those_that_stand_out_are_listed_and_a_note_says_so(staff, tweets, monkeypatch):
    monkeypatch.setattr(sorts, "MAX_SORTED", 2)

    content = flat(staff.get("/tweets/?sort=score-views&age=24h"))

    assert listed(content) == [tweets[1].id, tweets[0].id]
    assert "at least twice what is usual" in content


def test_an_unknown_score_is_newest_first(staff, tweets):
    content = flat(staff.get("/tweets/?sort=score-quotes&age=24h"))

    assert listed(content) == sorted((tweet.id for tweet in tweets), reverse=True)


def test_the_page_opens_on_what_stands_out_and_the_newest_are_a_choice(staff, tweets):
    opened = flat(staff.get("/tweets/"))
    newest = flat(staff.get("/tweets/?sort=newest"))

    assert listed(opened)[:2] == [tweets[1].id, tweets[0].id]
    assert '<option value="score-views" selected>' in opened
    assert listed(newest) == sorted(listed(opened), reverse=True)
    assert '<option value="newest" selected>' in newest
    assert "tick from:body" in newest
    # The rows of a page that is open are asked for by its own order.
    assert '?part=rows&amp;sort=score-views"' in opened
    assert '?part=rows&amp;sort=newest"' in newest


def test_of_all_tweets_the_page_says_that_these_stand_out_or_that_none_does(
    staff, tweets, monkeypatch
):
    monkeypatch.setattr(sorts, "MAX_SORTED", 2)

    opened = flat(staff.get("/tweets/"))
    assert listed(opened) == [tweets[1].id, tweets[0].id]
    assert "with at least twice what is usual for their author</p>" in opened
    assert "choose an author" not in opened

    Score.objects.all().delete()
    assert "Nothing stands out" in flat(staff.get("/tweets/"))
    Tweet.objects.all().delete()
    assert "No tweets tracked yet" in flat(staff.get("/tweets/"))


def test_chips_narrow_by_time_and_leave_out_replies_and_quotes(staff, tweets):
    newest, oldest = tweets[0], tweets[3]
    TweetText.objects.update_or_create(
        tweet=newest, defaults={"text": "@ada Yes.", "kind": PostKind.REPLY}
    )
    page = flat(staff.get("/tweets/?sort=newest&tag="))
    hrefs = dict(re.findall(r'class="toggle" href="\?([^"]*)"[^>]*>([^<]*)</a>', page))
    chips = {words: html.unescape(query) for query, words in hrefs.items()}

    assert chips["7 d"] == "age=7d"
    assert chips["last hour"] == "age=1h"
    assert listed(flat(staff.get(f"/tweets/?{chips['last hour']}"))) == []
    own = flat(staff.get(f"/tweets/?{chips['without replies and quotes']}"))
    assert newest.id not in listed(own)
    # Once more, and they are back.
    assert 'href="?sort=newest" aria-current="true">without replies and quotes</a>' in own
    compact = flat(staff.get(f"/tweets/?{chips['compact']}"))
    assert 'class="tweets chosen compact"' in compact
    assert 'name="rows" value="compact"' in compact
    assert oldest.id in listed(compact)


def test_the_menu_of_orders_is_short_and_has_the_one_that_is_asked_for(staff, tweets):
    orders = re.findall(r'<option value="((?:score|gain|velocity|newest|likes)[^"]*)"', flat(
        staff.get("/tweets/?sort=likes")
    ))  # fmt: skip

    assert len(orders) == 11
    assert "likes" in orders
    gained = flat(staff.get("/tweets/?sort=gain-likes-60"))
    assert '<option value="gain-likes-60" selected>Most likes gained in an hour<' in gained
    # Of another metric, by a chip.
    assert 'href="?sort=gain-quotes-60">quotes</a>' in gained
