"""Deletes and adds rules at X, so that a refused rule does not affect the others.

X refuses only the bad rule, or all rules of the request with it, and may not say which one is bad.
Rules that it neither added nor complained about are requested again, without the bad ones or by
halves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from trackers.ingest.stream.listeners import WantedRule
from trackers.ingest.stream.requests import Asker
from trackers.ingest.stream.synced import Synced
from trackers.xapi.endpoints import CHANGE_STREAM_RULES
from trackers.xapi.errors import BadRequest
from trackers.xapi.parse.stream import Added
from trackers.xapi.stream_rules import MAX_RULES_PER_REQUEST, add_rules, delete_rules

# Enough to find one bad rule among a hundred; X allows a hundred requests in a quarter of an hour.
# Rules beyond this limit are requested next time.
MOST_REQUESTS = 20
_NO_VERDICT = "X did not accept it, and did not say why."
Item = TypeVar("Item")


def delete_in_pieces(rules: Sequence[int], asker: Asker) -> None:
    for ids in _pieces(rules):
        asker.ask(CHANGE_STREAM_RULES, delete_rules, ids=ids)


def add_in_pieces(new: Sequence[WantedRule], asker: Asker, synced: Synced) -> None:
    """Add the rules of these sources; the outcome of each is in `synced`."""
    waiting = list(_pieces(new))
    for _ in range(MOST_REQUESTS):
        if not waiting:
            return
        # Depth first: what is learned about single rules need not be requested next time.
        asked = waiting.pop()
        _add_together(asked, asker, synced)
        left = [one for one in asked if not synced.has_verdict(one.source)]
        waiting.extend(_halves_or_whole(left, whole=len(left) < len(asked)))


def _add_together(new: Sequence[WantedRule], asker: Asker, synced: Synced) -> None:
    """Add all in one request. If X refused them as a whole, some have no verdict."""
    tagged = {rule.value: synced.mark.tag_of(rule.source) for rule in new}
    try:
        done = asker.ask(CHANGE_STREAM_RULES, add_rules, tagged=tagged)
    except BadRequest as error:
        if len(new) == 1:
            synced.refuse(new[0], error.reason)
        return
    for rule in new:
        _record_outcome(rule, done, synced)
    if len(new) == 1 and not synced.has_verdict(new[0].source):
        synced.refuse(new[0], _NO_VERDICT)


def _record_outcome(wanted: WantedRule, done: Added, synced: Synced) -> None:
    rule = done.added.get(wanted.value) or done.known.get(wanted.value)
    rule = rule or {bare(value): id for value, id in done.added.items()}.get(bare(wanted.value))
    if rule:
        synced.rules[wanted.source] = rule
    elif why := done.refused.get(wanted.value):
        synced.refuse(wanted, why)


def bare(value: str) -> str:
    """X may answer with different whitespace than it was given."""
    return " ".join(value.split())


def _halves_or_whole(left: Sequence[Item], *, whole: bool) -> Iterator[list[Item]]:
    """How the rest of a set is requested: whole, or by halves."""
    middle = 0 if whole else len(left) // 2
    yield from (list(half) for half in (left[:middle], left[middle:]) if half)


def _pieces(items: Sequence[Item]) -> Iterator[list[Item]]:
    for start in range(0, len(items), MAX_RULES_PER_REQUEST):
        yield list(items[start : start + MAX_RULES_PER_REQUEST])
