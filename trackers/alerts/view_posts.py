"""What a digest says of saved views: the strongest of their latest posts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime

from django.contrib.auth.models import User

from trackers.alerts.report import NOT_THERE, TOOK_TOO_LONG, PostRow, Report, post_rows
from trackers.listing.query import NEWEST_FIRST, Sort, TweetQuery
from trackers.listing.saved import parse_view
from trackers.listing.search import next_ids
from trackers.listing.sorts import Unsorted, ordered_ids
from trackers.saved_views.models import SavedView
from trackers.scores.read import Scored, scores_of
from trackers.scores.words import score_words
from trackers.tweets.finding.direction import Direction
from trackers.tweets.models import Tweet
from tweetwatch import notation
from tweetwatch.time_limits import TookTooLong

_METRIC = "views"
_MOST_POSTS = 5
# Gone ones among them are left out.
_MOST_READ = 20


def reports_on_views(
    ids: Sequence[int], user: User, *, since: date, now: datetime
) -> Iterator[Report]:
    """Of each, in this order; what is gone, or not shared with the person any more, says so."""
    seen = {view.pk: view for view in SavedView.objects.seen_by(user).filter(pk__in=ids)}
    for id in ids:
        view = seen.get(id)
        yield _report_on(view, since, now=now) if view else Report("A saved view", NOT_THERE)


def _report_on(view: SavedView, since: date, *, now: datetime) -> Report:
    """Of what was posted from that day on, by the reader's clock; the score decides."""
    asked = parse_view(view.query)
    asked = replace(asked, since=max(filter(None, (asked.since, since))))
    path = f"/sets/view/{view.pk}/"
    try:
        ids, order = _strongest(asked, now=now)
        posts = _strongest_rows(ids)
    except TookTooLong:
        return Report(view.title, TOOK_TOO_LONG, path)
    day = notation.day_and_month(notation.midnight(since, notation.zone()))
    about = f"Posted since {day}, {order}." if posts else f"Nothing was posted since {day}."
    return Report(view.title, about, path, posts=posts)


def _strongest(asked: TweetQuery, *, now: datetime) -> tuple[list[int], str]:
    """Their ids, and in which order: where too many match to be sorted, the newest."""
    by_score = replace(asked, sort=Sort("score", _METRIC))
    order = ordered_ids(by_score, most=_MOST_READ, now=now)
    if not isinstance(order, Unsorted):
        return order.ids[:_MOST_READ], "the strongest first"
    newest = replace(asked, sort=NEWEST_FIRST)
    return next_ids(newest, Direction(), _MOST_READ, now=now).ids, "the newest first"


def _strongest_rows(ids: Sequence[int]) -> tuple[PostRow, ...]:
    there = Tweet.objects.filter(gone_at=None).in_bulk(ids)
    tweets = [there[id] for id in ids if id in there][:_MOST_POSTS]
    scores = scores_of([tweet.pk for tweet in tweets])
    return post_rows(
        (tweet.pk, tweet.author_id, _counted(tweet.views, scores[tweet.pk].get(_METRIC)))
        for tweet in tweets
    )


def _counted(views: int | None, scored: Scored | None) -> str:
    counted = "not measured yet" if views is None else f"{views:,} views"
    if scored is None or scored.score is None:
        return counted
    return f"{counted}, {score_words(scored.score)} what is usual"
