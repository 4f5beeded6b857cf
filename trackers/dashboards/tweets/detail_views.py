"""The page of one tweet: its figures now, its curve, and every measurement behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.homes import buttons_for
from trackers.dashboards.parts import part_of, render_parts
from trackers.dashboards.scores import score_pill
from trackers.dashboards.set_links import set_of
from trackers.dashboards.tweet_rows import tweet_rows
from trackers.dashboards.tweets.annotations import annotations_of
from trackers.dashboards.tweets.asked import get_tweet, parse_curve_query
from trackers.dashboards.tweets.curve import (
    RANGES,
    VIEWS,
    Curve,
    amount,
    curve,
    describe_chart,
    steps_of,
)
from trackers.dashboards.tweets.growth import Step
from trackers.dashboards.tweets.next_check import (
    explain_next_check,
    version_mark,
    version_now,
    why_late,
)
from trackers.dashboards.tweets.outlook import outlook
from trackers.dashboards.words import commas, signed
from trackers.ingest.sources.models import SourceTweet
from trackers.schedule.intervals import Plan, current
from trackers.sets.kinds import SetKind
from trackers.standbys.requests import on_standby
from trackers.tweets.history import Run
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet, TweetVersion
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.names import offered_tags
from trackers.tweets.tags.tagging import tags_of
from tweetwatch.notation import day_of

_MAX_TABLE_ROWS = 200
# A longer text is scrolled in three lines, so that the chart is on the first screen.
_LONG_TEXT = 240
_REFERENCES = {
    "replied_to": "In reply to",
    "quoted": "Quotes",
    "retweeted": "Retweet of",
    "conversation_id": "Conversation",
}
# By the first part of X's media keys.
_MEDIA = {"3": "photo", "7": "video", "13": "video", "16": "GIF"}


@dataclass(frozen=True, slots=True)
class StepRow:
    """A row of the table of rates, or of days."""

    since: datetime  # of a day: when it began
    until: datetime | None
    values: tuple[str, ...]
    gap: bool


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str = ""
    is_post: bool = False  # `value` is the id of a post
    sets: tuple[tuple[str, str], ...] = ()  # instead: names of sets, and their pages


@require_safe
@needs(VIEW_TWEETS)
@on_standby
def tweet(request: HttpRequest, id: int) -> HttpResponse:
    """Its part `now` is what is new for a page that shows `version`; 204, which changes nothing, if
    there is nothing.

    Every tab asks this every few seconds: then the rows of the tweet, its job and its claim are all
    that is read.
    """
    is_tick = part_of(request) == "now"
    try:
        tweet = get_tweet(id)
    except Http404:
        if not is_tick and (of := _tweet_of_version(id)):
            return redirect("tweet", of)
        raise
    if is_tick and request.GET.get("version") == version_now(tweet):
        return HttpResponse(status=204)
    now, plan = current()
    return render_parts(
        request,
        "dashboards/tweets/detail.html",
        {"now": lambda: _tweet_context(request, tweet, plan, now=now)},
        shared={"now": now, "tweet": tweet},
        frame=lambda: _acts_context(request, tweet),
    )


def _acts_context(request: HttpRequest, tweet: Tweet) -> dict[str, Any]:
    """Its tags, and whether its author is followed: what a person may change beside it."""
    author = tweet.author_id
    return {
        "buttons": buttons_for(request.user, author_id=author) if author is not None else [],
        "tags": tags_of([tweet.pk]).get(tweet.pk, []),
        "offered": offered_tags() if request.user.has_perm("trackers.change_tweet") else [],
    }


def _tweet_context(
    request: HttpRequest, tweet: Tweet, plan: Plan, *, now: datetime
) -> dict[str, Any]:
    asked = parse_curve_query(request.GET, tweet, now=now)
    drawn = curve(tweet, plan, range=asked.range, now=now)
    steps = steps_of(tweet, drawn, asked.view)
    row = tweet_rows([tweet], plan, now=now)[0]
    why = why_late(row.due.at if row.due else None, row.state, now=now)
    return {
        "row": replace(row, version=row.version + version_mark(why)),
        "kind": _kind_of(tweet),
        "is_long": row.text is not None and len(row.text) + 80 * row.text.count("\n") > _LONG_TEXT,
        "labels": LABELS,
        "asked": asked,
        "chips": [(of, asked.toggled(of.metric), of.metric in asked.metrics) for of in row.figures],
        "other_scale": asked.address(scale="linear" if asked.is_log else "log"),
        "ranges": {name: (of.words, asked.address(range=name)) for name, of in RANGES.items()},
        "views": {name: (words, asked.address(view=name)) for name, words in VIEWS.items()},
        "told": describe_chart(tweet, drawn, steps, asked.view),
        "lacking": drawn.lacking,
        "lines": _run_rows(drawn) if asked.view == "totals" else [],
        "steps": _step_rows(steps, asked.view),
        "left_out": commas(max(0, len(steps or drawn.runs) - _MAX_TABLE_ROWS)),
        "more": len(steps or drawn.runs) > _MAX_TABLE_ROWS,
        "outlook": outlook(tweet, row.scores, now=now),
        "score": score_pill(row.scores.get(asked.metrics[0], row.scores.get("views"))),
        "happened": annotations_of(tweet, drawn, since=asked.since(now), now=now),
        "reason": explain_next_check(
            tweet,
            row.due.at if row.due else None,
            plan,
            now=now,
            waits_for_money=row.state.name == "no_money",
        ),
        "idle": why,
        "origins": origins(tweet.pk),
        "versions": _versions(tweet) if tweet.newest else [],
        "facts": _facts(tweet) if row.text is not None else [],
    }


def _kind_of(tweet: Tweet) -> str:
    """Such as photo; empty where it is not known, and of retweets."""
    text = getattr(tweet, "tweettext", None)
    return text.get_kind_display().lower() if text and text.kind else ""


def origins(id: int) -> list[SourceTweet]:
    """The sources that yielded the tweet."""
    rows = SourceTweet.objects.select_related("source").filter(tweet_id=id)
    return list(rows.order_by("seen_at"))


def _facts(tweet: Tweet) -> list[Fact]:
    """What else X says about it, if anything."""
    text = tweet.tweettext
    # Each post is listed once: a reply to the post that began the conversation names that already.
    posts = {getattr(text, name): label for name, label in reversed(_REFERENCES.items())}
    posts.pop(tweet.pk, None)
    media = [_MEDIA.get(key.partition("_")[0], "other") for key in text.media_keys or ()]
    return [
        *(Fact(label, str(id), is_post=True) for id, label in posts.items() if id),
        *_sets_named("Hashtags", SetKind.HASHTAG, text.hashtags, "#"),
        *_sets_named("Links to", SetKind.DOMAIN, text.domains),
        *([Fact("Media", ", ".join(media))] if media else []),
        *([Fact("Withheld", _withheld_text(tweet.withheld))] if tweet.withheld else []),
    ]


def _sets_named(label: str, kind: SetKind, names: list[str] | None, sign: str = "") -> list[Fact]:
    """Those in the text, each once."""
    sets = [(f"{sign}{name}", set_of(kind, name)) for name in dict.fromkeys(names or ())]
    return [Fact(label, sets=tuple(sets))] if sets else []


def _withheld_text(withheld: str) -> str:
    codes = [code for code in withheld.split() if code != "copyright"]
    # X's codes for all countries, and for copyright complaints.
    places = ["everywhere" if code in ("XX", "XY") else code for code in codes]
    why = " for copyright" if "copyright" in withheld.split() or "XY" in codes else ""
    return f"{', '.join(dict.fromkeys(places)) or 'somewhere'}{why}"


def _tweet_of_version(id: int) -> int | None:
    """The tweet that this is a version of."""
    if id > LARGEST_ID:
        return None
    return TweetVersion.objects.filter(pk=id).values_list("tweet_id", flat=True).first()


def _versions(tweet: Tweet) -> list[tuple[TweetVersion, bool]]:
    """All known versions of an edited tweet, newest first, and whether each was once tracked
    separately: its own page has those samples."""
    known = list(tweet.versions.order_by("-pk"))
    ids = [version.pk for version in known]
    followed = set(Tweet.objects.filter(pk__in=ids).values_list("pk", flat=True)) - {tweet.pk}
    return [(version, version.pk in followed) for version in known]


def _step_rows(steps: list[Step], view: str) -> list[StepRow]:
    """Newest first."""
    return [
        StepRow(
            since=day_of(step.until) if view == "days" else step.since,
            until=None if view == "days" else step.until,
            values=tuple(_change_text(amount(step, metric, view)) for metric in LABELS),
            gap=step.gap,
        )
        for step in steps[: -_MAX_TABLE_ROWS - 1 : -1]
    ]


def _change_text(number: float | None) -> str:
    return "–" if number is None else signed(round(number)) or "0"


def _run_rows(drawn: Curve) -> list[tuple[Run, list[str], bool]]:
    """The newest runs first: each with its counts, and whether there is a hole before it."""
    first = max(0, len(drawn.runs) - _MAX_TABLE_ROWS)
    return [
        (run, [commas(getattr(run, metric)) for metric in LABELS], first + place in drawn.holes)
        for place, run in enumerate(drawn.runs[first:])
    ][::-1]
