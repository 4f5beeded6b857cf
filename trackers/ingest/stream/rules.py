"""Makes X's rules match our sources: adds what is missing, deletes ours that are not wanted.

sources + X's rules ─> RuleChanges (pure) ─> requests ─> the outcome, stored with the sources
Rules of others, with other tags or none, are never changed; but one with the same text is used.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from trackers.ingest.stream.change_rules import add_in_pieces, bare, delete_in_pieces
from trackers.ingest.stream.listeners import WantedRule
from trackers.ingest.stream.marks import PROGRAM, Mark, our_mark
from trackers.ingest.stream.requests import Asker, NoTurnError
from trackers.ingest.stream.rule_rows import open_missing, store_rules
from trackers.ingest.stream.synced import Synced
from trackers.xapi.endpoints import STREAM_RULES
from trackers.xapi.errors import XError
from trackers.xapi.parse.stream import Rule
from trackers.xapi.stream_rules import rules_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RuleChanges:
    use: Mapping[int, int]  # source ─> its existing rule
    add: tuple[int, ...]  # sources without a rule
    delete: tuple[int, ...]  # our rules that no source wants any longer
    others: int  # how many are not ours
    marked: int  # how many of these belong to other installations


def plan(wanted: Iterable[WantedRule], there: Iterable[Rule], mark: Mark) -> RuleChanges:
    """The changes that give each source a rule at X."""
    wanted, there = list(wanted), list(there)
    ours = [rule for rule in there if mark.is_on(rule.tag)]
    others = [rule for rule in there if not mark.is_on(rule.tag)]
    # If two have the same text, ours is used.
    by_value = {bare(rule.value): rule.id for rule in (*others, *ours)}
    use = {one.source: by_value[bare(one.value)] for one in wanted if bare(one.value) in by_value}
    in_use = set(use.values())
    return RuleChanges(
        use,
        tuple(one.source for one in wanted if one.source not in use),
        tuple(rule.id for rule in ours if rule.id not in in_use),
        len(others),
        sum(rule.tag.startswith(PROGRAM) for rule in others),
    )


def synchronise(wanted: Mapping[int, WantedRule], asker: Asker, before: Synced) -> Synced:
    """Ask X for its rules and change them as planned; XError or NoTurnError if they cannot be read.
    If some cannot be changed, the others still are, and `trouble` says why."""
    asked_at = time.monotonic()
    there = asker.ask(STREAM_RULES, rules_of)
    mark = our_mark()
    todo = plan(wanted.values(), there.rules, mark)
    synced = Synced(dict(todo.use), {}, mark, todo.others)
    new = [wanted[id] for id in todo.add if not synced.keep_refusal(wanted[id], before)]
    _attempt(lambda: delete_in_pieces(todo.delete, asker), synced)
    _attempt(lambda: add_in_pieces(new, asker, synced), synced)
    _log_changes(todo, before)
    open_missing(wanted, synced, asker)
    store_rules(wanted, synced, asker, asked_at=asked_at)
    return synced


def _attempt(change: Callable[[], None], synced: Synced) -> None:
    try:
        change()
    except (XError, NoTurnError) as trouble:
        logger.warning("not all rules of the stream could be changed: %s", trouble)
        synced.trouble = trouble


def _log_changes(todo: RuleChanges, before: Synced) -> None:
    if todo.delete:
        logger.info("deleted rules of ours that no source needs any more: %d", len(todo.delete))
    if todo.others and todo.others != before.others:
        logger.warning(
            "X has rules for this app that this installation did not make, and bills what they"
            " match: %d, of which other installations of tweetwatch made %d; they stay as they are",
            todo.others,
            todo.marked,
        )
