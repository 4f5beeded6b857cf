"""Rules about velocity find what is in the lists, and the tweets that they name."""

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, moves, rule, stands_still, tweet
from tests.factories import figures
from trackers.alerts.membership import MAX_FINDINGS
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.outbox.findings import Finding, prune_rested
from trackers.schedule import tweet_changes
from trackers.tweets.record import Measured, record

FAST = {"metric": "likes", "at": 1000}


def alerted_tweets(nth=0):
    return [what.split()[1] for _, what in minute(nth)]


def test_a_fast_growing_tweet_alerts_once_with_its_metrics():
    rule("velocity", **FAST)
    moves(tweet(1), 1500)
    moves(tweet(2), 999)

    assert minute() == [("down", "Tweet 1 of @a7 gained 1,500 likes in 1 h: 1,500 an hour.")]
    assert minute(1) == []
    [notice] = AlertNotice.objects.all()
    assert notice.lines[0]["url"] == "/tweets/1/"


def test_the_quiet_period_is_counted_for_each_tweet():
    rule("velocity", **FAST, rest=HOUR)
    moved = moves(tweet(1), 1500)
    assert alerted_tweets() == ["1"]
    stands_still(moved)
    assert alerted_tweets(10) == []
    moves(moved, 1500)
    moves(tweet(2), 1500)
    assert alerted_tweets(20) == ["2"]
    # It began anew, and its pause is over.
    assert alerted_tweets(61) == ["1"]
    assert alerted_tweets(62) == []


def test_a_finding_is_pruned_after_its_quiet_period():
    rule("velocity", **FAST, rest=HOUR)
    one = moves(tweet(1), 1500)
    minute()
    stands_still(one)
    minute(1)

    assert prune_rested(now=NOW + 59 * MINUTE) == 0
    assert prune_rested(now=NOW + 61 * MINUTE) == 1
    assert not Finding.objects.exists()


def test_a_rule_can_be_limited_to_an_author_a_source_or_a_tweet():
    source = Source.objects.create(kind="search", of="cats")
    for id, author in ((1, 7), (2, 8), (3, 9)):
        moves(tweet(id, author=author), 2000)
    SourceTweet.objects.create(source=source, tweet_id=3, seen_at=NOW)
    rule("velocity", **FAST, about="author", of=8, name="author")
    rule("velocity", **FAST, about="source", of=source.pk, name="source")
    rule("velocity", **FAST, about="tweet", of=1, name="tweet")

    minute()

    found = {one.rule_name: [line["of"] for line in one.lines] for one in AlertNotice.objects.all()}
    assert found == {"author": ["2"], "source": ["3"], "tweet": ["1"]}


def test_a_tweet_named_by_a_rule_is_ranked_even_outside_the_lists():
    one = tweet(1)
    for minutes, likes in ((-60, 5), (-30, 500), (-1, 2000)):
        record([Measured(1, NOW + minutes * MINUTE, figures(likes), 60 * HOUR)])
    rule("velocity", **FAST, about="tweet", of=one.pk)

    assert minute() == [("down", "Tweet 1 of @a7 gained 1,995 likes in 59 min: 2,029 an hour.")]


def test_an_e_mail_counts_the_tweets_that_it_has_no_room_for():
    rule("velocity", **FAST, to=["ada@here.example"])
    for id in range(1, MAX_FINDINGS + 20):
        moves(tweet(id), 2000 + id)

    assert len(minute()) == MAX_FINDINGS
    [notice] = AlertNotice.objects.all()
    assert (len(notice.lines), notice.more) == (20, MAX_FINDINGS - 20)
    assert notice.mails.count() == 1


def test_the_rule_of_an_untracked_tweet_does_not_alert():
    moved = moves(tweet(1), 1500)
    rule("velocity", **FAST, about="tweet", of=1)
    rule("milestone", metric="likes", at=10, about="tweet", of=1)
    rule("usual", metric="likes", about="tweet", of=1)
    tweet_changes.untrack_tweets([moved.pk])

    assert minute() == []


def test_a_deleted_or_disabled_rule_does_not_alert(monkeypatch):
    kept, gone, off = (rule("velocity", **FAST, name=name) for name in ("kept", "gone", "off"))
    moves(tweet(1), 1500)

    def meanwhile(*given, **also):
        found = real(*given, **also)
        gone.delete()
        AlertRule.objects.filter(pk=off.pk).update(enabled=False)
        return found

    from trackers.alerts import judge

    real = judge.velocity_findings
    monkeypatch.setattr(judge, "velocity_findings", meanwhile)
    minute()

    assert [one.rule for one in AlertNotice.objects.all()] == [kept]
    assert set(Finding.objects.values_list("rule", flat=True)) == {kept.pk}


def test_deleting_a_rule_deletes_its_memory_and_keeps_the_log():
    one = rule("velocity", **FAST)
    moves(tweet(1), 1500)
    minute()
    one.delete()

    assert not Finding.objects.exists()
    [notice] = AlertNotice.objects.all()
    assert (notice.rule, notice.rule_name) == (None, "velocity")
