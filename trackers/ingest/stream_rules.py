"""X's rules are made those of our sources: what is missing is added, what is ours and gone deleted.

sources + X's rules ─> Plan (pure) ─> requests ─> rule ids and X's complaints on the sources
Rules of others, with other tags or none, are never touched; one with the same text is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TypedDict, TypeVar

from trackers.ingest.stream_sources import TAG, Wanted, tag_of
from trackers.ingest.stream_turns import Payer, ask
from trackers.xapi.endpoints import CHANGE_STREAM_RULES, STREAM_RULES
from trackers.xapi.errors import BadRequest
from trackers.xapi.parse_stream import Added, Rule
from trackers.xapi.stream_rules import MOST_AT_ONCE, add_rules, delete_rules, rules_of
from tweetwatch.database import array, cursor

REFUSED = "X refuses the rule: "
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Plan:
    """use: the rule of a source that is there. add: sources whose rule is not. delete: ours that
    no source wants any more."""

    use: Mapping[int, int]
    add: tuple[int, ...]
    delete: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """How X is asked. `silence`: the longest wait for a line of the stream."""

    base_url: str
    timeout: timedelta
    silence: timedelta


class How(TypedDict):
    base_url: str
    timeout: timedelta


@dataclass(slots=True)
class Synced:
    """Rules by source, and what X refused of which, so that it is not asked again and again."""

    rules: dict[int, int] = field(default_factory=dict)
    refused: dict[int, tuple[str, str]] = field(default_factory=dict)

    @property
    def by_rule(self) -> dict[int, int]:
        return {rule: source for source, rule in self.rules.items()}


def plan(wanted: Iterable[Wanted], there: Iterable[Rule]) -> Plan:
    """What has to be done so that X has a rule for each source."""
    there = list(there)
    by_value = {bare(rule.value): rule.id for rule in there}
    wanted = list(wanted)
    use = {one.source: by_value[bare(one.value)] for one in wanted if bare(one.value) in by_value}
    in_use = set(use.values())
    return Plan(
        use,
        tuple(one.source for one in wanted if one.source not in use),
        tuple(rule.id for rule in there if rule.tag.startswith(TAG) and rule.id not in in_use),
    )


def bare(value: str) -> str:
    """X may keep a rule with other blanks than it was given."""
    return " ".join(value.split())


def synchronise(wanted: Mapping[int, Wanted], who: Payer, asking: Asking, before: Synced) -> Synced:
    """Ask X for its rules and change them as planned; XError or NoTurnError when it cannot be."""
    how: How = {"base_url": asking.base_url, "timeout": asking.timeout}
    there = ask(STREAM_RULES, who, partial(rules_of, **how))
    todo = plan(wanted.values(), there.rules)
    synced = Synced(dict(todo.use), {})
    for ids in pieces(todo.delete):
        ask(CHANGE_STREAM_RULES, who, partial(delete_rules, ids=ids, **how))
    for sources in pieces([one for one in todo.add if not refused(wanted[one], before, synced)]):
        add([wanted[one] for one in sources], who, how, synced)
    write(synced)
    return synced


def refused(one: Wanted, before: Synced, synced: Synced) -> bool:
    """X has refused this text: kept, so that each connect does not ask for it anew."""
    value, why = before.refused.get(one.source, ("", ""))
    if value != one.value:
        return False
    synced.refused[one.source] = value, why
    return True


def add(new: Sequence[Wanted], who: Payer, how: How, synced: Synced) -> None:
    """Add rules; when X refuses them as a whole, each by itself: one bad rule costs no other."""
    tagged = {one.value: tag_of(one.source) for one in new}
    try:
        done = ask(CHANGE_STREAM_RULES, who, partial(add_rules, tagged=tagged, **how))
    except BadRequest as error:
        if len(new) == 1:
            synced.refused[new[0].source] = new[0].value, error.reason
            return
        for one in new:
            add([one], who, how, synced)
        return
    for one in new:
        settle(one, done, synced)


def settle(one: Wanted, done: Added, synced: Synced) -> None:
    rule = done.added.get(one.value) or done.known.get(one.value)
    # X may answer with other blanks than it was given.
    rule = rule or {bare(value): id for value, id in done.added.items()}.get(bare(one.value))
    if rule:
        synced.rules[one.source] = rule
    elif why := done.refused.get(one.value):
        synced.refused[one.source] = one.value, why


def pieces(items: Sequence[Item]) -> Iterator[list[Item]]:
    for start in range(0, len(items), MOST_AT_ONCE):
        yield list(items[start : start + MOST_AT_ONCE])


# Only complaints about the rule are taken back: others are of the polls that fill its gaps.
# Locks the sources in the order of ids, as everyone does.
WRITE = """
    WITH told AS (
        SELECT * FROM unnest(%(ids)s::bigint[], %(rules)s::bigint[], %(problems)s::text[])
            AS told(id, rule, problem)
    ),
    held AS MATERIALIZED (
        SELECT s.id FROM trackers_source s JOIN told ON told.id = s.id
        ORDER BY s.id FOR NO KEY UPDATE OF s
    )
    UPDATE trackers_source s
    SET rule_id = told.rule,
        problem = CASE WHEN told.problem <> '' THEN told.problem
                       WHEN starts_with(s.problem, %(refused)s) THEN '' ELSE s.problem END
    FROM told, held
    WHERE s.id = told.id AND s.id = held.id
      AND (s.rule_id IS DISTINCT FROM told.rule OR told.problem <> ''
           OR starts_with(s.problem, %(refused)s))
"""


def write(synced: Synced) -> None:
    """The rules' numbers and X's complaints, onto the sources."""
    sources = sorted({*synced.rules, *synced.refused})
    problems = [synced.refused.get(one, ("", ""))[1] for one in sources]
    with cursor() as db:
        db.execute(
            WRITE,
            {
                "ids": array(sources),
                "rules": array(synced.rules.get(one) for one in sources),
                "problems": [(REFUSED + why)[:300] if why else "" for why in problems],
                "refused": REFUSED,
            },
        )
