"""Stores the outcome of the rules with the sources; if X lacked a rule for a while, opens a gap."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction

from trackers.ingest.sources.models import Gap
from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.clock import DATES_ARE_CUT_TO
from trackers.ingest.stream.gaps import CLOCKS_DIFFER, open_gaps
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.listeners import WantedRule
from trackers.ingest.stream.requests import Asker
from trackers.ingest.stream.synced import Synced
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

logger = logging.getLogger(__name__)

_REFUSED, _RULE_MISSING = "X refuses the rule: ", "X does not have the rule yet: "
_MOST_NAMED = 5

# By X's clock, using the skew that the last connection measured.
_READ_AT = """
    SELECT rules_read_at, clock_timestamp() - coalesce(skew, interval '0')
    FROM trackers_stream WHERE name = %(name)s
"""
# `rules_read_at`: from before X was asked, since a rule may vanish while it answers.
_KEEP = """
    UPDATE trackers_stream
    SET rules_read_at = clock_timestamp() - coalesce(skew, interval '0') - %(ago)s::interval,
        rules_of_others = %(others)s
    WHERE name = %(name)s AND lease = %(token)s
"""
_WRITE = statement(__file__, "write_rules")


def open_missing(wanted: Mapping[int, WantedRule], synced: Synced, asker: Asker) -> None:
    """Open a gap for each source whose rule is missing, or has changed since X's rules were last
    read: posts since then may be missing. A new rule also takes a while to act."""
    missing = [one for one in wanted.values() if _is_missing(one, synced)]
    if not missing:
        return
    margins = asker.settings.margins
    with transaction.atomic():
        stream_lease.fence(asker.lease)
        read_at, x_now = read_before(asker.lease)
        span = margins.around((read_at or x_now) - CLOCKS_DIFFER, x_now + DATES_ARE_CUT_TO)
        open_gaps(missing, span, polled_in=margins.polled_in, why=Gap.Why.RULE)
    _log_lost([one for one in missing if one.rule is not None], since=span.begins)


def _is_missing(wanted: WantedRule, synced: Synced) -> bool:
    rule = synced.rules.get(wanted.source)
    # A rule that X refuses brings nothing, so it misses nothing.
    return rule != wanted.rule or (rule is None and wanted.source not in synced.refused)


def read_before(lease: Lease) -> tuple[datetime | None, datetime]:
    """When X's rules were last read, and now; both by X's clock."""
    with cursor() as db:
        row: tuple[datetime | None, datetime] = db.execute(_READ_AT, lease.params).fetchall()[0]
    return row


def _log_lost(lost: list[WantedRule], *, since: datetime) -> None:
    if not lost:
        return
    names = ", ".join(one.name for one in lost[:_MOST_NAMED])
    more = f" and {len(lost) - _MOST_NAMED} more" if len(lost) > _MOST_NAMED else ""
    logger.warning(
        "X did not have the rule any more of %s%s; what appeared since %s is a gap, which search"
        " fills",
        names,
        more,
        f"{since:%Y-%m-%d %H:%M:%S} UTC",
    )


def store_rules(
    wanted: Mapping[int, WantedRule], synced: Synced, asker: Asker, *, asked_at: float
) -> None:
    """Store the rules' numbers and X's complaints with the sources, and that they were read."""
    ids = sorted(wanted)
    with transaction.atomic():
        ago = timedelta(seconds=time.monotonic() - asked_at)
        stream_lease.written(_KEEP, asker.lease, ago=ago, others=synced.others)
        with cursor() as db:
            db.execute(
                _WRITE,
                {
                    "ids": array(ids),
                    "values": [wanted[one].value for one in ids],
                    "rules": array(synced.rules.get(one) for one in ids),
                    "problems": [_problem_of(one, synced)[:300] for one in ids],
                    "refused": _REFUSED,
                    "waits": _RULE_MISSING,
                },
            )


def _problem_of(source: int, synced: Synced) -> str:
    if source in synced.rules:
        return ""
    if refusal := synced.refused.get(source):
        return _REFUSED + refusal.why
    return _RULE_MISSING + (str(synced.trouble) if synced.trouble else "it will be added shortly.")
