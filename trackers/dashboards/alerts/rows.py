"""What pages of alerts show, row by row: rules, mutes, and what was raised and sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse

from trackers.alerts.acts import permission_to_end, shown_address
from trackers.alerts.kinds import RuleKind
from trackers.alerts.models import AlertMail, AlertNotice, AlertRule
from trackers.alerts.mutes import mutes_now
from trackers.alerts.notice import LINES_MOST
from trackers.alerts.words import condition
from trackers.channels.models import ChannelMessage
from trackers.dashboards.tweet_rows import texts_of
from trackers.dashboards.words import Moment, ago, ahead
from trackers.ingest.sources.models import Source
from trackers.saved_views.models import SavedView
from trackers.schedule.durations import spoken
from trackers.tweets.models import Author, Tweet
from trackers.tweets.tags.models import Tag

_MUTES_SHOWN = 50
About = AlertRule.About
_SUBJECTS: dict[str, QuerySet[Any]] = {
    About.TWEET: Tweet.objects.all(),
    About.AUTHOR: Author.objects.all(),
    About.SOURCE: Source.objects.all(),
    About.TAG: Tag.objects.live(),
    About.VIEW: SavedView.objects.all(),
}
_KIND_WORDS: dict[str, str] = {About.TAG: "tag", About.VIEW: "saved view"}
_SUBJECT_GONE: dict[str, str] = {
    About.TWEET: "This tweet is no longer tracked. Track it again, or remove the rule.",
    About.AUTHOR: "This author is not known any more. Remove the rule.",
    About.SOURCE: "This source was removed. Remove the rule, too.",
    About.TAG: "This tag was removed. Choose another one, or remove the rule.",
    About.VIEW: "This saved view was removed. Choose another one, or remove the rule.",
}


@dataclass(frozen=True, slots=True)
class RuleRow:
    id: int
    name: str
    kind: str
    condition: str
    subject: str  # what it is about; empty: all
    link: str
    missing: str  # why it can find nothing
    tells: str
    rest: str
    enabled: bool
    is_own: bool


@dataclass(frozen=True, slots=True)
class MuteRow:
    id: int
    name: str
    link: str
    text: str  # of a tweet
    until: Moment
    may_end: bool


@dataclass(frozen=True, slots=True)
class MailRow:
    to: str  # "e-mail to …", "message to …"
    state: str
    mood: str  # as in a badge
    at: Moment | None  # when it was sent, or when it is tried next
    error: str


@dataclass(frozen=True, slots=True)
class NoticeLine:
    what: str
    url: str
    is_over: bool
    is_muted: bool
    text: str  # the tweet's, as X shows it today; it is never kept in the notice


@dataclass(frozen=True, slots=True)
class NoticeRow:
    id: int
    at: Moment
    kind: str
    is_unread: bool
    name: str
    rule: int | None
    lines: Sequence[NoticeLine]
    more: int
    more_link: str  # where the others are, or what they would be now; may be empty
    body: str
    mails: Sequence[MailRow]


def mute_rows(person: User, *, now: datetime) -> list[MuteRow]:
    """The first to end, as many as a page takes."""
    mutes = list(mutes_now(person, now=now)[:_MUTES_SHOWN])
    texts = texts_of(mute.tweet for mute in mutes if mute.tweet is not None)
    rows = []
    for mute in mutes:
        if mute.rule is not None:
            name, link = f"The rule {mute.rule.name}", reverse("alert", args=[mute.rule.pk])
        else:
            name, link = f"Tweet {mute.tweet}", f"/tweets/{mute.tweet}/"
        until = ahead(mute.until, now=now)
        may_end = person.has_perm(permission_to_end(mute))
        rows.append(MuteRow(mute.pk, name, link, texts.get(mute.tweet or 0, ""), until, may_end))
    return rows


def rule_rows(rules: Iterable[AlertRule], reader: User) -> list[RuleRow]:
    """A query more for each thing that they are about, however many rules there are."""
    rules = list(rules)
    subjects: dict[tuple[str, int], Any] = {}
    for about, there in _SUBJECTS.items():
        ids = [rule.of for rule in rules if rule.about == about and rule.of is not None]
        rows = there.in_bulk(ids) if ids else {}
        subjects |= {(about, id): row for id, row in rows.items()}
    return [_rule_row(rule, subjects.get((rule.about, rule.of or 0)), reader) for rule in rules]


def _rule_row(rule: AlertRule, subject: Any, reader: User) -> RuleRow:
    """`subject`: the row that it is about; None: it is about all, or that is gone."""
    of, name = rule.of or 0, "" if subject is None else str(subject)
    is_there = rule.about == About.ANY or bool(name)
    return RuleRow(
        id=rule.pk,
        name=rule.name,
        kind=rule.get_kind_display(),
        condition=f"When {condition(rule)}.",
        subject="" if rule.about == About.ANY else _subject_name(rule.about, of, name),
        link=_subject_link(rule.about, subject) if name else "",
        missing="" if is_there else _SUBJECT_GONE[rule.about],
        tells=_recipients_text(rule, reader),
        rest=spoken(rule.rest),
        enabled=rule.enabled,
        is_own=rule.is_own,
    )


def _subject_name(about: str, of: int, name: str) -> str:
    if about == About.TWEET:
        return f"Tweet {of}"
    if not name:
        return f"{_KIND_WORDS.get(about, about)} {of}"
    return f"{_KIND_WORDS[about]} {name}" if about in _KIND_WORDS else name


def _subject_link(about: str, row: Any) -> str:
    """The page of what a rule is about; of a tag and a view, the list of their tweets."""
    if about == About.TAG:
        return f"{reverse('tweets')}?{urlencode({'tag': row.name})}"
    if about == About.VIEW:
        return f"{reverse('tweets')}?{row.query}"
    return reverse(about, args=[row.pk])


def _recipients_text(rule: AlertRule, reader: User) -> str:
    whom = [shown_address(one, reader) for one in rule.addresses]
    whom += [channel.name for channel in rule.channels.all()]
    whom += [*(["subscribers to alerts"] if rule.by_event else [])]
    return ", ".join(whom) or "none"


def notice_rows(
    notices: Iterable[AlertNotice],
    *,
    now: datetime,
    reader: User,
    read: int,
    most: int = LINES_MOST,
) -> list[NoticeRow]:
    """`read`: up to which the person has read them. `most`: at most this many lines of each."""
    notices = list(notices)
    texts = texts_of(
        int(line["of"])
        for notice in notices
        for line in notice.lines[:most]
        if line["kind"] == "tweet"
    )
    return [
        NoticeRow(
            id=notice.pk,
            at=ago(notice.at, now=now),
            kind=notice.kind,
            is_unread=notice.pk > read and notice.kind == AlertNotice.Kind.ALERT,
            name=notice.rule_name or "Built-in check",
            rule=notice.rule_id,
            lines=[
                NoticeLine(
                    line["what"],
                    line["url"],
                    line["state"] == "back",
                    bool(line.get("muted")),
                    texts.get(int(line["of"]), "") if line["kind"] == "tweet" else "",
                )
                for line in notice.lines[:most]
            ],
            more=notice.more + max(0, len(notice.lines) - most),
            more_link=_more_link(notice, most=most),
            body=notice.body,
            mails=[
                *(_mail_row(mail, reader, now=now) for mail in notice.mails.all()),
                *(_message_row(message, now=now) for message in notice.messages.all()),
            ],
        )
        for notice in notices
    ]


def _more_link(notice: AlertNotice, *, most: int) -> str:
    """The log has all lines that are kept; beyond these, what is so now."""
    if len(notice.lines) > most:
        return f"{reverse('alert-log')}?before={notice.pk + 1}"
    rule = notice.rule
    if rule and rule.kind == RuleKind.MILESTONE:
        return f"{reverse('tweets')}?min_{rule.metric}={rule.at}"
    if rule and rule.kind in (RuleKind.VELOCITY, RuleKind.USUAL):
        return f"{reverse('fastest')}?metric={rule.metric}"
    return ""


def _mail_row(mail: AlertMail, reader: User, *, now: datetime) -> MailRow:
    address = shown_address(mail.to, reader)
    # A mail server's own words often have it.
    error = mail.error.replace(mail.to, address)
    state, to = AlertMail.State, f"e-mail to {address}"
    if mail.state == state.SENT and mail.sent_at:
        return MailRow(to, "sent", "ready", ago(mail.sent_at, now=now), "")
    if mail.state == state.GIVEN_UP:
        return MailRow(to, "given up", "bad", None, error)
    again = ahead(mail.next_at, now=now) if mail.attempts else None
    return MailRow(to, "waits", "warn", again, error)


def _message_row(message: ChannelMessage, *, now: datetime) -> MailRow:
    state, to = ChannelMessage.State, f"message to {message.channel.name}"
    if message.state == state.SENT and message.sent_at:
        return MailRow(to, "sent", "ready", ago(message.sent_at, now=now), "")
    if message.state == state.GIVEN_UP:
        return MailRow(to, "given up", "bad", None, message.error)
    return MailRow(to, "waits", "warn", None, message.error)
