"""What happened to a tweet: a list beside its curve, whose numbers are marks on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from trackers.dashboards.tweets.curve import Curve
from trackers.dashboards.words import Moment, ago, commas
from trackers.milestones.models import Milestone
from trackers.tweets.anomalies import AnomalyKind, anomalies
from trackers.tweets.history import Run
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet

# The newest; a curve with more marks could not be read.
_MAX_ANNOTATIONS = 30


@dataclass(frozen=True, slots=True)
class Annotation:
    number: int  # that of its mark
    moment: Moment
    what: str
    by: str = ""  # who did it, if a person did


def annotations_of(
    tweet: Tweet, curve: Curve, *, since: datetime | None, now: datetime
) -> list[Annotation]:
    """In the order of time; nothing from before `since`, where the curve begins."""
    happenings = [
        *_dates_of_row(tweet),
        *_edits(tweet),
        *_milestones_reached(curve.runs),
        *_anomalies(curve),
        *_acts_of_people(tweet),
    ]
    inside = sorted(happening for happening in happenings if since is None or happening[0] >= since)
    return [
        Annotation(number, ago(at, now=now), what, by)
        for number, (at, what, by) in enumerate(inside[-_MAX_ANNOTATIONS:], 1)
    ]


def _dates_of_row(tweet: Tweet) -> Iterator[tuple[datetime, str, str]]:
    if tweet.created_at:
        yield tweet.created_at, "Posted on X", ""
    yield tweet.tracked_at, "Tracked from here on", ""
    if tweet.missing_since:
        never = tweet.measured_until is None
        yield tweet.missing_since, f"X {'did not show' if never else 'no longer showed'} it", ""
    if tweet.gone_at:
        why = tweet.get_missing_reason_display()
        yield tweet.gone_at, f"Gone: {why}" if why else "Gone", ""
    if tweet.unreadable_since:
        yield tweet.unreadable_since, "X's answers could not be read from here on", ""


def _edits(tweet: Tweet) -> Iterator[tuple[datetime, str, str]]:
    if not tweet.newest:
        return
    first = tweet.pk
    for version in tweet.versions.exclude(seen_at=None):
        if version.seen_at and version.pk != first:
            yield version.seen_at, "Edited: this version was first seen", ""


def _milestones_reached(runs: Sequence[Run]) -> Iterator[tuple[datetime, str, str]]:
    """Each milestone, when the tweet was first measured above it, having been measured below."""
    for milestone in Milestone.objects.shared():
        count_of = attrgetter(milestone.metric)
        before: int | None = None
        for run in runs:
            count = count_of(run)
            if before is not None and count is not None and before < milestone.at <= count:
                label = LABELS[milestone.metric].lower()
                yield run.taken_at, f"Reached {commas(milestone.at)} {label}", ""
                break
            before = count


def _anomalies(curve: Curve) -> Iterator[tuple[datetime, str, str]]:
    """Of those that are drawn: what came before the range is not known here."""
    for anomaly in anomalies(curve.runs, curve.holes):
        label, before, after = LABELS[anomaly.metric], commas(anomaly.before), commas(anomaly.after)
        if anomaly.kind is AnomalyKind.FELL:
            yield anomaly.at, f"{label} fell from {before} to {after}", ""
            continue
        name = "Second wave" if anomaly.kind is AnomalyKind.SECOND_WAVE else "Sudden stop"
        hours = f"{after} {label.lower()} in an hour, after {before} in the one before"
        yield anomaly.at, f"{name}: {hours}", ""


def _acts_of_people(tweet: Tweet) -> Iterator[tuple[datetime, str, str]]:
    """What people did to it alone, by the admin's history; found by its index adminlog_object."""
    kind = ContentType.objects.get_for_model(Tweet)
    acts = LogEntry.objects.filter(content_type=kind, object_id=str(tweet.pk))
    newest = acts.select_related("user").order_by("-action_time")[:_MAX_ANNOTATIONS]
    for act in newest:
        yield act.action_time, act.get_change_message(), act.user.get_username()
