"""The page of one tweet: its figures now, its curve, and every measurement behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.exports import as_file
from trackers.dashboards.follow_buttons import buttons_for
from trackers.dashboards.parts import part_of, show
from trackers.dashboards.tweet_rows import LABELS, rows
from trackers.dashboards.tweets.curve import (
    POINTS_LEAST,
    POINTS_MOST,
    RANGES,
    VIEWS,
    Curve,
    amount,
    curve,
    marked,
    of_runs,
    of_steps,
    series,
    shaded,
    stepped,
    told,
    told_in_steps,
)
from trackers.dashboards.tweets.happened import happened
from trackers.dashboards.tweets.next_look import mark, reason, version_now, why_late
from trackers.dashboards.tweets.outlook import bands_of, outlook
from trackers.dashboards.tweets.steps import Step, day_of, days, rates
from trackers.dashboards.words import Moment, ago, counted, exactly, signed
from trackers.ingest.sources.models import SourceTweet
from trackers.schedule.intervals import Plan, current
from trackers.tweets.history import Run
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.names import offered
from trackers.tweets.tags.tagging import tags_of

TABLE_MOST = 200
# Whose curves are drawn unless the address says otherwise.
DRAWN = ("impressions", "likes", "retweets")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: a run, or the hole before it."""

    taken: Moment
    until: Moment
    measurements: str
    values: tuple[str, ...]
    after_hole: bool


@dataclass(frozen=True, slots=True)
class StepLine:
    """A row of the table of rates, or of days."""

    when: str
    at: datetime
    until: str
    values: tuple[str, ...]
    gap: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for of the curve; nonsense is ignored."""

    range: str
    view: str
    is_log: bool
    metrics: str | None

    def address(self, *, range: str | None = None, view: str | None = None) -> str:
        """The query of the same page with another range or view."""
        given = {
            "range": range or self.range,
            "view": view if (view := view or self.view) != "totals" else None,
            "scale": "log" if self.is_log else None,
            "metrics": self.metrics,
        }
        return urlencode({name: value for name, value in given.items() if value is not None})

    @property
    def shown_metrics(self) -> list[str]:
        """Whose curves are drawn at first: by name, with blanks between."""
        if self.metrics is None:
            return list(DRAWN)
        return [one for one in LABELS if one in self.metrics.split()]

    def since(self, now: datetime) -> datetime | None:
        """Where its range begins."""
        length = RANGES[self.range]
        return now - length if length else None


@dataclass(frozen=True, slots=True)
class Origin:
    """A source that yielded the tweet."""

    id: int
    name: str
    seen: Moment
    late: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """`is_post`: `value` is the id of a post."""

    label: str
    value: str
    is_post: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """What the tweet said; `text` is None if X never showed us this version, or no longer does.

    `followed`: the version was once tracked separately, and its own page has those samples.
    """

    id: str
    text: str | None
    seen: Moment | None
    followed: bool


@require_safe
@needs(TWEETS)
def tweet(request: HttpRequest, id: int) -> HttpResponse:
    """Its part `now` is what is new for a page that shows `version`; 204, which changes nothing, if
    there is nothing.

    Every tab asks this every few seconds: then the rows of the tweet, its job and its claim are all
    that is read.
    """
    is_tick = part_of(request) == "now"
    try:
        found = find(id)
    except Http404:
        if not is_tick and (of := tweet_of_version(id)):
            return redirect("tweet", of)
        raise
    if is_tick and request.GET.get("version") == version_now(found):
        return HttpResponse(status=204)
    now, plan = current()
    return show(
        request,
        "dashboards/tweets/detail.html",
        {"now": lambda: shown(request, found, plan, now=now)},
        shared={"now": now, "tweet": found},
        frame=lambda: acts_of(request, found),
    )


def acts_of(request: HttpRequest, tweet: Tweet) -> dict[str, Any]:
    """Its tags, and whether its author is followed: what a person may change beside it."""
    author = tweet.author_id
    return {
        "buttons": buttons_for(request.user, author_id=author) if author is not None else [],
        "tags": tags_of([tweet.pk]).get(tweet.pk, []),
        "offered": offered() if request.user.has_perm("trackers.change_tweet") else [],
    }


def shown(request: HttpRequest, found: Tweet, plan: Plan, *, now: datetime) -> dict[str, Any]:
    asked = asked_of(request)
    drawn = curve(found, plan, range=asked.range, now=now)
    steps = steps_of(found, drawn, asked.view)
    row = rows([found], plan, now=now)[0]
    why = why_late(row.due.at if row.due else None, row.state, now=now)
    return {
        "row": replace(row, version=row.version + mark(why)),
        "labels": LABELS,
        "asked": asked,
        "ranges": {name: asked.address(range=name) for name in RANGES},
        "views": {name: (words, asked.address(view=name)) for name, words in VIEWS.items()},
        "told": told_in_steps(steps, asked.view) if steps else told(drawn.runs, drawn.holes),
        "lines": lines(drawn, now=now) if asked.view == "totals" else [],
        "steps": step_lines(steps, asked.view),
        "left_out": counted(max(0, len(steps or drawn.runs) - TABLE_MOST)),
        "more": len(steps or drawn.runs) > TABLE_MOST,
        "outlook": outlook(found, now=now),
        "happened": happened(found, drawn.runs, since=asked.since(now), now=now),
        "reason": reason(
            found,
            row.due.at if row.due else None,
            plan,
            now=now,
            waits_for_money=row.state.name == "no_money",
        ),
        "idle": why,
        "origins": origins(found.pk, now=now),
        "versions": versions(found, now=now) if found.newest else [],
        "facts": facts(found) if row.text is not None else [],
        "tracked": ago(found.tracked_at, now=now),
        "gone": ago(found.gone_at, now=now) if found.gone_at else None,
        "missing": ago(found.missing_since, now=now) if found.missing_since else None,
        "unclear": ago(found.unclear_since, now=now)
        if found.unclear_since and row.state.name == "unclear"
        else None,
    }


def find(id: int) -> Tweet:
    try:
        return Tweet.objects.select_related("author", "tweettext").get(pk=id)
    except (Tweet.DoesNotExist, OverflowError):
        raise Http404(f"Tweet {id} is not tracked.") from None


def origins(id: int, *, now: datetime) -> list[Origin]:
    found = SourceTweet.objects.select_related("source").filter(tweet_id=id).order_by("seen_at")
    return [
        Origin(one.source_id, str(one.source), ago(one.seen_at, now=now), one.late) for one in found
    ]


REFERENCES = {
    "replied_to": "In reply to",
    "quoted": "Quotes",
    "retweeted": "Retweet of",
    "conversation_id": "Conversation",
}
# By the first part of X's media keys.
MEDIA = {"3": "photo", "7": "video", "13": "video", "16": "GIF"}


def facts(tweet: Tweet) -> list[Fact]:
    """What else X says about it, if anything."""
    text = tweet.tweettext
    # Each post is listed once: a reply to the post that began the conversation names that already.
    posts = {getattr(text, name): label for name, label in reversed(REFERENCES.items())}
    posts.pop(tweet.pk, None)
    media = [MEDIA.get(key.partition("_")[0], "other") for key in text.media_keys or ()]
    return [
        *(Fact(label, str(id), is_post=True) for id, label in posts.items() if id),
        *([Fact("Media", ", ".join(media))] if media else []),
        *([Fact("Withheld", withheld_in(tweet.withheld))] if tweet.withheld else []),
    ]


def withheld_in(told: str) -> str:
    codes = [code for code in told.split() if code != "copyright"]
    # X's codes for all countries, and for copyright complaints.
    places = ["everywhere" if code in ("XX", "XY") else code for code in codes]
    why = " for copyright" if "copyright" in told.split() or "XY" in codes else ""
    return f"{', '.join(dict.fromkeys(places)) or 'somewhere'}{why}"


def tweet_of_version(id: int) -> int | None:
    """The tweet that this is a version of."""
    if id > LARGEST_ID:
        return None
    return TweetVersion.objects.filter(pk=id).values_list("tweet_id", flat=True).first()


def versions(tweet: Tweet, *, now: datetime) -> list[Version]:
    """All known versions of an edited tweet, newest first."""
    known = list(tweet.versions.order_by("-pk"))
    ids = [one.pk for one in known]
    followed = set(Tweet.objects.filter(pk__in=ids).values_list("pk", flat=True)) - {tweet.pk}
    return [
        Version(
            str(one.pk),
            None if tweet.gone_at else one.text,
            ago(one.seen_at, now=now) if one.seen_at else None,
            one.pk in followed,
        )
        for one in known
    ]


def asked_of(request: HttpRequest) -> Asked:
    range, view = request.GET.get("range", ""), request.GET.get("view", "")
    return Asked(
        range=range if range in RANGES else "all",
        view=view if view in VIEWS else "totals",
        is_log=request.GET.get("scale") == "log",
        metrics=request.GET.get("metrics"),
    )


def steps_of(tweet: Tweet, drawn: Curve, view: str) -> list[Step]:
    """None for the view of totals."""
    if view == "days":
        return days(drawn.runs, drawn.holes, born=tweet.created_at)
    return rates(drawn.runs, drawn.holes) if view == "rate" else []


def step_lines(steps: list[Step], view: str) -> list[StepLine]:
    """Newest first."""
    return [
        StepLine(
            when=f"{day_of(step.until):%Y-%m-%d}" if view == "days" else exactly(step.since),
            at=day_of(step.until) if view == "days" else step.since,
            until="" if view == "days" else exactly(step.until),
            values=tuple(change(amount(step, metric, view)) for metric in LABELS),
            gap=step.gap,
        )
        for step in steps[: -TABLE_MOST - 1 : -1]
    ]


def change(number: float | None) -> str:
    return "–" if number is None else signed(round(number)) or "0"


def lines(drawn: Curve, *, now: datetime) -> list[Line]:
    """Newest runs first."""
    first = max(0, len(drawn.runs) - TABLE_MOST)
    return [
        line(run, after_hole=first + place in drawn.holes, now=now)
        for place, run in enumerate(drawn.runs[first:])
    ][::-1]


def line(run: Run, *, after_hole: bool, now: datetime) -> Line:
    values = (getattr(run, metric) for metric in LABELS)
    return Line(
        taken=ago(run.taken_at, now=now),
        until=ago(run.measured_until, now=now),
        measurements=counted(run.measurements),
        values=tuple("–" if value is None else counted(value) for value in values),
        after_hole=after_hole,
    )


@require_safe
@needs(TWEETS)
def series_json(request: HttpRequest, id: int) -> JsonResponse:
    found = find(id)
    now, plan = current()
    asked = asked_of(request)
    drawn = curve(found, plan, range=asked.range, now=now)
    if asked.view == "totals":
        made = series(found, drawn, range=asked.range, points=asked_points(request))
        if drawn.runs:
            since, until = drawn.runs[0].taken_at, drawn.runs[-1].measured_until
            made["usual"] = shaded(found, bands_of(found, since, until, now=now))
    else:
        steps = steps_of(found, drawn, asked.view)
        made = stepped(found, steps, range=asked.range, view=asked.view)
    made["marks"] = marked(happened(found, drawn.runs, since=asked.since(now), now=now))
    return JsonResponse(made, headers={"Cache-Control": "no-store"})


def asked_points(request: HttpRequest) -> int:
    asked = request.GET.get("points", "")
    points = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else POINTS_MOST
    return max(POINTS_LEAST, min(points, POINTS_MOST))


@require_safe
@needs(TWEETS)
def samples_file(request: HttpRequest, id: int, form: str) -> HttpResponseBase:
    """What the table shows, all of it: without a query the whole history, a line per run, as
    `manage.py export samples` writes it."""
    found = find(id)
    now, plan = current()
    asked = asked_of(request)
    drawn = curve(found, plan, range=asked.range, now=now)
    if asked.view == "totals":
        return as_file(request, of_runs(found, drawn.runs), form)
    return as_file(request, of_steps(found, steps_of(found, drawn, asked.view), asked.view), form)
