"""Rules of the filtered stream: kept for each app, listed and changed as X does.

A rule takes effect some seconds after it was added, and lasts as long after it was deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

import orjson

from fakex.settings import Numbers
from fakex.wire import problems
from fakex.wire.pages import names_of
from fakex.wire.queries import BadQuery, Query, read_query
from fakex.wire.replies import Reply, problem
from fakex.wire.usage import numeric_id
from fakex.world.seeded import World

_MOST_RULES = 1000
_PLACES_BEGIN = 1 << 20
_FOR_EVER = float("inf")
# What a bad rule costs the others in its request. each: nothing. all: none is added, and X
# complains of the bad one only. whole: X answers 400 without naming any.
Refuses = Literal["each", "all", "whole"]


@dataclass(slots=True)
class StreamRule:
    """Matches posts that appear from `from_ms` on and before `until_ms`."""

    id: str
    value: str
    tag: str | None
    from_ms: float
    until_ms: float = _FOR_EVER

    def to_dict(self) -> dict[str, str]:
        rule = {"value": self.value, "id": self.id}
        return rule if self.tag is None else {**rule, "tag": self.tag}

    def acts_at(self, at_ms: int) -> bool:
        return self.from_ms <= at_ms < self.until_ms


class StreamRules:
    """The rules of all apps; `delay_s` is how long a change takes to act, `most` the limit of rules
    per app."""

    def __init__(self) -> None:
        self.delay_s, self.most = 20.0, _MOST_RULES
        self.refuses: Refuses = "each"
        self._apps: dict[str, dict[str, StreamRule]] = {}
        self._going: dict[str, list[StreamRule]] = {}
        self._serials = count(1)
        self._queries: dict[tuple[object, ...], Query] = {}

    def of(self, app: str) -> list[StreamRule]:
        """The rules that X lists."""
        return list(self._apps.get(app, {}).values())

    def acting(self, app: str, at_ms: int) -> list[StreamRule]:
        """The rules that match posts appearing at that instant; deleted ones stay for a while."""
        going = [rule for rule in self._going.get(app, ()) if rule.until_ms > at_ms]
        self._going[app] = going
        return [rule for rule in (*self.of(app), *going) if rule.acts_at(at_ms)]

    def find(self, rule_id: str) -> StreamRule:
        """A rule of any app, including deleted ones while they act."""
        everywhere = (*self._apps.values(), *({r.id: r for r in g} for g in self._going.values()))
        for rules in everywhere:
            if rule_id in rules:
                return rules[rule_id]
        raise LookupError(rule_id)

    def query(self, rule: StreamRule, world: World) -> Query:
        """The rule's query, with accounts under their present names."""
        key = rule.value, names_of(world)
        query = self._queries.get(key)
        if query is None:
            query = read_query(rule.value, world, "rule")
            self._queries[key] = query
        return query

    def clear(self) -> None:
        self._queries.clear()
        self._apps.clear()
        self._going.clear()

    def show(self, app: str, ids: Sequence[str], *, now_ms: int) -> Reply:
        rules = [rule for rule in self.of(app) if not ids or rule.id in ids]
        body: dict[str, Any] = {"data": [rule.to_dict() for rule in rules]} if rules else {}
        body["meta"] = {"sent": _sent(now_ms), "result_count": len(rules)}
        return Reply(200, orjson.dumps(body))

    def count(self, app: str, siblings: Collection[str], *, numbers: Numbers) -> Reply:
        """How many rules the app has, and the other apps of its project.

        By OpenAPI 2.166 (numbers) and 2.167 (limits and the project's count as strings).
        """
        number = str if numbers == "strings" else int
        apps = [
            {"client_app_id": str(numeric_id(name)), "rule_count": len(self.of(name))}
            for name in sorted({app, *siblings})
        ]
        total = sum(len(self.of(name)) for name in {app, *siblings})
        data = {
            "all_project_client_apps": apps,
            "cap_per_client_app": number(self.most),
            "cap_per_project": number(self.most),
            "client_app_rules_count": {
                "client_app_id": str(numeric_id(app)),
                "rule_count": len(self.of(app)),
            },
            "project_rules_count": number(total),
        }
        return Reply(200, orjson.dumps({"data": data}))

    def add(
        self,
        app: str,
        rules_to_add: Sequence[Mapping[str, Any]],
        *,
        world: World,
        now_ms: int,
        host: str,
    ) -> tuple[Reply, list[StreamRule]]:
        """The reply to new rules, and the valid ones, which are not stored yet."""
        known = {rule.value: rule.id for rule in self.of(app)}
        new: list[StreamRule] = []
        errors: list[problems.Problem] = []
        for item in rules_to_add:
            value, tag = str(item.get("value", "")), item.get("tag")
            if value in known:
                errors.append(problems.duplicate_rule(value, known[value], host))
                continue
            try:
                read_query(value, world, "rule")
            except BadQuery as bad:
                errors.append(problems.invalid_rule(value, str(bad), host))
                continue
            if len(known) >= self.most:
                errors.append(problems.too_many_rules(value, host))
                continue
            place = _PLACES_BEGIN + next(self._serials) % _PLACES_BEGIN
            rule_id = str(world.ids.put(now_ms, place))
            known[value] = rule_id
            acts_ms = now_ms + self.delay_s * 1000
            new.append(StreamRule(rule_id, value, None if tag is None else str(tag), acts_ms))
        valid = len(new)
        if errors and self.refuses == "whole":
            message = f"{len(errors)} of the rules are not valid"
            return problem(400, problems.invalid_request([("add", [], message)], host)), []
        if errors and self.refuses == "all":
            new = []
        summary = {
            "created": len(new),
            "not_created": len(rules_to_add) - len(new),
            "valid": valid,
            "invalid": len(errors),
        }
        body = _changed([rule.to_dict() for rule in new], errors, summary, now_ms)
        return Reply(201 if new else 200, body), new

    def lose(self, values: Collection[str], *, now_ms: int) -> int:
        """Drop rules of any app, as if their owner had deleted them elsewhere: all, or those with
        these values. Returns how many there were."""
        lost = 0
        for app, rules in self._apps.items():
            for rule in [r for r in rules.values() if not values or r.value in values]:
                self._end(app, rule, now_ms=now_ms)
                lost += 1
        return lost

    def _end(self, app: str, rule: StreamRule, *, now_ms: int) -> None:
        del self._apps[app][rule.id]
        rule.until_ms = now_ms + self.delay_s * 1000
        self._going.setdefault(app, []).append(rule)

    def keep(self, app: str, rules: Sequence[StreamRule]) -> None:
        self._apps.setdefault(app, {}).update({rule.id: rule for rule in rules})

    def delete(
        self, app: str, wanted_rules: Mapping[str, Any], *, is_dry: bool, now_ms: int, host: str
    ) -> Reply:
        """Delete rules by their ids or values, or all of the app if neither is named; unknown ones
        are errors."""
        rules = self._apps.setdefault(app, {})
        wanted_rules = wanted_rules or {"ids": list(rules)}
        by_value = {rule.value: rule.id for rule in rules.values()}
        wanted = [str(rule_id) for rule_id in wanted_rules.get("ids") or ()]
        wanted += [by_value.get(str(value), "") for value in wanted_rules.get("values") or ()]
        deleted = [rules[rule_id] for rule_id in dict.fromkeys(wanted) if rule_id in rules]
        errors = [problems.no_such_rule(host)] * (len(wanted) - len(deleted))
        for rule in () if is_dry else deleted:
            self._end(app, rule, now_ms=now_ms)
        summary = {"deleted": len(deleted), "not_deleted": len(errors)}
        return Reply(200, _changed([], errors, summary, now_ms))


def read_change(body: str) -> list[dict[str, Any]] | dict[str, Any] | None:
    """The rules to add, or those to delete; None if it is neither."""
    try:
        change = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(change, dict) or len(change) != 1:
        return None
    added, deleted = change.get("add"), change.get("delete")
    if isinstance(added, list) and added and all(isinstance(rule, dict) for rule in added):
        return added
    return deleted if isinstance(deleted, dict) and deleted else None


def _changed(
    data: list[dict[str, str]],
    errors: list[problems.Problem],
    summary: dict[str, int],
    now_ms: int,
) -> bytes:
    body: dict[str, Any] = {"data": data} if data else {}
    body["meta"] = {"sent": _sent(now_ms), "summary": summary}
    if errors:
        body["errors"] = errors
    return orjson.dumps(body)


def _sent(now_ms: int) -> str:
    sent = datetime.fromtimestamp(now_ms / 1000, UTC)
    return sent.isoformat(timespec="milliseconds").replace("+00:00", "Z")
