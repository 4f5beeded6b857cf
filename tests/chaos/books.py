"""The books of a run: each is right, or says what differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate, count
from statistics import median
from typing import Any

from tests.chaos.answers import allowed_units, is_fault, unsaved
from tests.chaos.ground import JITTER, PLAN_DAYS
from tests.chaos.schedule import rounds

# As the product has them; the books know no more of it than its documents say.
MAX_STRIKES = 4
# X's log knows no name for whoever has keys that X does not know.
WITHDRAWN = "-"
MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class Book:
    name: str
    figures: dict[str, Any]
    differs: list[str] = field(default_factory=list)

    @property
    def right(self):
        return not self.differs


def keep_books(evidence, *, seconds):
    return [
        rows(evidence),
        measurements(evidence),
        requests(evidence),
        windows(evidence),
        refusals(evidence),
        lateness(evidence),
        recovery(evidence),
        stream(evidence),
        homes(evidence),
        events(evidence),
        messages(evidence),
        recounted(evidence),
        happened(evidence, seconds=seconds),
        ends(evidence),
    ]


def few(lines):
    more = [f"and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return lines[:MOST_LINES] + more


def rows(evidence):
    """tracked = scheduled + resting: no row lost, none doubled, none set aside."""
    tweets = {id: (born, gone) for id, born, gone in evidence.rows.tweets}
    scheduled = {key for key, _, _ in evidence.rows.queue}
    resting = tweets.keys() - scheduled
    isolated = [key for key, strikes, _ in evidence.rows.queue if strikes >= MAX_STRIKES]
    claimed = [key for key, _, claimed in evidence.rows.queue if claimed]
    # The plan ends at thirty days: what is younger has a next look. One that X never showed has no
    # birth that we know of, and rests when a second look confirmed that it is gone.
    old = {
        id
        for id, (born, gone) in tweets.items()
        if (age_days(born, evidence) >= PLAN_DAYS if born else gone)
    }
    differs = []
    if len(evidence.rows.tweets) != len(evidence.ids) or tweets.keys() != evidence.ids:
        differs.append(f"{len(evidence.ids):,} were tracked, {len(evidence.rows.tweets):,} rows")
    if len(scheduled) != len(evidence.rows.queue) or scheduled - tweets.keys():
        differs.append(f"{len(scheduled - tweets.keys())} jobs of tweets that are not tracked")
    differs += few([f"tweet {id} is in no queue and not of an age to rest" for id in resting - old])
    differs += few([f"tweet {id} is isolated" for id in isolated])
    differs += few([f"tweet {id} is still claimed" for id in claimed])
    return Book(
        "tracked = scheduled + resting",
        {
            "tracked": len(tweets),
            "scheduled": len(scheduled),
            "resting": len(resting),
            "isolated": len(isolated),
        },
        differs,
    )


def age_days(born, evidence):
    """When the rows were read: until the hosts had stopped, some more came of age to rest."""
    return (evidence.rows.read_at - born.timestamp()) / 86400


def measurements(evidence):
    """Measurements in the series = tweets in successful answers, less those explained."""
    results = unsaved(evidence)
    faults = Counter({why: count for why, count in results.batches.items() if is_fault(why)})
    most = allowed_units(evidence)
    differs = few(results.unexplained) + results.logged
    if results.doubled:
        differs.append(f"{results.doubled} measurements that X never answered")
    if results.answered - results.measured != sum(results.lost.values()) - results.doubled:
        differs.append(
            f"{results.answered:,} answered, {results.measured:,} measured, "
            f"{sum(results.lost.values()):,} explained"
        )
    if results.units > most:
        differs.append(f"{results.units} units lost to faults, which explain {most} at the most")
    return Book(
        "measurements = tweets answered",
        {
            "answered": results.answered,
            "measured": results.measured,
            "unsaved": dict(results.lost.most_common()),
            "answers lost after they came": dict(faults.most_common()),
            "of units": results.units,
            "units that may be lost at the most": most,
        },
        differs,
    )


def requests(evidence):
    most, over = evidence.totals["max_ids_a_request"], evidence.totals["over_100"]
    return Book(
        "no request above 100 ids",
        {
            "requests": len(evidence.lines),
            "most ids": most,
            "mean ids": round(evidence.totals["mean_ids_a_request"], 1),
        },
        [f"{over} requests named up to {most} ids"] if most > 100 or over else [],
    )


def windows(evidence):
    over = evidence.totals["over_window"]
    differs = [f"{over} requests over: {evidence.totals['over_window_by']}"] if over else []
    return Book("no window exceeded", {"over": over}, differs)


def refusals(evidence):
    """With keys that X refuses from the first request to the last, it is asked ever more rarely.

    After a minute, two, four …: six times in the first hour, whoever dies in between.
    """
    tries = [line["at_ms"] / 1000 for line in evidence.lines if line["token"] == WITHDRAWN]
    waits = accumulate((min(60.0 * 2**times, 3600.0) for times in count()), initial=0.0)
    differs = [
        f"a try of the withdrawn keys after {at - tries[0]:.1f} s, not {since:g}"
        for at, since in zip(tries, waits, strict=False)
        if at - tries[0] < since
    ]
    if not tries:
        differs = ["X was never asked with the withdrawn keys"]
    return Book("refused keys are tried rarely", {"tries": len(tries)}, few(differs))


def lateness(evidence):
    """Once the faults stop, no tweet waits longer than its interval, stretched, and two leases."""
    pace, begin = evidence.pace, evidence.calm_from
    after = {}
    for line in evidence.lines:
        at = line["at_ms"] / 1000
        if at > begin:
            for id in line["answers"]:
                after.setdefault(int(id), at)
    due = {key for key, strikes, _ in evidence.rows.queue if strikes < MAX_STRIKES}
    gone = {id for id, _, gone in evidence.rows.tweets if gone}
    waits, late = [], []
    for id in due - gone:
        bound = pace.every * evidence.stretch * JITTER + 2 * pace.lease + pace.buffer_ttl
        if begin + bound > evidence.calm_until:
            continue
        waited = after.get(id, evidence.calm_until + 1) - begin
        waits.append(waited)
        if waited > bound:
            late.append(f"tweet {id}: not looked up within {bound:.1f} s after the faults")
    differs = few(late)
    if evidence.overdue:
        differs.append(f"{evidence.overdue} jobs were due two leases ago when all was quiet")
    waits.sort()
    figures = {"tweets": len(waits), "late": len(late), "overdue": evidence.overdue}
    if evidence.stretch > 1:
        figures["stretch"] = round(evidence.stretch, 2)
    if waits:
        figures["longest wait"] = round(waits[-1], 1)
    return Book("no tweet later than its interval + two leases", figures, differs)


def recovered_after(evidence, happening):
    """Seconds from the end of a fault to the next answer on each host it struck; None: never.

    X's own failures strike whoever asks: the first answer of all counts.
    """
    hosts = [happening.host] if happening.host else evidence.hosts
    took = [host_recovered_after(evidence, happening, host) for host in hosts]
    if happening.fault.kind.lane == "x":
        return min((seconds for seconds in took if seconds is not None), default=None)
    return None if None in took else max(took)


def host_recovered_after(evidence, happening, host):
    """From the end of the last fault, where others struck the host before it had recovered.

    Else an idle worker's death would take as long as the cut that had made him idle.
    """
    begin = happening.ended_at
    while True:
        at = evidence.exchanges.first_answer(host, after=begin)
        others = [
            other.ended_at
            for other in evidence.happenings
            if other.happened and other.fault.kind.lane != "x" and other.host in ("", host)
            if other.ended_at > begin and (at is None or other.begun_at < at)
        ]
        if not others:
            return None if at is None else at - begin
        begin = max(others)


def recovery(evidence):
    """Of those of the stream and of who delivers their own books tell."""
    differs, took = [], {}
    for happening in evidence.happenings:
        if not happening.happened or happening.fault.kind.lane in ("stream", "deliver"):
            continue
        seconds = recovered_after(evidence, happening)
        if seconds is None:
            where = happening.host or "every host"
            differs.append(f"{happening.fault.kind.name} ({where}): no look-up after it")
        else:
            took.setdefault(happening.fault.kind.name, []).append(seconds)
    figures = {
        name: {"median": round(median(times), 2), "longest": round(max(times), 2)}
        for name, times in sorted(took.items())
    }
    return Book("every fault was recovered from", figures, differs)


def stream(evidence):
    streamed = evidence.streamed
    away = any(one.happened and "rule" in one.fault.kind.name for one in evidence.happenings)
    differs = few([f"post {id} is neither stored nor in a gap" for id in sorted(streamed.missing)])
    return Book(
        "every post of the stream is stored or in a gap",
        streamed.figures,
        differs + streamed.differs(rule_was_away=away),
    )


def homes(evidence):
    found = evidence.homes
    return Book("every home is the same by each strategy", found.figures, few(found.differs()))


def events(evidence):
    found = evidence.subscribed
    return Book("every event reached its subscribers", found.figures, few(list(found.differs())))


def messages(evidence):
    found = evidence.messaged
    return Book("every alert reached its channels", found.figures, few(list(found.differs())))


def recounted(evidence):
    """Checkpoints and rollups = a recount, whoever died while they were written."""
    kept = evidence.recounted
    figures = {"checkpoints": kept.checkpoints, "rollups": kept.rollups}
    differs = few(kept.wrong_checkpoints) + few(kept.wrong_rollups)
    if not kept.checkpoints or not kept.rollups:
        differs.append("there are none to compare")
    return Book("checkpoints and rollups = a recount", figures, differs)


def happened(evidence, *, seconds):
    """The book of faults itself."""
    times = rounds(seconds)
    counts = Counter(one.fault.kind for one in evidence.happenings if one.happened)
    planned = {fault.kind for fault in evidence.planned}
    differs = [
        f"{kind.name} happened {counts[kind]} times, not {least}"
        for kind in sorted(planned, key=lambda kind: kind.name)
        if counts[kind] < (least := 1 if kind.once else times)
    ]
    differs += [
        f"{one.fault.kind.name}: {one.because}" for one in evidence.happenings if one.because
    ]
    figures = {
        f"{kind.name}{'' if kind.busy == 'any' else f' ({kind.busy})'}": count
        for kind, count in sorted(counts.items(), key=lambda pair: pair[0].name)
    }
    return Book(f"each fault happened {times} times or more", figures, differs)


def ends(evidence):
    """Every cluster ends by SIGTERM with status 0. An end that nobody asked for is told."""
    differs = [
        f"{host} ended with {status}" for host, status in evidence.stops.items() if status != 0
    ]
    figures = {"SIGTERM answered with": evidence.told, "ended unasked": evidence.unasked}
    return Book("every cluster ends when told", figures, differs)
