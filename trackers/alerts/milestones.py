"""Rules about milestones: one tweet by its figure, others by the events of `milestones`; and those
of a person's own by happenings (`happened`), so that they tell nobody else.

rule ─> Milestone, and its topic is watched ─> crossings, told by the save ─> the live feed ─> here
While such a rule exists, each save compares what it measured with the milestones, as it does for a
subscriber. Only the events of the last hour are kept: crossings that were not read for longer are
lost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import orjson

from trackers.alerts.membership import tweets_of_sets
from trackers.alerts.models import AlertRule
from trackers.alerts.places import AlertPlace
from trackers.alerts.velocity import SOURCES_MOST, author_names, tweet_finding
from trackers.events.delivery.formats import EventRow
from trackers.events.live.cursor import Cursor
from trackers.events.live.read import Wanted, first_read, newest_place, read_on
from trackers.events.live.watch import watch
from trackers.milestones.models import Milestone
from trackers.outbox.findings import Observation
from trackers.outbox.models import MILESTONES_TOPIC
from trackers.tweets.models import Tweet
from tweetwatch.database import array, cursor

logger = logging.getLogger(__name__)

# Reads of up to 500 events each; the rest waits for the next minute.
_READS_MOST = 10

# By their keys, whatever the statistics say.
_ORIGINS = f"""
    SELECT asked.id, t.author_id, ARRAY(
        SELECT source_id FROM trackers_sourcetweet WHERE tweet_id = asked.id LIMIT {SOURCES_MOST})
    FROM unnest(%(ids)s::bigint[]) AS asked(id) CROSS JOIN LATERAL (
        SELECT author_id FROM trackers_tweet WHERE id = asked.id LIMIT 1
    ) t
"""


def _of_one(rules: Iterable[AlertRule]) -> list[AlertRule]:
    return [one for one in rules if one.about == AlertRule.About.TWEET]


def reached_findings(rules: Sequence[AlertRule]) -> list[Observation]:
    """The observations of tweets with their own rule; each lasts until the figure falls again."""
    chosen = _of_one(rules)
    tweets = Tweet.objects.in_bulk([one.of for one in chosen if one.of is not None])
    observations = []
    for rule in chosen:
        tweet = tweets.get(rule.of or 0)
        figure = getattr(tweet, rule.metric) if tweet else None
        if figure is not None and figure >= rule.at:
            sentence = f"Tweet {rule.of} has reached {rule.at:,} {rule.metric}: it has {figure:,}."
            observations.append(tweet_finding(rule, rule.of or 0, sentence))
    return observations


def _make_milestones(rules: Iterable[AlertRule], *, is_own: bool = False) -> None:
    """Create milestones for the figures of these rules that have none yet."""
    wanted = [Milestone(metric=one.metric, at=one.at, is_own=is_own) for one in rules if one.at]
    Milestone.objects.bulk_create(wanted, ignore_conflicts=True)


def make_own_milestones(rules: Iterable[AlertRule]) -> None:
    """For rules of people's own; those that none asks for any more are deleted."""
    asking = [rule for rule in rules if reads_figures(rule)]
    wanted = {(rule.metric, rule.at) for rule in asking}
    unasked = [
        row.pk
        for row in Milestone.objects.filter(is_own=True)
        if (row.metric, row.at) not in wanted
    ]
    Milestone.objects.filter(pk__in=unasked).delete()
    if asking:
        _make_milestones(asking, is_own=True)
        watch([MILESTONES_TOPIC])


def reads_figures(rule: AlertRule) -> bool:
    """Whether it is a person's own about tweets that reach a figure, and not about one tweet."""
    is_milestone = rule.kind == AlertRule.Kind.MILESTONE
    return is_milestone and rule.is_own and rule.about != AlertRule.About.TWEET


def crossed_findings(
    rules: Sequence[AlertRule], *, now: datetime
) -> tuple[list[Observation], Cursor | None]:
    """What crossed since the last time, and how far was read, to be saved in the same transaction.

    None: there is no such rule, and nothing is watched.
    """
    chosen = [one for one in rules if one.about != AlertRule.About.TWEET and not one.is_own]
    if not chosen:
        return [], None
    _make_milestones(chosen)
    topics = watch([MILESTONES_TOPIC])
    events, reached = _read_events(Wanted(frozenset(topics.values())))
    return _findings_of(chosen, events, now=now), reached


def _read_events(wanted: Wanted) -> tuple[list[EventRow], Cursor]:
    kept = AlertPlace.objects.filter(pk=1).first()
    newest = newest_place()
    began = first_read(Cursor(kept.place, kept.nth) if kept else None)
    if began.gap:
        logger.warning("milestones before %s were not read for alerts", began.gap.kept_since)
    at, events = began.reached, []
    for _ in range(_READS_MOST):
        if at.place > newest:
            break
        part = read_on(at, wanted)
        events += [one for _, one in part.events]
        if part.reached == at:
            break
        at = part.reached
    return events, at


def store_place(at: Cursor | None) -> None:
    """None: the next rule starts with what comes then."""
    if at is None:
        AlertPlace.objects.all().delete()
        return
    AlertPlace.objects.update_or_create(pk=1, defaults={"place": at.place, "nth": at.nth})


def _findings_of(
    rules: Sequence[AlertRule], events: Sequence[EventRow], *, now: datetime
) -> list[Observation]:
    by_figure: dict[tuple[str, int], list[AlertRule]] = {}
    for rule in rules:
        by_figure.setdefault((rule.metric, rule.at), []).append(rule)
    crossed = [
        (one.tweet_id, data, by_figure[figure])
        for one in events
        if one.tweet_id is not None
        and (data := _data_of(one))
        and (figure := (str(data["metric"]), int(data["at"]))) in by_figure
    ]
    origins = origins_of(tweet for tweet, _, _ in crossed)
    authors = author_names({author for author, _ in origins.values() if author is not None})
    candidates: dict[int, set[int]] = {}
    for tweet, _, wanted in crossed:
        for rule in wanted:
            candidates.setdefault(rule.pk, set()).add(tweet)
    theirs = tweets_of_sets(rules, candidates, now=now)
    observations: dict[str, Observation] = {}
    for tweet, data, wanted in crossed:
        if tweet not in origins:
            continue  # Untracked meanwhile.
        author, sources = origins[tweet]
        for rule in wanted:
            if tweet in theirs[rule.pk] if rule.pk in theirs else is_of(rule, author, sources):
                whose = f" of {authors[author]}" if author in authors else ""
                sentence = (
                    f"Tweet {tweet}{whose} has reached {rule.at:,} {rule.metric}: "
                    f"it has {int(data['value']):,}."
                )
                finding = tweet_finding(rule, tweet, sentence, is_moment=True)
                observations[finding.key] = finding
    return list(observations.values())


def is_of(rule: AlertRule, author: int | None, sources: Sequence[int]) -> bool:
    match rule.about:
        case AlertRule.About.AUTHOR:
            return author == rule.of
        case AlertRule.About.SOURCE:
            return rule.of in sources
    return True


def _data_of(told: EventRow) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(told.data) if told.data else {}
    return data if {"metric", "at", "value"} <= data.keys() else {}


def origins_of(tweets: Iterable[int]) -> dict[int, tuple[int | None, list[int]]]:
    """The author and the sources of each that is still tracked."""
    ids = sorted(set(tweets))
    if not ids:
        return {}
    with cursor() as db:
        rows = db.execute(_ORIGINS, {"ids": array(ids)})
        return {id: (author, sources) for id, author, sources in rows}
