"""The one transaction of a page: its posts, their metrics, and what follows them in the reading.

page ─> SourceTweet ─> new to the source: tracked, described, measured, scheduled
                  └──> tracked before: measured once more, since it is paid for
     ─ an edited post, under the id of one version, is the tweet tracked under another
     └─ follow ─> the next page, or cursor and gaps ─> when the source's job is due again
After a crash either all of it is there or nothing, and then the same page is requested again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.arrivals.arrive import arrive
from trackers.ingest.found_tweets import FoundTweet
from trackers.ingest.polls.begin import passed_id_of
from trackers.ingest.polls.next_sweep import NO_DELAY, begin_next, end_sweep, stands_back
from trackers.ingest.polls.pages import Done, Hidden, More, Short, follow, wanted
from trackers.ingest.polls.reservation import PageGrant, leave_out
from trackers.ingest.polls.row_lock import end_claim, held
from trackers.ingest.polls.state import Polling, cursor_of, set_sweep
from trackers.ingest.polls.sweep import ReadingRules, Sweep
from trackers.ingest.polls.trouble import HIDDEN_AT_MOST
from trackers.ingest.sources import days
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.prune import pruned_up_to
from trackers.ingest.sources.source_events import publish_hidden, publish_leak
from trackers.ingest.track import edits, has_figures, histories, track_chunk
from trackers.jobs.queue import Batch
from trackers.schedule.intervals import Plan
from trackers.tweets.newcomers import noting_newcomers
from trackers.tweets.record import Measured, mark_paid, record
from trackers.tweets.uncounted import noting_uncounted
from trackers.tweets.versions import known_as, learn
from trackers.xapi.page import Page
from trackers.xapi.results import Figures
from tweetwatch.database import array, cursor

_HIDDEN_REASONS: Mapping[str, str] = {
    "not_found": "X has no such account or list.",
    "protected": "The account is protected: X shows its posts only to its followers.",
    "suspended": "X has suspended the account.",
}


@dataclass(frozen=True, slots=True)
class Brought:
    """The page that X sent, what it was asked for, and how many of its posts X bills."""

    page: Page
    asked: PageGrant
    sweep: Sweep
    rules: ReadingRules
    at: datetime  # when X sent it
    billed: int = 0


@dataclass(frozen=True, slots=True)
class StoredPage:
    new: int = 0  # posts that are new to the source
    late: int = 0  # posts that slipped through earlier
    measured: int = 0  # tracked ones that were measured again
    is_over: bool = False  # the reading has ended


def store(
    batch: Batch, source: Source, brought: Brought, polling: Polling, plan: Plan
) -> StoredPage | None:
    """Write the page and what follows it; None when the source has changed meanwhile."""
    with held(batch, source) as row:
        if row is None:
            return None
        page, sweep, now = brought.page, brought.sweep, brought.at
        before = cursor_of(row)
        step = follow(sweep, page, cursor=before, rules=brought.rules)
        if page.skew is not None:
            row.skew = page.skew
        if isinstance(step, Hidden):
            end_claim(batch, row, _hide(row, step, now=now))
            return StoredPage()
        new, late, measured = _take_in(row, brought, plan)
        publish_hidden(row.pk, row.hidden_reason, "")
        row.hidden_reason, row.problem = "", step.problem
        row.failures = 0
        end_claim(batch, row, _store_next_step(row, sweep, step, polling, now=now))
        return StoredPage(new, late, measured, is_over=not isinstance(step, More))


def _hide(source: Source, step: Hidden, *, now: datetime) -> timedelta:
    """Nothing moves; returns when to look again."""
    publish_hidden(source.pk, source.hidden_reason, step.why)
    source.hidden_reason = step.why
    source.problem = _HIDDEN_REASONS.get(step.why, "X does not show it to our credentials.")
    wait = max(source.every, min(4 * source.every, HIDDEN_AT_MOST))
    source.poll_at = now + wait
    return wait


def _store_next_step(
    source: Source, sweep: Sweep, step: More | Done | Short, polling: Polling, *, now: datetime
) -> timedelta | None:
    """Store what follows from the page; returns when the job is due again."""
    if isinstance(step, More):
        if stands_back(source, step.sweep, now=now):
            return begin_next(source, polling, now=now)
        set_sweep(source, step.sweep)
        return NO_DELAY if step.at_once else source.every
    stuck = end_sweep(source, sweep, step, now=now)
    return begin_next(source, polling, now=now, after=sweep.purpose, stuck=stuck)


# `late`: it appeared below a cursor that had already passed it, and in no gap: a leak.
_YIELD = f"""
    WITH yielded AS (
        INSERT INTO trackers_sourcetweet (source_id, tweet_id, seen_at, late)
        SELECT %(source)s, shown.tweet_id, %(at)s,
               shown.id > %(begun)s AND coalesce(shown.id <= %(passed)s::bigint, false)
               AND NOT EXISTS (
                   SELECT FROM trackers_gap gap
                   WHERE gap.source_id = %(source)s AND gap.closed_at IS NULL AND gap.was_of = ''
                     AND coalesce(gap.from_id, 0) < shown.id AND shown.id < gap.to_id)
        FROM unnest(%(ids)s::bigint[], %(tweets)s::bigint[]) AS shown(id, tweet_id)
        ORDER BY shown.tweet_id
        ON CONFLICT DO NOTHING
        RETURNING tweet_id, late
    ),
    uncounted AS ({noting_uncounted("SELECT tweet_id AS id FROM yielded")}),
    newcomers AS ({noting_newcomers("SELECT tweet_id AS id FROM yielded")})
    SELECT tweet_id, late FROM yielded
"""

# The page's tweets that this transaction did not insert, locked in the order of ids before any of
# them is written. Code that inserts tweets (track) holds no existing ones yet, and locks authors
# before these, as the updater does, so there are no deadlocks.
_TRACKED_BEFORE = """
    SELECT id, created_at FROM trackers_tweet
    WHERE id = ANY(%(ids)s::bigint[]) AND tracked_at <> now()
    ORDER BY id FOR UPDATE
"""


def _take_in(source: Source, brought: Brought, plan: Plan) -> tuple[int, int, int]:
    """Track what is new to the source and measure what was tracked; returns how many are new, late
    and measured again."""
    page, payment = brought.page, brought.asked.payment
    ids = wanted(page, brought.rules.exclude)
    listed = [FoundTweet(id, page.posts.get(id), brought.at) for id in page.ids]
    versions = known_as(page.ids, histories(listed))
    tweets = {id: versions[id].tweet_id if id in versions else id for id in page.ids}
    new, late = yielded(source, {id: tweets[id] for id in sorted(ids)}, brought)
    new_tweets = [one for one in listed if one.id in ids and tweets[one.id] in new]
    described: frozenset[int] = frozenset()
    if new_tweets:
        described = track_chunk(new_tweets, came_from=str(source)[:200], learns=False).described
    learn(edits(listed, now=brought.at), and_lock=tweets.values())
    with cursor() as db:
        before = dict(db.execute(_TRACKED_BEFORE, {"ids": array(tweets.values())}).fetchall())
    # Only the newest version is followed; older ones that X shows and bills are just paid for.
    older = {id for id, known in versions.items() if id != known.newest}
    figures = {
        tweets[id]: page.posts[id].figures
        for id in ids - older
        if tweets[id] in before and id in page.posts and has_figures(page.posts[id])
    }
    measured = _again(figures, before, plan, at=brought.at)
    record(measured, paid_on=payment.day, paid_by=payment.project)
    followed = {tweets[id] for id in page.ids if id not in older}
    mark_paid(followed - figures.keys(), day=payment.day, project=payment.project)
    known = before.keys() | new
    left_out = {id for id in page.ids if id in older or tweets[id] not in known}
    leave_out(source, left_out, payment)
    arrive(((source.pk, id) for id in sorted(new)), described=described)
    source.yielded += len(new)
    source.again += len(ids) - len(new)
    source.leaked += len(late)
    came = days.Brought(source.pk, len(new), len(ids) - len(new), len(late), brought.billed)
    days.count_brought([came], day=payment.day, project=payment.project, is_owned=payment.is_owned)
    if late:
        publish_leak(source.pk, sorted(late))
    return len(new), len(late), len(measured)


def yielded(
    source: Source, tweets: Mapping[int, int], brought: Brought
) -> tuple[frozenset[int], frozenset[int]]:
    """Those new to the source, and those among them that slipped through a poll.

    `tweets`: by the ids that X shows, which tell when they appeared.
    """
    known = cursor_of(source)
    # What fills a gap was never read before, so none of it slipped through.
    is_measured = known is not None and brought.sweep.purpose != "gap"
    params = {
        "source": source.pk,
        "ids": array(tweets),
        "tweets": array(tweets.values()),
        "at": brought.at,
        # If its yield may have been forgotten, it is not a leak when a list shows it again.
        "begun": max(source.begun_id, pruned_up_to(brought.at)),
        "passed": passed_id_of(known, brought.rules) if known and is_measured else None,
    }
    with cursor() as db:
        rows = db.execute(_YIELD, params).fetchall()
    return frozenset(row[0] for row in rows), frozenset(row[0] for row in rows if row[1])


def _again(
    figures: Mapping[int, Figures],
    born: Mapping[int, datetime | None],
    plan: Plan,
    *,
    at: datetime,
) -> list[Measured]:
    """Sample tweets that were tracked before; the run has a hole, as for the updater."""
    made = []
    for id, counts in figures.items():
        made.append(Measured(id, at, counts, plan.hole_after(plan.tier(born[id], now=at))))
    return made
