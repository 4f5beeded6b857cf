"""Each kind of source, from the request to X to tweets that are tracked and measured."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests import queues
from tests.ingest.polls.steps import (
    accounts,
    add,
    answers,
    asked,
    billed,
    fill,
    measurements,
    poll,
    release,
    spent,
    step,
    visible,
    yielded,
)
from trackers import tasks
from trackers.ingest.files.lines import FoundTweet
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Gap, Source, SourcePoll, SourceTweet
from trackers.ingest.track import track
from trackers.jobs import queue
from trackers.schedule import tweet_changes
from trackers.tweets.models import Tweet, TweetText
from trackers.updater.models import TweetUpdate

# Committed: what a step inserts is told from what was there by the time of its transaction.
pytestmark = pytest.mark.django_db(transaction=True)


KINDS = ["account", "mentions", "search", "list"]


def source_of(kind, x, account, **fields):
    """A source of a kind, and how the fake is asked for its truth."""
    id, username = account
    match kind:
        case "account":
            return add("account", username, **fields), {"author": id}
        case "mentions":
            return add("mentions", f"@{username}", **fields), {"mentions": id}
        case "search":
            return add("search", "#poll", **fields), {"query": "#poll"}
        case _:
            x.put("lists/55", {"members": [id]})
            return add("list", "55", **fields), {"list": 55}


FLOW = {"count": 250, "mentions": 0.6, "tags": ["poll"], "tagged": 0.5, "retweets": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_every_post_is_tracked_with_its_source_and_first_metrics(x, account, kind):
    source, which = source_of(kind, x, account)
    release(x, authors=[account[0]], **FLOW)

    poll(source)

    visible_ids = visible(x, **which)
    assert len(visible_ids) > 60
    assert yielded(source) >= visible_ids
    assert set(Tweet.objects.values_list("id", flat=True)) == yielded(source)
    assert set(Tweet.objects.values_list("came_from", flat=True)) == {str(source)}
    assert set(TweetUpdate.objects.values_list("key", flat=True)) >= visible_ids
    assert TweetText.objects.count() == len(yielded(source))
    assert (source.problem, source.failures, source.sweep) == ("", 0, None)
    assert measurements() == answers(x)
    assert (source.yielded, source.again, source.leaked) == (len(yielded(source)), 0, 0)
    assert abs(source.skew) < timedelta(seconds=5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_poll_tracks_new_posts_and_measures_shown_ones_again(x, account, kind):
    source, which = source_of(kind, x, account)
    release(x, authors=[account[0]], **FLOW)
    poll(source)
    before, first_read_at = yielded(source), source.first_read_at
    release(x, authors=[account[0]], **FLOW | {"count": 40})

    poll(source)

    assert source.first_read_at == first_read_at < source.polled_at
    assert visible(x, **which) <= yielded(source)
    assert 0 < len(yielded(source) - before) <= 40
    assert measurements() == answers(x)
    assert source.yielded == len(yielded(source))


def test_posts_filtered_out_by_the_source_are_paid_once_and_not_tracked(x, account):
    source, _ = source_of("list", x, account, exclude_replies=True, exclude_retweets=True)
    release(x, authors=[account[0]], count=60, replies=0.3, retweets=0.3)
    poll(source)
    poll(source)

    kinds = {int(post["id"]): post["kind"] for post in x.get("visible?list=55")["posts"]}

    shown = {id for id, kind in kinds.items() if kind not in ("reply", "retweet")}
    assert shown <= yielded(source)
    assert not yielded(source) & (kinds.keys() - shown)
    assert spent() == billed(x)


def test_polls_and_look_ups_of_a_day_cost_what_x_bills(x, account):
    source, _ = source_of("account", x, account)
    release(x, authors=[account[0]], count=130)
    poll(source)
    queues.set_due(TweetUpdate, timezone.now() - timedelta(seconds=5))
    for _ in range(5):
        batch = queue.claim_batch("tweet:update")
        if batch is None:
            break
        tasks.update_tweets(batch)
    release(x, authors=[account[0]], count=30)
    poll(source)

    assert len(asked(x, "GET /2/tweets")) >= 2
    assert spent() == billed(x) == len(visible(x, author=account[0]) | yielded(source))
    assert measurements() == answers(x)


def test_an_already_tracked_tweet_gets_a_sample_and_keeps_its_source(x, account):
    release(x, authors=[account[0]], count=20)
    ids = visible(x, author=account[0])
    list(track([FoundTweet(id) for id in ids], came_from="a file"))
    source, _ = source_of("account", x, account)

    poll(source)

    assert set(Tweet.objects.filter(id__in=ids).values_list("came_from", "measurements")) == {
        ("a file", 1)
    }
    assert ids <= yielded(source)
    assert measurements() == answers(x)
    assert spent() == billed(x)


def test_an_untracked_tweet_is_not_tracked_again_by_the_next_poll(x, account):
    source, _ = source_of("account", x, account)
    release(x, authors=[account[0]], count=20)
    poll(source)
    unwanted = max(yielded(source))
    tweet_changes.untrack_tweets([unwanted])

    poll(source)

    assert not Tweet.objects.filter(id=unwanted).exists()
    # The row that said that it is paid is gone; from then on the source says so.
    poll(source)
    assert spent() == billed(x) + 1


def test_the_first_poll_reads_back_as_far_as_the_source_says(x, account):
    source, _ = source_of("account", x, account, backfill=timedelta(0))
    poll(source)
    assert yielded(source) == set()
    release(x, authors=[account[0]], count=20)

    poll(source)

    assert yielded(source) >= visible(x, author=account[0])
    assert source.leaked == 0


def test_posts_beyond_the_page_limit_become_a_gap_that_later_polls_fill(x, account):
    source, _ = source_of("account", x, account, pages=2)
    release(x, authors=[account[0]], count=650)

    poll(source)

    [gap] = source.gaps.all()
    assert (gap.why, gap.from_id, gap.closed_at) == ("budget", None, None)
    assert gap.to_id == min(yielded(source))
    assert len(yielded(source)) == 200
    fill(source)
    assert visible(x, author=account[0]) <= yielded(source)
    assert source.gaps.get().closed_at is not None
    assert source.leaked == 0


def test_a_gap_of_a_list_is_filled_from_where_the_list_stopped(x, account):
    source, _ = source_of("list", x, account, pages=2)
    poll(source)
    fill(source)
    release(x, authors=[account[0]], count=450)

    poll(source)
    assert source.gaps.filter(closed_at=None, why="budget").exists()
    fill(source)

    assert visible(x, list=55) <= yielded(source)


def test_posts_beyond_the_reach_of_x_become_a_gap_with_that_reason(x, account):
    source, _ = source_of("mentions", x, account, pages=20)
    release(x, authors=[account[0]], count=1000, mentions=1, retweets=0)

    poll(source)

    [gap] = source.gaps.all()
    assert (gap.why, gap.is_lost) == ("reach", True)
    assert len(yielded(source)) == 800
    assert source.sweep is None


def test_a_paused_poll_continues_at_its_page(x, account):
    source, _ = source_of("account", x, account)
    release(x, authors=[account[0]], count=250)
    step(source)  # the name
    step(source)
    assert len(yielded(source)) == 100
    assert life.pause_sources([source.pk]) == 1
    assert not SourcePoll.objects.exists()

    assert life.resume_sources([source.pk]) == 1
    poll(source)

    assert visible(x, author=account[0]) <= yielded(source)
    assert source.again == 0


def test_polls_do_not_drift_and_are_never_due_in_the_past(x, account):
    source, _ = source_of("account", x, account, backfill=timedelta(0))
    step(source)
    due = timezone.now() - timedelta(seconds=40)
    Source.objects.update(poll_at=due)

    step(source)

    assert source.poll_at == due + timedelta(minutes=5)
    assert abs(SourcePoll.objects.get().due_at - source.poll_at) < timedelta(seconds=1)
    Source.objects.update(poll_at=due - timedelta(hours=1))
    step(source)
    assert abs(source.poll_at - timezone.now()) < timedelta(seconds=5)


def test_removed_sources_leave_their_tweets_tracked(x, account):
    source, _ = source_of("account", x, account, pages=1)
    release(x, authors=[account[0]], count=150)
    poll(source)

    assert life.remove_sources([source.pk]) == 1

    assert not Source.objects.exists()
    assert not Gap.objects.exists()
    assert not SourceTweet.objects.exists()
    assert not SourcePoll.objects.exists()
    assert Tweet.objects.count() == 100


def test_changing_the_origin_starts_over_and_other_settings_do_not(x):
    (_, first), (second_id, second) = accounts(x, 2)
    source = add("account", first)
    poll(source)
    source.refresh_from_db()
    source.pages = 3
    life.change_source(source, ["pages"])
    source.refresh_from_db()
    assert source.latest_id is not None

    source.of = second
    life.change_source(source, ["of"])
    release(x, authors=[second_id], count=5)
    source.refresh_from_db()
    poll(source)

    assert source.account_id == int(second_id)
    assert visible(x, author=second_id) <= yielded(source)


def test_changing_the_account_gives_up_unread_gaps_of_the_former(x):
    (_, first), (_, second) = accounts(x, 2)
    source = add("account", first)
    poll(source)
    gap = Gap.objects.create(
        source=source, from_id=5, to_id=9, why="budget", found_at=timezone.now()
    )

    source.of = second
    life.change_source(source, ["of"])
    poll(source)

    gap.refresh_from_db()
    assert (gap.is_given_up, gap.was_of) == (True, first)
    assert source.gaps.get(why="edited").was_of == first
    assert (source.was_account_id, source.was_of) == (None, "")


def test_an_account_renamed_by_hand_is_read_on(x, account):
    source, _ = source_of("account", x, account)
    poll(source)
    cursor = source.latest_id
    x.put(f"authors/{account[0]}", {"username": "renamed_by_hand"})
    # Older than its cursor, as nothing would read it that began anew.
    gap = Gap.objects.create(
        source=source, from_id=5, to_id=9, why="reach", found_at=timezone.now()
    )

    source.of = "renamed_by_hand"
    life.change_source(source, ["of"])
    step(source)

    assert (source.account_id, source.username) == (int(account[0]), "renamed_by_hand")
    assert (source.latest_id, source.was_account_id) == (cursor, None)
    gap.refresh_from_db()
    assert (gap.closed_at, gap.was_of) == (None, "")
    assert source.gaps.count() == 1


@pytest.mark.parametrize("kind", ["account", "mentions"])
def test_an_account_is_found_by_its_number(x, account, kind):
    source = add(kind, account[0])

    step(source)

    assert (source.account_id, source.username) == (int(account[0]), account[1])
    assert f"@{account[1]}" in str(source)
    poll(source)
    assert len(asked(x, "GET /2/users")) == 1
    assert asked(x, "GET /2/users/by") == []


def test_an_account_named_by_its_number_instead_of_its_name_is_read_on(x, account):
    source, _ = source_of("account", x, account)
    poll(source)
    cursor = source.latest_id

    source.of = account[0]
    life.change_source(source, ["of"])
    step(source)

    assert (source.of, source.account_id) == (account[0], int(account[0]))
    assert (source.latest_id, source.was_account_id) == (cursor, None)


def test_an_account_keeps_its_id_through_a_rename(x, account):
    source, _ = source_of("account", x, account)
    poll(source)
    x.put(f"authors/{account[0]}", {"username": "renamed_by_hand"})
    release(x, authors=[account[0]], count=10)

    poll(source)

    assert (source.account_id, source.username) == (int(account[0]), account[1])
    assert visible(x, author=account[0]) <= yielded(source)
    assert len(asked(x, "GET /2/users/by")) == 1


def test_unreadable_posts_shown_repeatedly_are_paid_once_a_day(x, account):
    x.put("lists/66", {"members": [account[0]]})
    source = add("list", "66")
    release(x, authors=[account[0]], count=96, retweets=0)
    broken = sorted(visible(x, list=66))[:50]
    x.put("faults", [{"kind": "broken", "match": {"ids": [str(id) for id in broken]}}])

    for _ in range(6):
        poll(source)

    assert len(asked(x, "GET /2/lists/:id/tweets")) >= 6
    assert spent() == billed(x) >= 96
    tracked = Tweet.objects.filter(id__in=broken)
    assert tracked.filter(measurements=0).exclude(paid_on=None).count() == 50
