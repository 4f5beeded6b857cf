"""Rules about silence: an author, or a source, of whom nothing new has come for long.

rule ─> the newest post of its author or source, by an index ─> how long ago ─> observation
It is silence only as far as somebody listens: until a source was last read, and not while it is
paused. An author is read by the sources of that account, if there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trackers.alerts.models import AlertRule
from trackers.alerts.velocity import author_names
from trackers.alerts.words import lasting
from trackers.ingest.sources.models import Source, SourceTweet
from trackers.ingest.stream.models import Stream
from trackers.jobs import pausing
from trackers.outbox.findings import NO_PATIENCE, Observation
from trackers.tweets.models import Tweet
from trackers.tweets.snowflake import born_at
from tweetwatch.database import array, cursor

_AUTHOR, _SOURCE = AlertRule.About.AUTHOR, AlertRule.About.SOURCE
_NEWEST = """
    SELECT rule.id, CASE rule.about
        WHEN 'author' THEN (
            SELECT id FROM trackers_tweet WHERE author_id = rule.of ORDER BY id DESC LIMIT 1)
        ELSE (
            SELECT tweet_id FROM trackers_sourcetweet
            WHERE source_id = rule.of ORDER BY tweet_id DESC LIMIT 1)
        END
    FROM unnest(%(rules)s::bigint[], %(abouts)s::text[], %(ofs)s::bigint[]) AS rule(id, about, of)
"""


@dataclass(frozen=True, slots=True)
class Silence:
    """`until` None: it lasts."""

    alert_at: datetime
    until: datetime | None


def quiet_findings(
    rules: Sequence[AlertRule], *, now: datetime
) -> tuple[list[Observation], set[int]]:
    """The observations, and which rules were judged: nobody listens for the others now."""
    if not rules or pausing.paused_all():
        return [], set()
    listened, names = _listened_until(rules, now=now), names_of(rules)
    newest_of = _newest_post_of(rules)
    observations, judged = [], set()
    for rule in rules:
        until, name = listened.get(rule.pk), names.get(rule.pk)
        if until is None or name is None:
            continue
        judged.add(rule.pk)
        newest = newest_of[rule.pk]
        if newest is not None:
            silence = until - born_at(newest)
            wrong = quiet_sentence(name, silence)
            observations.append(
                Observation(
                    *(rule.about, str(rule.of), wrong if silence >= rule.lasting else ""),
                    *(f"Posts come from {name} again.", page_of(rule)),
                    rule=rule.pk,
                    patience=NO_PATIENCE,
                    rest=rule.rest,
                    is_event=rule.by_event,
                    data={"rule": rule.name},
                )
            )
    return observations, judged


def quiet_sentence(name: str, silence: timedelta) -> str:
    return f"Nothing new has come from {name} for {lasting(silence)}."


def page_of(rule: AlertRule) -> str:
    return f"/{rule.about}s/{rule.of}/"


def _newest_post_of(rules: Sequence[AlertRule]) -> dict[int, int | None]:
    """By rule."""
    params = {
        "rules": array(rule.pk for rule in rules),
        "abouts": array(rule.about for rule in rules),
        "ofs": array(rule.of for rule in rules),
    }
    with cursor() as db:
        return dict(db.execute(_NEWEST, params).fetchall())


def newest_posts(rule: AlertRule, *, most: int) -> list[int]:
    """Of its author or source, the newest first: by their ids, which tell when they were posted."""
    if rule.about == _AUTHOR:
        tweets = Tweet.objects.filter(author=rule.of).order_by("-id")
        return list(tweets.values_list("id", flat=True)[:most])
    yields = SourceTweet.objects.filter(source=rule.of).order_by("-tweet_id")
    return list(yields.values_list("tweet_id", flat=True)[:most])


def names_of(rules: Iterable[AlertRule]) -> dict[int, str]:
    """Of what each is about, by rule; none where that is gone."""
    ofs = {
        about: {rule.of for rule in rules if rule.about == about} for about in (_AUTHOR, _SOURCE)
    }
    authors = author_names({id for id in ofs[_AUTHOR] if id is not None})
    sources = {id: str(one) for id, one in Source.objects.in_bulk(ofs[_SOURCE]).items()}
    named = {_AUTHOR: authors, _SOURCE: sources}
    found = {rule.pk: named[AlertRule.About(rule.about)].get(rule.of or 0) for rule in rules}
    return {rule: name for rule, name in found.items() if name}


def _listened_until(rules: Sequence[AlertRule], *, now: datetime) -> dict[int, datetime]:
    """By rule; those to whom nobody listens now are missing."""
    heard_at = Stream.objects.values_list("heard_at", flat=True).first()
    sources = Source.objects.in_bulk([rule.of for rule in rules if rule.about == _SOURCE])
    authors = [rule.of for rule in rules if rule.about == _AUTHOR]
    of_authors: dict[int, list[Source]] = {}
    for source in Source.objects.filter(kind=Source.Kind.ACCOUNT, account_id__in=authors):
        of_authors.setdefault(source.account_id or 0, []).append(source)

    def until(source: Source) -> datetime | None:
        if source.paused_at or source.hidden_reason:
            return None
        return heard_at if source.kind == Source.Kind.STREAM else source.polled_at

    listened = {}
    for rule in rules:
        if rule.about == _AUTHOR:
            read = of_authors.get(rule.of or 0)
            untils = [until(source) for source in read] if read else [now]
        else:
            untils = [until(sources[rule.of])] if rule.of in sources else []
        if known := [one for one in untils if one is not None]:
            listened[rule.pk] = min(max(known), now)
    return listened


def silences(rule: AlertRule, posts: Sequence[int], *, now: datetime) -> list[Silence]:
    """Those that were long enough, by posts that are the newest first."""
    ends: list[datetime | None] = [None, *(born_at(post) for post in posts)]
    found = []
    for began, until in zip((born_at(post) for post in posts), ends, strict=False):
        if began + rule.lasting <= (until or now):
            found.append(Silence(began + rule.lasting, until))
    return found
