"""Every minute: what the rules find, which of it is new, and who is alerted.

rules ─> observations ─┐
                ├─> outbox.findings ─> news ─> events, AlertNotice ─> AlertMail, sent by `mail`
                │                                                 └─> ChannelMessage, by `deliver`
built-in observations ─┘
All are made first, and everything is written in one transaction: an alert, its event, e-mails and
messages are there together, or not at all.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from django.db import transaction

from trackers.alerts import milestones, notice
from trackers.alerts.conditions import lasting_findings
from trackers.alerts.happened import happened_findings, store_happening_place
from trackers.alerts.kinds import RuleKind
from trackers.alerts.models import RULES_MOST, AlertRule
from trackers.alerts.places import HappeningPlace
from trackers.alerts.quiet import quiet_findings
from trackers.alerts.unusual import keep_rises, unusual_findings
from trackers.alerts.velocity import velocity_findings
from trackers.alerts.worded import store_newcomers_read, worded_findings
from trackers.events.live.cursor import Cursor
from trackers.outbox import findings
from trackers.outbox.findings import News, Observation
from tweetwatch.database import LOST

logger = logging.getLogger(__name__)


def judge(built_in: Iterable[Observation], *, now: datetime) -> Sequence[News]:
    """Look, store, and report; returns what is news to everybody. `mail.send` sends the e-mails.

    If the observation of one kind of rule fails, this is logged, and the others continue.
    """
    rules = list(AlertRule.objects.judged().select_related("owner").order_by("pk")[:RULES_MOST])
    observations = list(built_in)
    judged: set[int] = set()
    place: Cursor | None = None
    happening_place: HappeningPlace | None = None
    is_read = has_happened = False
    risen: int | None = None
    newcomers: list[int] | None = None
    has_words = False

    with _trying("what lasts"):
        lasting, complete = lasting_findings(rules, now=now)
        observations += lasting
        judged |= complete
    with _trying("silence"):
        quiet, listened = quiet_findings(_of(rules, RuleKind.QUIET), now=now)
        observations += quiet
        judged |= listened
    with _trying("velocity"):
        observations += velocity_findings(_of(rules, RuleKind.VELOCITY), now=now)
        judged |= _ids_of(rules, RuleKind.VELOCITY)
    with _trying("what is better than usual"):
        unusual, risen = unusual_findings(_of(rules, RuleKind.USUAL), now=now)
        observations += unusual
    with _trying("milestones"):
        observations += milestones.reached_findings(_of(rules, RuleKind.MILESTONE))
        judged |= _ids_of(rules, RuleKind.MILESTONE)
        crossed, place = milestones.crossed_findings(_of(rules, RuleKind.MILESTONE), now=now)
        observations += crossed
        is_read = True
    with _trying("what happened to tweets"):
        milestones.make_own_milestones(rules)
        happened, happening_place = happened_findings(rules, now=now)
        observations += happened
        has_happened = True
    with _trying("words"):
        worded, newcomers = worded_findings(_of(rules, RuleKind.WORDS), now=now)
        observations += worded
        has_words = True

    with transaction.atomic():
        there = _still_there(rules)
        kept = [rule for rule in observations if rule.rule is None or rule.rule in there]
        news = findings.update_findings(kept, now=now, judged=judged & there)
        if is_read:
            milestones.store_place(place)
        if has_happened:
            store_happening_place(happening_place)
        if has_words:
            store_newcomers_read(newcomers)
        keep_rises(risen)
        notice.make_notices(news, [rule for rule in rules if rule.pk in there], now=now)
    own = {rule.pk for rule in rules if rule.is_own}
    return [change for change in news if change.observation.rule not in own]


@contextmanager
def _trying(what: str) -> Iterator[None]:
    """Log an error of one kind, so that the others continue; a lost database is raised."""
    try:
        yield
    except LOST:
        raise
    except Exception:
        logger.exception("rules about %s could not be judged this minute", what)


def _still_there(rules: Iterable[AlertRule]) -> set[int]:
    """Those not deleted or switched off since; they are locked until the commit."""
    ids = [one.pk for one in rules]
    found = AlertRule.objects.filter(pk__in=ids, enabled=True).order_by("pk")
    return set(found.select_for_update(no_key=True).values_list("pk", flat=True))


def _of(rules: Iterable[AlertRule], *kinds: AlertRule.Kind) -> list[AlertRule]:
    return [one for one in rules if one.kind in kinds]


def _ids_of(rules: Iterable[AlertRule], kind: AlertRule.Kind) -> set[int]:
    return {one.pk for one in _of(rules, kind)}
