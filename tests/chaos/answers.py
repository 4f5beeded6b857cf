"""Answers of X that were never saved, and what each of them is explained by.

X's log: who was answered ─┐
the relays: who got it ────┼─> per tweet: answers less measurements ─> explained, or not
the series: what is kept ──┘
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.chaos.hosts import TIMED_OUT

# A moment for signals, threads and titles.
MARGIN = 1.0
# A worker has a unit in hand: so many answers at the most, asked for side by side.
UNIT, SIDE_BY_SIDE = 10, 1.0
# Where nothing can be saved, X is asked for one batch at the most so often (`retry_first`, less the
# fifth by which waits differ).
PROBE_EVERY = 0.8
# So many steps of an exchange wait, in several processes, when the machine is busy.
STEPS = 10
# What a host logged so long after an answer that it did not save is shown, so many lines of it.
SHOWN_SECONDS, SHOWN_LINES = 6.0, 15


@dataclass(slots=True)
class Unsaved:
    """`doubled`: measurements that X never answered. `lost`: explained ones, in tweets, by what
    explains them. `batches`: those that a fault explains, in whole answers, by its kind; they make
    so many `units`. `unexplained`: lines for a person; `logged`: what the hosts logged then."""

    answered: int
    measured: int
    doubled: int
    lost: Counter = field(default_factory=Counter)
    batches: Counter = field(default_factory=Counter)
    units: int = 0
    unexplained: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)


def figures(line):
    """The ids that one logged look-up told figures of, in a reply that left X whole."""
    if line["status"] != 200:
        return []
    return [int(id) for id, said in line["answers"].items() if isinstance(said, dict)]


def unsaved(evidence):
    answers = defaultdict(list)
    for place, line in enumerate(evidence.lines):
        for id in figures(line):
            answers[id].append(place)
    measured = evidence.rows.measured
    missing = {
        id: len(places) - measured.get(id, 0)
        for id, places in answers.items()
        if len(places) > measured.get(id, 0)
    }
    doubled = sum(max(0, count - len(answers.get(id, ()))) for id, count in measured.items())
    results = Unsaved(
        answered=sum(map(len, answers.values())), measured=sum(measured.values()), doubled=doubled
    )
    explain(evidence, answers, missing, results)
    return results


def is_fault(why):
    """Not one that keeps an answer from coming at all: nobody had it in hand."""
    return why != "came too late" and not why.startswith("never")


def units(evidence, places):
    """How few units these answers were of: one is of one host, and asked for within a moment."""
    asked = defaultdict(list)
    for place in places:
        line = evidence.lines[place]
        asked[host_of(evidence, line)].append(line["at_ms"] / 1000)
    collected = 0
    for times in asked.values():
        first, size = float("-inf"), 0
        for at in sorted(times):
            if size == UNIT or at - first > SIDE_BY_SIDE:
                first, size, collected = at, 0, collected + 1
            size += 1
    return collected


def explain(evidence, answers, missing, figures):
    """Give each missing measurement to the answer of its tweet that most others miss too, and to
    the latest of several: a fault takes what is in hand when it strikes."""
    reasons, untold = {}, set()
    shared = Counter(place for id in missing for place in answers[id])
    missing_by_place = defaultdict(set)
    for id, count in missing.items():
        for place in answers[id]:
            if place not in reasons:
                reasons[place] = reason(evidence, evidence.lines[place])
        excused = [place for place in answers[id] if reasons[place]]
        excused.sort(key=lambda place: (-shared[place], -place))
        for place in excused[:count]:
            figures.lost[reasons[place]] += 1
            missing_by_place[reasons[place]].add(place)
        if len(excused) < count:
            times = ", ".join(
                f"{evidence.lines[place]['at_ms'] / 1000 - evidence.calm_from:+.2f} s "
                f"by {host_of(evidence, evidence.lines[place])}"
                for place in answers[id]
            )
            series = ", ".join(
                f"{taken_at - evidence.calm_from:+.2f} s ({measurements})"
                for taken_at, measurements in evidence.rows.series.get(id, ())
            )
            figures.unexplained.append(
                f"tweet {id}: {count} answers not saved, {len(excused)} explained; answered "
                f"(from the end of the faults) {times}; in its series since {series}"
            )
            untold |= {place for place in answers[id] if not is_in_series(evidence, id, place)}
    figures.logged = logged_after(evidence, untold)
    for why, places in missing_by_place.items():
        figures.batches[why] = len(places)
    in_hand = set().union(*(places for why, places in missing_by_place.items() if is_fault(why)))
    figures.units = units(evidence, in_hand)


def is_in_series(evidence, id, place):
    """Whether some measurement was taken within a moment of this answer."""
    at = evidence.lines[place]["at_ms"] / 1000
    return any(
        at - MARGIN <= taken_at <= at + MARGIN for taken_at, _ in evidence.rows.series.get(id, ())
    )


def logged_after(evidence, places):
    """What the hosts logged that had these answers, for a person who looks for the cause."""
    lines = []
    for place in sorted(places):
        line = evidence.lines[place]
        host, at = host_of(evidence, line), line["at_ms"] / 1000
        lines += [
            f"{host}: a task was ended by its alarm, {at - began:.2f} s after its start X was asked"
            for began, ended in evidence.alarms.get(host, ())
            if began - SHOWN_SECONDS <= at <= ended + SHOWN_SECONDS
        ]
        lines += [
            f"{host}: {text}"
            for logged_at, _, text in evidence.logs.get(host, ())
            if at - MARGIN <= logged_at <= at + SHOWN_SECONDS
        ]
    return list(dict.fromkeys(lines))[:SHOWN_LINES]


def host_of(evidence, line):
    exchange = evidence.exchanges.of(",".join(line["ids"]), at=line["at_ms"] / 1000)
    return exchange.host if exchange else "nobody"


def reason(evidence, line):
    """Why this answer may be in nobody's series; empty when it must be in one."""
    exchange = evidence.exchanges.of(",".join(line["ids"]), at=line["at_ms"] / 1000)
    if exchange is None:
        return ""
    patience = evidence.pace.request_timeout - 0.1
    if exchange.delivered_at is None:
        gone = exchange.lost_at or evidence.calm_until
        if gone - exchange.asked_at >= patience:
            return "came too late"
        struck = first_strike(evidence, exchange.host, exchange.asked_at, gone, way_too=True)
        return f"never came: {struck}" if struck else ""
    if exchange.delivered_at - exchange.asked_at >= patience or was_given_up(evidence, exchange):
        return "came too late"
    if ended_by_alarm(evidence, exchange):
        return "never saved: its task was ended by its alarm"
    until = exchange.delivered_at + evidence.pace.lease
    return first_strike(evidence, exchange.host, exchange.asked_at, until, way_too=False)


def was_given_up(evidence, exchange):
    """Whether its host says that the answer came too late, though the relay wrote it in time: on a
    busy machine a process reads later. Only for answers that were slow, or while this process, too,
    waited for the machine.

    The host's clock, by which it logs, may be an hour ahead or behind.
    """
    timeout = evidence.pace.request_timeout
    lag = evidence.lag_between(exchange.asked_at, exchange.asked_at + timeout)
    if exchange.delivered_at - exchange.asked_at + STEPS * lag < timeout / 2:
        return False
    first = exchange.asked_at + timeout / 2
    last = exchange.asked_at + evidence.pace.task_timeout + MARGIN
    return any(
        first <= at + hours * 3600 <= last
        for at, _, text in evidence.logs.get(exchange.host, ())
        if TIMED_OUT in text
        for hours in (-1, 0, 1)
    )


def ended_by_alarm(evidence, exchange):
    """Whether a task of its host that may have asked for it was too slow: its threads may send what
    it handed them after its end."""
    return any(
        began - MARGIN <= exchange.asked_at <= ended + MARGIN
        for began, ended in evidence.alarms.get(exchange.host, ())
    )


def first_strike(evidence, host, begin, end, *, way_too):
    """The kind of the first fault within these times that may cost this host an answer.

    `way_too`: one of the network counts, since the answer was on its way.
    """
    for happening in evidence.happenings:
        kind = happening.fault.kind
        costs = kind.loses != "nothing" or (way_too and kind.lane == "network")
        felt = happening.happened and costs and happening.host in ("", host)
        if felt and happening.begun_at - MARGIN <= end and happening.ended_at + MARGIN >= begin:
            return kind.name
    return ""


def allowed_units(evidence):
    """How many units all faults together may have cost: those in hand when they struck."""
    workers = evidence.workers
    everybody = workers * len(evidence.hosts)
    in_hand = {"nothing": 0, "one": 1, "host": workers, "all": everybody, "probes": everybody}
    happened = [one for one in evidence.happenings if one.happened]
    probes = sum(
        (one.ended_at - one.begun_at) / PROBE_EVERY
        for one in happened
        if one.fault.kind.loses == "probes"
    )
    return sum(in_hand[one.fault.kind.loses] for one in happened) + int(probes)
