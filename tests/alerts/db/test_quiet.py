"""Rules about an author or a source that is quiet."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, rule, tweet
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.quiet import quiet_findings
from trackers.alerts.rehearsal import rehearse
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.ingest.stream.models import Stream
from trackers.jobs.models import PausedAll
from trackers.tweets.snowflake import first_id_at

DAY = timedelta(days=1)


def posts(ago, *, source=None, author=7):
    """The author posted before noon, or after it."""
    one = tweet(first_id_at(int((NOW - ago).timestamp() * 1000)), author=author)
    if source is not None:
        SourceTweet.objects.create(source=source, tweet_id=one.pk, seen_at=NOW - ago)
    return one


def reads(kind="search", of="cats", **given):
    return Source.objects.create(kind=kind, of=of, **{"polled_at": NOW + DAY, **given})


def test_a_silence_alerts_once_and_is_over_with_the_next_post():
    posts(5 * HOUR)
    rule("quiet", about="author", of=7, lasting=6 * HOUR)

    assert minute() == []
    assert minute(59) == []
    [(state, what)] = minute(60)
    assert (state, what) == ("down", "Nothing new has come from @a7 for 6 h.")
    assert minute(61) == minute(600) == []
    posts(-601 * MINUTE)
    assert minute(602) == [("back", "Posts come from @a7 again.")]
    assert minute(603) == []
    assert len(minute(602 + 6 * 60)) == 1
    assert AlertNotice.objects.first().lines[0]["url"] == "/authors/7/"


def test_a_source_is_silent_by_what_it_brought_itself():
    source, other = reads(), reads(of="dogs")
    posts(7 * HOUR, source=source)
    posts(HOUR, source=other)
    for one in (source, other):
        rule("quiet", about="source", of=one.pk, lasting=6 * HOUR)

    assert minute() == [("down", "Nothing new has come from search: cats for 7 h.")]


@pytest.mark.parametrize(
    "state",
    [{"paused_at": NOW}, {"hidden_reason": "protected"}, {"polled_at": NOW - 2 * HOUR},
     {"polled_at": None}],
)  # fmt: skip
def test_a_source_that_is_not_read_is_not_called_quiet(state):
    posts(7 * HOUR, source=reads(**state))
    rule("quiet", about="source", of=Source.objects.get().pk, lasting=6 * HOUR)
    assert minute() == []


def test_an_author_is_heard_by_the_sources_of_the_account():
    posts(7 * HOUR)
    rule("quiet", about="author", of=7, lasting=6 * HOUR)
    account = reads("account", "a7", account_id=7, paused_at=NOW)
    assert minute() == []
    Source.objects.filter(pk=account.pk).update(paused_at=None)
    assert len(minute(1)) == 1
    # What is said already stays said while nobody listens.
    Source.objects.filter(pk=account.pk).update(paused_at=NOW)
    posts(-HOUR)
    assert minute(61) == []
    Source.objects.filter(pk=account.pk).update(paused_at=None)
    assert minute(62) == [("back", "Posts come from @a7 again.")]


def test_a_stream_is_heard_until_its_last_line():
    rule_of_stream = reads("stream", "#live", polled_at=None)
    Stream.objects.create(heard_at=NOW - 2 * HOUR)
    posts(7 * HOUR, source=rule_of_stream)
    rule("quiet", about="source", of=rule_of_stream.pk, lasting=6 * HOUR)
    assert minute() == []
    Stream.objects.update(heard_at=NOW)
    assert len(minute(1)) == 1


def test_nothing_is_silence_while_everything_is_paused_and_before_the_first_post():
    rule("quiet", about="author", of=7, lasting=HOUR)
    rule("quiet", about="author", of=99, lasting=HOUR)
    posts(7 * HOUR)
    pause = PausedAll.objects.create(queues=[])
    assert minute() == []
    pause.delete()
    assert len(minute(1)) == 1


def test_a_rehearsal_finds_the_silences_of_a_day():
    for hours in (60, 30, 20, 14, 13):
        posts(hours * HOUR)

    tried = rehearse(
        AlertRule(kind="quiet", about="author", of=7, lasting=6 * HOUR, rest=HOUR), now=NOW
    )

    assert [NOW - fire.at for fire in tried.shown] == [7 * HOUR, 14 * HOUR, 24 * HOUR]
    # Two of them ended, one in the minute in which it would have been told.
    assert tried.sentence == (
        "Would have fired 3 times in the last day: about 4 messages a day, with its pause."
    )
    quiet = AlertRule(kind="quiet", about="author", of=8, lasting=HOUR, rest=HOUR)
    assert rehearse(quiet, now=NOW).since is None


def test_many_rules_are_judged_by_as_many_statements_as_two():
    source = reads()
    posts(7 * HOUR, source=source)

    def statements(number):
        for _ in range(number):
            rule("quiet", about="author", of=7, lasting=6 * HOUR)
            rule("quiet", about="source", of=source.pk, lasting=6 * HOUR)
        with CaptureQueriesContext(connection) as asked:
            quiet_findings(AlertRule.objects.all(), now=NOW)
        return len(asked)

    assert statements(1) == statements(9)
