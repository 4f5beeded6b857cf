"""Turns news into notices, the lines of the log: one per rule and minute, however much it found.

The log keeps three months, and at most its newest 100,000 lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from trackers.alerts.kinds import RuleKind
from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.alerts.mutes import muted_tweets, muted_until
from trackers.alerts.tweet_words import tweet_words
from trackers.alerts.words import title_of
from trackers.channels.claim import enqueue
from trackers.channels.message import LINES_MOST as MESSAGE_LINES_MOST
from trackers.channels.models import ChannelMessage, own_limits
from trackers.channels.quiet_hours import quiet_people
from trackers.outbox.findings import News
from tweetwatch.pieces import Deadline, PieceWork, delete_in_pieces

# How many of a rule's alerts in one minute are kept in full; the others are only counted.
LINES_MOST = 20
BEYOND_LIMIT = "Not sent: your own rules have sent as much in an hour as they may."
_AN_HOUR = timedelta(hours=1)


def make_notices(news: Sequence[News], rules: Iterable[AlertRule], *, now: datetime) -> None:
    """Call it in the transaction of the news. What tweetwatch finds by itself goes to the rules of
    that kind; it is logged even without one."""
    by_id = {change.pk: change for change in rules}
    of_rules: dict[int, list[News]] = {}
    by_itself = []
    for change in news:
        if change.observation.rule is None:
            by_itself.append(change)
        else:
            of_rules.setdefault(change.observation.rule, []).append(change)
    for id, findings in of_rules.items():
        add_notice(by_id[id], findings, now=now)
    if by_itself:
        heard = [change for change in by_id.values() if change.kind == RuleKind.TROUBLE]
        is_logged = any(not rule.is_own for rule in heard)
        listening: list[AlertRule | None] = [*heard] if is_logged else [*heard, None]
        for rule in listening:
            add_notice(rule, by_itself, now=now)


def add_notice(rule: AlertRule | None, news: Sequence[News], *, now: datetime) -> AlertNotice:
    made = AlertNotice.objects.create(
        rule=rule,
        rule_name=rule.name if rule else "",
        owner_id=rule.owner_id if rule else None,
        at=now,
        lines=_notice_lines(rule, news[:LINES_MOST], now=now),
        more=max(0, len(news) - LINES_MOST),
    )
    if rule and made.heard:
        _notify_recipients(rule, made, now=now)
    return made


def _notify_recipients(rule: AlertRule, made: AlertNotice, *, now: datetime) -> None:
    """Of a person's own rules only so much in an hour; the rest is for the log alone."""
    addresses, channels = rule.addresses, list(rule.told_channels())
    left = len(addresses) + len(channels)
    if rule.owner_id is not None:
        left = _messages_left(rule.owner_id, now=now)
    heard, later = addresses[:left], addresses[left:]
    post(made, heard, now=now)
    post(made, later, now=now, refused=BEYOND_LIMIT)
    left -= len(heard)
    fields = message_fields(made) if channels else {}
    enqueue(channels[:left], now=now, **fields)
    beyond = {"state": ChannelMessage.State.GIVEN_UP, "error": BEYOND_LIMIT}
    enqueue(channels[left:], now=now, **fields, **beyond)


def _messages_left(owner: int, *, now: datetime) -> int:
    """How many e-mails and messages a person's own rules may still send in this hour."""
    lately = AlertNotice.objects.filter(owner=owner, at__gt=now - _AN_HOUR)
    mails = AlertMail.objects.filter(notice__in=lately).exclude(error=BEYOND_LIMIT)
    messages = ChannelMessage.objects.filter(notice__in=lately).exclude(error=BEYOND_LIMIT)
    return max(0, own_limits().messages - mails.count() - messages.count())


def message_fields(notice: AlertNotice) -> dict[str, Any]:
    """What channels are told of it: fields of a ChannelMessage."""
    heard = notice.heard[:MESSAGE_LINES_MOST]
    tweets = [tweet for line in heard if (tweet := _tweet_of(line))]
    beside = tweet_words(notice.rule, tweets) if notice.rule else {}
    lines = [
        {
            "what": f"{line['what']}{beside.get(_tweet_of(line), '')}",
            "url": line["url"],
            "rule": notice.rule_name,
            "is_over": line["state"] == "back",
        }
        for line in heard
    ]
    return {
        "notice": notice,
        "title": title_of(notice),
        "lines": lines,
        "more": notice.more + len(notice.heard) - len(lines),
    }


def _tweet_of(line: dict[str, Any]) -> int:
    """0: it is about something else."""
    return int(line["of"]) if line["kind"] == "tweet" else 0


def _notice_lines(
    rule: AlertRule | None, news: Sequence[News], *, now: datetime
) -> list[dict[str, Any]]:
    """What is muted is marked."""
    lines: list[dict[str, Any]] = [_notice_line(one) for one in news]
    is_muted = rule is not None and muted_until(rule, now=now) is not None
    tweets = {tweet for line in lines if (tweet := _tweet_of(line))}
    muted = muted_tweets(tweets, now=now) if tweets else set()
    for line in lines:
        if is_muted or _tweet_of(line) in muted:
            line["muted"] = True
    return lines


def _notice_line(change: News) -> dict[str, str]:
    observation = change.observation
    return {
        "what": change.what,
        "url": observation.url,
        "state": change.state,
        "kind": observation.kind,
        "of": observation.of,
    }


def post(
    notice: AlertNotice, to: Iterable[str], *, now: datetime, refused: str = ""
) -> list[AlertMail]:
    """Queue an e-mail to each address. `refused`: why it is only logged that there was one."""
    state = AlertMail.State.GIVEN_UP if refused else AlertMail.State.WAITING
    quiet = quiet_addresses(now=now) if notice.kind == AlertNotice.Kind.ALERT else set()
    return AlertMail.objects.bulk_create(
        AlertMail(
            notice=notice, to=one, made_at=now, next_at=now, state=state, error=refused,
            held=one.lower() in quiet,
        )
        for one in dict.fromkeys(to)
    )  # fmt: skip


def quiet_addresses(*, now: datetime) -> set[str]:
    """In lower case: those of people who are to be sent nothing now."""
    return {person.email.lower() for person in quiet_people(now=now) if person.email}


_NOTICES_KEPT_FOR = timedelta(days=90)
_MAX_NOTICES_KEPT = 100_000

# In the order of the key, oldest first; e-mails and messages are deleted with their notice, by
# indexes of their own.
_OLD = """
    SELECT id FROM trackers_alertnotice
    WHERE at < %(before)s
       OR id <= (SELECT id FROM trackers_alertnotice ORDER BY id DESC OFFSET %(most)s LIMIT 1)
"""
_PRUNE_NOTICES = f"""
    WITH old AS MATERIALIZED ({_OLD} ORDER BY id LIMIT 2000),
    pictures AS (
        DELETE FROM trackers_alertpicture WHERE mail_id IN (
            SELECT id FROM trackers_alertmail WHERE notice_id = ANY(ARRAY(SELECT id FROM old)))
    ),
    mails AS (DELETE FROM trackers_alertmail WHERE notice_id = ANY(ARRAY(SELECT id FROM old))),
    messages AS (
        DELETE FROM trackers_channelmessage WHERE notice_id = ANY(ARRAY(SELECT id FROM old)))
    DELETE FROM trackers_alertnotice WHERE id = ANY(ARRAY(SELECT id FROM old))
"""


def prune_notices(*, now: datetime, deadline: Deadline) -> PieceWork:
    return delete_in_pieces(
        "the log of alerts",
        _PRUNE_NOTICES,
        left=f"SELECT count(*) FROM ({_OLD} LIMIT 100000) old",
        params={"before": now - _NOTICES_KEPT_FOR, "most": _MAX_NOTICES_KEPT},
        deadline=deadline,
    )
