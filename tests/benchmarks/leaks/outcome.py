"""What became of a listing's posts: X's truth and log against the product's own rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.benchmarks.leaks.naive import NaiveReader
from tests.benchmarks.leaks.ours import Ours
from tests.benchmarks.leaks.world import Appeared
from trackers.ingest.sources.models import Source


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one listing's posts.

    `late`: appeared later than the others, but less than k; `beyond`: later than k. `naive_lost`:
    what the naive reader never saw, `naive_lost_below` of it less than k late. `leaked`: what
    X showed us for the first time when a poll had passed it, of it `leaked_below` less than k late
    and `passed_by` what no poll showed afterwards: a list's show whole pages. `lost`: what nothing
    showed. `meter`: Source.leaked. `not_leaks`, `untold`: rows with late=true of posts that had not
    leaked, and leaked ones without such a row. `again`: posts that were read once more, by polls
    and by overlaps.
    """

    kind: str
    posts: int
    late: int
    beyond: int
    naive_lost: int
    naive_lost_below: int
    naive_pages: int
    leaked: int
    leaked_below: int
    passed_by: int
    unpolled: int
    lost: int
    meter: int
    not_leaks: int
    untold: int
    yielded: int
    again: int
    again_by_polls: int
    pages: int
    polls_without_time: int
    latest_found_ms: int


def outcome(ours: Ours, naive: NaiveReader, truth: Iterable[Appeared]) -> Outcome:
    kind = naive.kind
    listing = ours.listings[kind]
    source = Source.objects.get(kind=kind)
    late_by = {post.id: post.late_ms for post in truth}
    by_polls, by_overlaps = (ours.shown[kind, purpose] for purpose in ("poll", "overlap"))
    unseen = late_by.keys() - naive.seen
    unpolled = late_by.keys() - by_polls.keys()
    leaked = ours.leaked[kind] & late_by.keys()
    rows = dict(source.tweets.values_list("tweet_id", "late"))
    late_ids = {id for id, late in rows.items() if late}
    delays = [late_by[id] for id in late_by.keys() & rows.keys()]
    return Outcome(
        kind=kind,
        posts=len(late_by),
        late=sum(listing.late[0] <= ms < listing.bound_ms for ms in late_by.values()),
        beyond=sum(ms >= listing.bound_ms for ms in late_by.values()),
        naive_lost=len(unseen),
        naive_lost_below=sum(late_by[id] < listing.bound_ms for id in unseen),
        naive_pages=naive.pages,
        leaked=len(leaked),
        leaked_below=sum(late_by[id] < listing.bound_ms for id in leaked),
        passed_by=len(leaked & unpolled),
        unpolled=len(unpolled),
        lost=len((late_by.keys() - rows.keys()) | (unpolled - by_overlaps.keys())),
        meter=source.leaked,
        not_leaks=len(late_ids - leaked),
        untold=len(leaked - late_ids),
        yielded=source.yielded,
        again=source.again,
        again_by_polls=by_polls.total() - len(by_polls),
        pages=ours.pages[kind],
        polls_without_time=ours.without_time[kind],
        latest_found_ms=max(delays, default=0),
    )
