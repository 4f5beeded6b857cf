"""How many tweets X shows, and how many not: counted by each statement that changes it."""

import logging
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django_q.models import Schedule

from tests.factories import ProjectFactory, TweetFactory, figures, id_born, post
from trackers import tasks
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.stream.store import _pay
from trackers.ingest.track import track_chunk
from trackers.jobs import queue
from trackers.jobs.models import TWEET_UPDATE
from trackers.schedule.intervals import Plan
from trackers.schedule.tweet_changes import untrack_tweets
from trackers.tweets.authors import store_names
from trackers.tweets.describe import describe
from trackers.tweets.models import Author, Tweet
from trackers.tweets.presence import PresenceCount, presences
from trackers.tweets.record import Measured, mark_paid, record
from trackers.tweets.versions import SeenVersion, learn
from trackers.updater.save import Judged, save_batch
from trackers.updater.verdicts import Verdict

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
OLD, EARLY = 20, id_born(datetime(2019, 12, 31, 23, 59, 59, tzinfo=UTC))
NEW = id_born(datetime(2020, 1, 1, tzinfo=UTC))
IDS = [OLD, EARLY, NEW, NEW + 1]
TODAY = timezone.now().date()


def tracked(*ids):
    """Found and due."""
    track_chunk([FoundTweet(id) for id in ids], came_from="a test")
    return list(ids)


def looked_up(*verdicts, project=1):
    ids = [verdict.tweet_id for verdict in verdicts]
    queue.schedule_many(TWEET_UPDATE, [(id, timedelta(0)) for id in ids])
    batch = queue.get(TWEET_UPDATE, 100)
    judged = Judged(verdicts, at=timezone.now(), paid_on=TODAY, paid_by=project)
    assert save_batch(batch, [judged], Plan(())).ours >= set(ids)


def measured(id):
    return Verdict(id, MINUTE, figures(likes=1), 2 * MINUTE)


def by_the_tweets():
    """What all tweets say by their rows."""
    counts = {}
    for tweet in Tweet.objects.all():
        born = datetime.fromtimestamp(((tweet.id >> 22) + 1288834974657) / 1000, UTC)
        name = tweet.missing_reason or ("shown" if tweet.paid_on else "unasked")
        counts.setdefault(born.year, Counter())[name] += 1
    return counts


def is_exact():
    counted = {year: dict(by_name) for year, by_name in presences().items()}
    assert counted == by_the_tweets()
    return counted


def test_tweets_that_come_in_are_not_looked_up_and_counted_by_year():
    tracked(*IDS)
    tracked(*IDS)

    assert is_exact() == {2010: {"unasked": 1}, 2019: {"unasked": 1}, 2020: {"unasked": 2}}


def test_a_look_up_counts_what_x_shows_and_why_it_does_not():
    tracked(*IDS)

    looked_up(measured(OLD), measured(EARLY), measured(NEW), measured(NEW + 1))
    assert is_exact() == {2010: {"shown": 1}, 2019: {"shown": 1}, 2020: {"shown": 2}}

    looked_up(
        measured(OLD),
        Verdict(EARLY, MINUTE, missing="not_found"),
        Verdict(NEW, MINUTE, missing="suspended"),
        Verdict(NEW + 1, MINUTE, missing="unauthorized"),
    )
    lost = {2010: {"shown": 1}, 2019: {"not_found": 1}, 2020: {"suspended": 1, "unauthorized": 1}}
    assert is_exact() == lost

    looked_up(
        measured(OLD),
        Verdict(EARLY, MINUTE, missing="not_found", gone=True),
        Verdict(NEW, MINUTE, missing="unauthorized"),
        measured(NEW + 1),
    )
    assert is_exact() == {
        2010: {"shown": 1}, 2019: {"not_found": 1}, 2020: {"suspended": 1, "shown": 1},
    }  # fmt: skip


def test_a_steady_look_up_adds_no_row():
    tracked(NEW)
    looked_up(measured(NEW))
    before = PresenceCount.objects.count()

    looked_up(measured(NEW))
    looked_up(Verdict(NEW, MINUTE, broken="a count is a 'text'"))

    assert PresenceCount.objects.count() == before
    assert is_exact() == {2020: {"shown": 1}}


def test_broken_answers_were_shown_and_omitted_tweets_were_not():
    tracked(EARLY, NEW)

    looked_up(Verdict(EARLY, MINUTE, broken="a count is a 'text'"), Verdict(NEW, MINUTE))

    assert is_exact() == {2019: {"shown": 1}, 2020: {"unasked": 1}}


def test_figures_of_a_file_are_no_look_up_and_those_of_a_poll_are():
    tracked(EARLY, NEW)
    when = [Measured(id, timezone.now(), figures(likes=1), MINUTE) for id in (EARLY, NEW)]

    record(when[:1])
    assert is_exact() == {2019: {"unasked": 1}, 2020: {"unasked": 1}}

    record(when[1:], paid_on=TODAY, paid_by=ProjectFactory().pk)
    assert is_exact() == {2019: {"unasked": 1}, 2020: {"shown": 1}}


@pytest.mark.parametrize("missing", ["not_found", "suspended"])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("before", [None, 2 * MINUTE])
def test_older_figures_of_a_file_do_not_bring_a_missing_tweet_back(missing, gone, before):
    """Neither one that was never measured nor one that was, before those of the file."""
    tracked(NEW)
    now = timezone.now()
    if before:
        record([Measured(NEW, now - before, figures(likes=9), MINUTE)])
    looked_up(Verdict(NEW, MINUTE, missing=missing, gone=gone))
    last = Tweet.objects.get()

    record([Measured(NEW, now - MINUTE, figures(likes=1), MINUTE)])

    tweet = Tweet.objects.get()
    assert (tweet.missing_since, tweet.missing_reason) == (last.missing_since, missing)
    assert tweet.gone_at == last.gone_at
    assert bool(tweet.gone_at) is gone
    assert (tweet.likes, tweet.measured_until) == (1, now - MINUTE)
    assert is_exact() == {2020: {missing: 1}}

    record([Measured(NEW, timezone.now(), figures(likes=2), MINUTE)])

    tweet = Tweet.objects.get()
    assert (tweet.missing_since, tweet.missing_reason, tweet.gone_at) == (None, "", None)
    assert is_exact() == {2020: {"unasked": 1}}


def test_older_figures_of_a_file_do_not_make_an_unreadable_tweet_readable():
    tracked(NEW)
    looked_up(Verdict(NEW, MINUTE, broken="a count is a 'text'"))

    record([Measured(NEW, timezone.now() - MINUTE, figures(likes=1), MINUTE)])

    tweet = Tweet.objects.get()
    assert (tweet.likes, tweet.unreadable_reason) == (1, "a count is a 'text'")
    assert tweet.unreadable_since


def test_a_billed_measurement_brings_a_tweet_back_that_a_clock_ahead_did_not_find():
    tracked(NEW)
    looked_up(Verdict(NEW, MINUTE, missing="not_found"))
    Tweet.objects.update(missing_since=timezone.now() + MINUTE)

    record(
        [Measured(NEW, timezone.now(), figures(likes=1), MINUTE)],
        paid_on=TODAY,
        paid_by=ProjectFactory().pk,
    )

    assert Tweet.objects.get().missing_since is None
    assert is_exact() == {2020: {"shown": 1}}


def test_posts_billed_to_a_poll_or_the_stream_were_shown():
    tracked(EARLY, NEW)
    looked_up(Verdict(EARLY, MINUTE, missing="suspended"))

    assert mark_paid([EARLY, NEW], day=TODAY, project=ProjectFactory().pk) == 2
    assert is_exact() == {2019: {"suspended": 1}, 2020: {"shown": 1}}

    tracked(OLD)
    assert _pay([OLD], ["rule"], day=TODAY, project=ProjectFactory().pk) == 1
    assert is_exact() == {2010: {"shown": 1}, 2019: {"suspended": 1}, 2020: {"shown": 1}}


def test_an_explained_account_changes_the_reason():
    ids = tracked(NEW, NEW + 1)
    Author.objects.bulk_create([Author(id=7, checked_at=timezone.now()), Author(id=8)])
    Tweet.objects.filter(pk=NEW).update(author=7)
    Tweet.objects.filter(pk=NEW + 1).update(author=8)
    looked_up(*(Verdict(id, MINUTE, missing="unauthorized") for id in ids))

    store_names([7, 8], [], suspended=[7])

    assert is_exact() == {2020: {"suspended": 1, "unauthorized": 1}}


def test_a_tweet_stays_shown_while_its_new_version_is_not_yet_looked_up():
    tracked(NEW)
    looked_up(measured(NEW))
    describe([post(NEW)])

    learn([SeenVersion(post(NEW + 5)._replace(edit_history=(NEW, NEW + 5)), timezone.now())])

    tweet = Tweet.objects.get(pk=NEW)
    assert tweet.newest == NEW + 5
    assert tweet.paid_on < TODAY - timedelta(days=1)  # so it costs a look-up today
    assert is_exact() == {2020: {"shown": 1}}


def test_untracked_tweets_are_not_counted():
    tracked(*IDS)
    looked_up(measured(NEW), Verdict(EARLY, MINUTE, missing="not_found", gone=True))

    untrack_tweets([EARLY, NEW, NEW + 7])

    assert is_exact() == {2010: {"unasked": 1}, 2020: {"unasked": 1}}


def test_a_task_sums_the_counts_up_to_a_row_of_each():
    tracked(*IDS)
    looked_up(measured(NEW), measured(NEW + 1), Verdict(EARLY, MINUTE, missing="not_found"))
    before = presences()
    assert PresenceCount.objects.count() > 4

    tasks.sum_up_presences()

    rows = PresenceCount.objects.values_list("year", "presence", "tweets")
    assert sorted(rows) == [(2010, "unasked", 1), (2019, "not_found", 1), (2020, "shown", 2)]
    assert presences() == before
    tasks.sum_up_presences()
    assert presences() == before
    assert Schedule.objects.get(func="trackers.tasks.sum_up_presences").minutes == 1


def test_an_audit_corrects_what_was_changed_past_us_and_says_so(caplog):
    tracked(*IDS)
    tasks.sum_up_presences()
    TweetFactory(id=NEW + 9, paid_on=TODAY)
    TweetFactory(id=id_born(datetime(2031, 1, 1, tzinfo=UTC)))
    Tweet.objects.filter(pk__in=[OLD, EARLY]).delete()
    PresenceCount.objects.create(year=2015, presence="shown", tweets=3)

    with caplog.at_level(logging.WARNING):
        tasks.audit_presences()

    assert is_exact() == {2020: {"unasked": 2, "shown": 1}, 2031: {"unasked": 1}}
    assert {record.args[0] for record in caplog.records} == {2010, 2015, 2019, 2020, 2031}
    caplog.clear()
    tasks.audit_presences()
    assert not caplog.records
    assert Schedule.objects.get(func="trackers.tasks.audit_presences").schedule_type == "H"
