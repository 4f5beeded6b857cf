"""The fault script: rules that say which requests X answers badly, how, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fakex.world.seeded import FaultAnswer

# Kinds for single ids; all others affect the whole reply.
ID_KINDS: dict[str, FaultAnswer] = {
    "omit": "omitted",
    "not_found": "not_found",
    "broken": "broken",
    "null_count": "null_count",
}
REPLY_KINDS = (
    "429",
    "429_per_second",
    "429_past",
    "429_twice",
    "429_edge",
    "429_cap",
    "429_connections",
    "402_credits",
    "402_depleted",
    "503_json",
    "503_text",
    "500",
    "401",
    "403",
    "403_unsupported",
    "redirect",
    "403_forbidden",
    "404",
    "html",
    "slow",
    "reset",
    "lose_answer",
    "truncated",
    "bad_chunk",
    "no_date",
    "garbage_list",
)
# Kinds answered with a made-up body, and kinds that disturb the sending of a real one. A `reset`
# comes before X does anything; if a reply is lost or broken, its request was done and billed.
_SENDING_KINDS = frozenset({"slow", "reset", "lose_answer", "truncated", "bad_chunk", "no_date"})
HANGING_UP = frozenset({"reset", "lose_answer"})
# Kinds whose replies cannot be read to the end.
SPOILT = HANGING_UP | {"truncated", "bad_chunk"}
BODY_KINDS = frozenset(REPLY_KINDS) - _SENDING_KINDS


@dataclass(slots=True)
class Rule:
    """One line of the script; an empty condition matches all."""

    kind: str
    endpoint: str | None = None
    ids: frozenset[str] = frozenset()
    token: str | None = None
    times: int | None = None  # None: forever
    after_ms: int = 0
    params: dict[str, Any] = field(default_factory=dict)
    set_at_ms: int = 0
    fired: int = 0

    def matches(self, endpoint: str, ids: Sequence[str], token: str, now_ms: int) -> bool:
        if self.times is not None and self.fired >= self.times:
            return False
        if now_ms < self.set_at_ms + self.after_ms:
            return False
        if self.endpoint not in (None, endpoint) or self.token not in (None, token):
            return False
        return not self.ids or not self.ids.isdisjoint(ids)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "ids": sorted(self.ids)}


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of one request: at most one of the whole reply, and any number of single ids."""

    reply: Rule | None = None
    answers: dict[str, FaultAnswer] = field(default_factory=dict)
    name: str | None = None


NONE = Faults()


class Script:
    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def replace(self, lines: Sequence[dict[str, Any]], *, now_ms: int) -> None:
        """Accept new rules in the format of `PUT /_fake/faults`; ValueError names a bad kind."""
        self.rules = [_read_rule(rule, now_ms) for rule in lines]

    def strike(self, endpoint: str, ids: Sequence[str], token: str, *, now_ms: int) -> Faults:
        """The faults of this request; each rule used counts as fired."""
        if not self.rules:
            return NONE
        reply: Rule | None = None
        answers: dict[str, FaultAnswer] = {}
        names: list[str] = []
        for rule in self.rules:
            if not rule.matches(endpoint, ids, token, now_ms):
                continue
            if rule.kind in ID_KINDS and not ids:
                continue  # the reply may still contain matching ids
            if rule.kind in ID_KINDS:
                hit = _share_of([id for id in ids if not rule.ids or id in rule.ids], rule)
                answers.update(dict.fromkeys(hit, _answer(rule)))
            elif reply is None:
                reply = rule
            else:
                continue
            rule.fired += 1
            names.append(rule.kind)
        return Faults(reply, answers, "+".join(names)) if names else NONE

    def strike_listed(
        self, endpoint: str, ids: Sequence[str], token: str, *, now_ms: int
    ) -> Faults:
        """The faults of single ids on a page, whose request did not name them."""
        if not self.rules or not ids:
            return NONE
        answers: dict[str, FaultAnswer] = {}
        names: list[str] = []
        for rule in self.rules:
            if rule.kind in ID_KINDS and rule.matches(endpoint, ids, token, now_ms):
                hit = _share_of([id for id in ids if not rule.ids or id in rule.ids], rule)
                answers.update(dict.fromkeys(hit, _answer(rule)))
                rule.fired += 1
                names.append(rule.kind)
        return Faults(None, answers, "+".join(names)) if names else NONE


def _share_of(ids: Sequence[str], rule: Rule) -> Sequence[str]:
    """The ids that a rule hits: params.share of them, spread evenly; all without a share."""
    share = float(rule.params.get("share", 1))
    return [id for n, id in enumerate(ids) if _whole((n + 1) * share) > _whole(n * share)]


def _whole(number: float) -> int:
    return int(number + 1e-9)  # 0.29 of 100 is 29


def _answer(rule: Rule) -> FaultAnswer:
    return "missing" if rule.params.get("missing") else ID_KINDS[rule.kind]


def _read_rule(line: dict[str, Any], now_ms: int) -> Rule:
    kind, match = str(line["kind"]), line.get("match") or {}
    if kind not in ID_KINDS and kind not in REPLY_KINDS:
        raise ValueError(f"unknown kind {kind!r}; known: {', '.join((*ID_KINDS, *REPLY_KINDS))}")
    return Rule(
        kind=kind,
        endpoint=match.get("endpoint"),
        ids=frozenset(map(str, match.get("ids") or ())),
        token=match.get("token"),
        times=line.get("times"),
        after_ms=int(line.get("after_ms") or 0),
        params=line.get("params") or {},
        set_at_ms=now_ms,
    )
