"""Rules about what happened to tweets: metrics that fell, second waves, deleted and edited ones;
and for people's own rules milestones.

happenings that no minute has read yet ─> of which rule's kind ─> of its subject ─> observations
What is read in a minute is bounded; the rest waits for the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from trackers.alerts.kinds import HAPPENED, RuleKind
from trackers.alerts.membership import MAX_FINDINGS, tweets_of_sets
from trackers.alerts.milestones import is_of, origins_of, reads_figures
from trackers.alerts.models import AlertRule
from trackers.alerts.places import HappeningPlace
from trackers.alerts.velocity import author_names, tweet_finding
from trackers.happenings.models import Happening, HappeningKind
from trackers.outbox.findings import Observation

_READ_MOST = 5_000


def _reads_happenings(rule: AlertRule) -> bool:
    is_of_them = rule.kind in HAPPENED and rule.kind != RuleKind.MILESTONE
    return is_of_them or reads_figures(rule)


def happened_findings(
    rules: Sequence[AlertRule], *, now: datetime
) -> tuple[list[Observation], HappeningPlace | None]:
    """What happened since the last time, and how far was read, to be saved in the same transaction.

    None: there is no such rule. The first one begins with what comes next.
    """
    rules = [rule for rule in rules if _reads_happenings(rule)]
    if not rules:
        return [], None
    place = HappeningPlace.objects.filter(pk=1).first()
    if place is None:
        newest = Happening.objects.order_by("-pk").values_list("pk", flat=True).first()
        return [], HappeningPlace(reached=newest or 0, handled=[])
    later = Happening.objects.filter(pk__gt=place.reached).exclude(pk__in=place.handled)
    fresh = list(later.order_by("pk")[:_READ_MOST])
    return _findings_of(rules, fresh, now=now), _next_place(place, fresh)


def _next_place(place: HappeningPlace, fresh: Sequence[Happening]) -> HappeningPlace:
    """Ids are drawn before they are committed: what is lower than the newest that was read may come
    in the next minute, and is read then."""
    reached = max([place.reached, *place.handled])
    return HappeningPlace(reached=reached, handled=[row.pk for row in fresh if row.pk > reached])


def store_happening_place(place: HappeningPlace | None) -> None:
    if place is None:
        HappeningPlace.objects.all().delete()
        return
    HappeningPlace.objects.update_or_create(
        pk=1, defaults={"reached": place.reached, "handled": place.handled}
    )


def _findings_of(
    rules: Sequence[AlertRule], rows: Sequence[Happening], *, now: datetime
) -> list[Observation]:
    asked = [(rule, row) for rule in rules for row in rows if _suits(rule, row)]
    origins = origins_of(row.tweet_id for _, row in asked)
    authors = author_names({author for author, _ in origins.values() if author is not None})
    candidates: dict[int, set[int]] = {}
    for rule, row in asked:
        candidates.setdefault(rule.pk, set()).add(row.tweet_id)
    theirs = tweets_of_sets(rules, candidates, now=now)
    by_rule: dict[int, dict[int, Observation]] = {}
    for rule, row in asked:
        tweet, of_rule = row.tweet_id, by_rule.setdefault(rule.pk, {})
        if tweet not in origins or len(of_rule) >= MAX_FINDINGS:
            continue
        author, sources = origins[tweet]
        if tweet in theirs[rule.pk] if rule.pk in theirs else is_of(rule, author, sources):
            whose = f" of {authors[author]}" if author in authors else ""
            sentence = f"Tweet {tweet}{whose} {verb_of(row)}"
            of_rule[tweet] = tweet_finding(rule, tweet, sentence, is_moment=True)
    return [finding for of_rule in by_rule.values() for finding in of_rule.values()]


def _suits(rule: AlertRule, row: Happening) -> bool:
    """Whether it is what the rule waits for, whichever tweet it is about."""
    if row.what not in HAPPENED[RuleKind(rule.kind)]:
        return False
    if rule.about == AlertRule.About.TWEET and row.tweet_id != rule.of:
        return False
    figures = row.figures
    if rule.kind == RuleKind.MILESTONE:
        return (figures["metric"], figures["at"]) == (rule.metric, rule.at)
    if rule.kind != RuleKind.FELL:
        return True
    fell: int = figures["before"] - figures["after"]
    return bool(figures["metric"] == rule.metric and fell >= rule.at)


def verb_of(row: Happening) -> str:
    """The rest of a sentence that begins with the tweet."""
    figures: dict[str, Any] = row.figures
    match row.what:
        case HappeningKind.FELL:
            return f"fell from {figures['before']:,} to {figures['after']:,} {figures['metric']}."
        case HappeningKind.SECOND_WAVE:
            return (
                f"has a second wave: {figures['after']:,} {figures['metric']} in an hour, after "
                f"{figures['before']:,} in the one before."
            )
        case HappeningKind.MILESTONE | HappeningKind.FIGURE:
            return (
                f"has reached {figures['at']:,} {figures['metric']}: it has {figures['value']:,}."
            )
        case HappeningKind.EDITED:
            return "was edited."
    return f"is gone: {str(figures['reason']).replace('_', ' ')}."


def happened_since(rule: AlertRule, since: datetime) -> Iterable[Happening]:
    """Those that suit the rule, of the newest."""
    for kind in HAPPENED[RuleKind(rule.kind)]:
        for row in Happening.objects.of_kind_since(kind, since)[:_READ_MOST]:
            if _suits(rule, row):
                yield row
