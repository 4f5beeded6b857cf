"""Rules about what is far better than the usual of its author: young tweets, some a minute."""

from datetime import timedelta

import pytest

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, moves, rule, stands_still, tweet
from tests.factories import figures, id_born
from trackers.alerts.unusual import JUDGED_MOST, turns, unusual_findings
from trackers.tweets.record import Measured, record
from tweetwatch.pieces import Deadline


def posted(before, likes, *, author=7):
    """Posted so long before NOW, with so many likes an hour later, or now."""
    born = NOW - before
    moved = tweet(id_born(born), author=author, created_at=born)
    at = min(born + HOUR, NOW)
    record([Measured(moved.pk, at, figures(likes), 60 * HOUR)])
    moved.refresh_from_db()
    return moved


def earlier(likes=100, count=5, *, author=7):
    return [posted(timedelta(days=2 + nth), likes + nth, author=author) for nth in range(count)]


def test_three_times_the_benchmark_alerts_and_names_the_benchmark():
    earlier()
    moved = moves(posted(HOUR, 330), 330)
    rule("usual", metric="likes", times=3)

    [(state, what)] = minute()

    assert state == "down"
    assert what == (
        f"Tweet {moved.pk} of @a7 has 330 likes after 1 h, 3.2 times the usual: half of the "
        "author's 5 tweets before it had 102 or fewer by then."
    )
    assert minute(1) == []


@pytest.mark.parametrize(
    ("likes", "given"),
    [(300, {}), (330, {"times": 4}), (330, {"at": 331}), (330, {"about": "author", "of": 8})],
)
def test_a_smaller_multiple_does_not_alert(likes, given):
    earlier()
    moves(posted(HOUR, likes), 330)
    rule("usual", **{"metric": "likes", "times": 3, **given})

    assert minute() == []


def test_too_few_earlier_tweets_give_no_benchmark():
    earlier(count=3)
    moves(posted(HOUR, 10_000), 330)
    rule("usual", metric="likes")

    assert minute() == []


def test_only_young_gainers_and_tweets_named_by_a_rule_are_judged():
    earlier()
    old = moves(posted(25 * HOUR, 10_000), 330)
    still = posted(2 * HOUR, 10_000)
    rule("usual", metric="likes")
    assert minute() == []

    rule("usual", metric="likes", about="tweet", of=still.pk, name="its own")
    rule("usual", metric="likes", about="tweet", of=old.pk, name="old")
    # Its own rule brings it in, and the one about all sees it too.
    assert [what.split()[1] for _, what in minute(1)] == [str(still.pk)] * 2


def test_a_tweet_that_returned_to_normal_can_alert_again():
    earlier()
    moved = moves(posted(HOUR, 330), 330)
    rule("usual", metric="likes", times=3, rest=HOUR)
    assert len(minute()) == 1
    record([Measured(moved.pk, NOW + MINUTE, figures(200), 60 * HOUR)])
    assert minute(2) == []
    record([Measured(moved.pk, NOW + 3 * MINUTE, figures(400), 60 * HOUR)])
    assert minute(4) == []
    assert len(minute(65)) == 1


def test_many_gainers_are_judged_by_turns():
    tweets = [nth << 22 for nth in range(1000, 1000 + 5 * JUDGED_MOST)]

    rounds = [turns(tweets, minute=nth) for nth in range(5)]

    assert {len(one) for one in rounds} == {JUDGED_MOST}
    assert sorted(id for one in rounds for id in one) == tweets


def test_gainers_beyond_the_time_limit_wait_for_the_next_run():
    earlier()
    moved = moves(posted(HOUR, 330), 330)
    rules = [rule("usual", metric="likes")]

    assert unusual_findings(rules, now=NOW, deadline=Deadline.after(0)) == []
    assert [look.of for look in unusual_findings(rules, now=NOW, deadline=Deadline.after(60))] == [
        str(moved.pk)
    ]
    stands_still(moved)
    assert unusual_findings(rules, now=NOW, deadline=Deadline.after(60)) == []
