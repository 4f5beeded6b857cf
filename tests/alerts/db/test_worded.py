"""Rules about new tweets that have certain words."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.alerts.conftest import HOUR, MINUTE, rule
from tests.factories import post
from trackers.alerts.judge import judge
from trackers.alerts.membership import MAX_FINDINGS
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.rehearsal import rehearse
from trackers.ingest.files.import_part import YIELDED
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.sources.models import Source
from trackers.ingest.track import track_chunk
from trackers.saved_views.models import SavedView
from trackers.tweets import newcomers
from trackers.tweets.gains.heads import store_heads
from trackers.tweets.newcomers import Newcomers, NewcomersReader
from trackers.tweets.snowflake import first_id_at
from trackers.tweets.tags.names import get_or_create_tag
from trackers.tweets.tags.tagging import tag_tweets
from tweetwatch.database import array, cursor

DAY = timedelta(days=1)


def posted(ago, nth=0):
    return first_id_at(int((timezone.now() - ago).timestamp() * 1000)) + nth


def comes(id, text, *, author=7):
    """It is tracked, with its text."""
    track_chunk([FoundTweet(id, post(id, text=text, author_id=author))], came_from="a test")
    return id


def yields(source, *ids):
    with cursor() as db:
        db.execute(YIELDED, {"source": source.pk, "ids": array(ids)})


def minute(nth=0):
    """The tweets of which that minute tells."""
    news = judge([], now=timezone.now() + nth * MINUTE)
    return [int(one.observation.of) for one in news]


@pytest.mark.parametrize(
    ("words", "any_word", "text", "matches"),
    [
        ("launch", False, "We LAUNCH it.", True),
        ("launch", False, "The launches are over", False),
        ("launch price", False, "The price of the launch", True),
        ("launch price", False, "The launch", False),
        ("launch price", True, "The price", True),
        ('"new product"', False, "A new, fine product", False),
        ('"new product" -rumour', False, "The New Product is here", True),
        ('"new product" -rumour', False, "New product? A rumour.", False),
        ("запуск", False, "Скоро ЗАПУСК!", True),
        ("東京", False, "明日は東京タワー", True),
        ("東京", False, "京の東", False),
        ("إطلاق", False, "تم إطلاق المنتج", True),
        ("#launch", False, "#Launch day", True),
    ],
)
def test_words_are_whole_and_in_any_case_and_script(words, any_word, text, matches):
    rule("words", words=words, any_word=any_word)
    minute()
    id = comes(posted(HOUR), text)

    assert minute(1) == ([id] if matches else [])


def test_the_sentence_has_the_words_of_the_rule_and_not_the_text():
    rule("words", words="launch price", any_word=True)
    minute()
    id = comes(posted(HOUR), "A secret launch")
    minute(1)

    [line] = AlertNotice.objects.get().lines
    assert line["what"] == f"Tweet {id} of author 7 is new, and has one of: launch price."
    assert (line["kind"], line["url"]) == ("tweet", f"/tweets/{id}/")


def test_a_tweet_alerts_once_however_often_it_comes():
    rule("words", words="launch", rest=MINUTE)
    minute()
    id = comes(posted(HOUR), "The launch")
    assert minute(1) == [id]

    yields(Source.objects.create(kind="search", of="cats"), id)
    tag_tweets(get_or_create_tag("launch").pk, [id])
    assert Newcomers.objects.count() == 2
    assert minute(10) == minute(24 * 60) == []
    assert not Newcomers.objects.exists()


def test_another_source_and_a_tag_bring_a_tweet_that_was_there():
    source, tag = Source.objects.create(kind="search", of="cats"), get_or_create_tag("news")
    for about, of in (("source", source.pk), ("tag", tag.pk)):
        rule("words", words="launch", about=about, of=of, name=about)
    minute()
    id = comes(posted(HOUR), "The launch")
    assert minute(1) == []
    yields(source, id)
    assert minute(2) == [id]
    tag_tweets(tag.pk, [id])
    assert minute(3) == [id]

    assert [one.rule_name for one in AlertNotice.objects.order_by("pk")] == ["source", "tag"]


def test_such_rules_keep_to_their_subject():
    source, tag = Source.objects.create(kind="search", of="cats"), get_or_create_tag("news")
    view = SavedView.objects.create(
        user=User.objects.create_user("ada"), name="v", query="author=8"
    )
    subjects = {"author": 8, "source": source.pk, "tag": tag.pk, "view": view.pk}
    for about, of in subjects.items():
        rule("words", words="launch", about=about, of=of, name=about)
    minute()
    comes(posted(HOUR), "The launch", author=7)
    theirs = comes(posted(HOUR, 1), "The launch", author=8)
    yields(source, theirs)
    tag_tweets(tag.pk, [theirs])
    minute(1)

    raised = {
        one.rule_name: [line["of"] for line in one.lines] for one in AlertNotice.objects.all()
    }
    assert raised == {about: [str(theirs)] for about in subjects}


def test_an_old_tweet_is_no_news_when_it_comes():
    rule("words", words="launch")
    minute()
    comes(posted(DAY + MINUTE), "The launch")
    assert not Newcomers.objects.exists()
    id = comes(posted(DAY - MINUTE), "The launch")
    assert minute(1) == [id]


def test_without_such_a_rule_nothing_is_noted():
    comes(posted(HOUR), "The launch")
    assert not Newcomers.objects.exists()
    one = rule("words", words="launch")
    minute()
    comes(posted(HOUR, 1), "The launch")
    assert (Newcomers.objects.count(), NewcomersReader.objects.count()) == (1, 1)
    one.delete()
    minute(1)
    assert (Newcomers.objects.count(), NewcomersReader.objects.count()) == (0, 0)


def test_a_storm_is_one_message_and_a_backlog_is_read_in_turns(monkeypatch):
    monkeypatch.setattr(newcomers, "_READ_MOST", 3)
    rule("words", words="launch")
    minute()
    ids = [comes(posted(HOUR, nth), "The launch") for nth in range(7)]
    assert [sorted(minute(nth)) for nth in range(1, 5)] == [ids[:3], ids[3:6], ids[6:], []]
    monkeypatch.undo()
    for nth in range(100, 100 + MAX_FINDINGS + 5):
        comes(posted(HOUR, nth), "The launch")
    assert len(minute(5)) == MAX_FINDINGS
    notice = AlertNotice.objects.order_by("pk").last()
    assert len(notice.lines) + notice.more == MAX_FINDINGS


def test_the_words_of_all_rules_are_parsed_at_once():
    for count in range(20):
        rule("words", words=f"launch price{count}", any_word=True, name=f"rule {count}")
    minute()
    comes(posted(HOUR), "The launch")
    with CaptureQueriesContext(connection) as queries:
        assert len(minute(1)) == 20
    assert sum("phraseto_tsquery" in one["sql"] for one in queries) == 1


def test_a_rehearsal_reads_the_texts_of_a_day():
    source = Source.objects.create(kind="search", of="cats")
    store_heads(now=timezone.now() - DAY + MINUTE)
    comes(posted(3 * HOUR), "The launch")
    theirs = comes(posted(2 * HOUR), "The launch", author=8)
    yields(source, theirs)
    comes(posted(HOUR), "Nothing", author=8)
    comes(posted(30 * HOUR), "The launch", author=8)

    def tried(**about):
        return rehearse(AlertRule(kind="words", words="launch", rest=DAY, **about),
                        now=timezone.now() + MINUTE)  # fmt: skip

    for about in ({"about": "author", "of": 8}, {"about": "source", "of": source.pk}):
        [fire] = tried(**about).shown
        assert fire.what == f"Tweet {theirs} of author 8 is new, and has all of: launch."
    everywhere = tried()
    # Both came in now: one message.
    assert (everywhere.fired, everywhere.messages) == (2, 1)
