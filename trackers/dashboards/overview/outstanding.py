"""The tweets that are far above what is usual for their authors, now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.utils.http import urlencode

from trackers.dashboards.charts.small import AgainstUsual, against_usual
from trackers.dashboards.overview.fastest import BoardChoice
from trackers.dashboards.parts import is_kiosk
from trackers.dashboards.scores import ScorePill, score_pill
from trackers.dashboards.words import Moment, ago, commas
from trackers.scores.models import EVERY_KIND, SCORE_METRICS, STANDS_OUT, Benchmark, Score
from trackers.scores.read import Scored, scores_of
from trackers.scores.rule import MINIMUMS
from trackers.tweets.checkpoints.ages import AGES
from trackers.tweets.checkpoints.read import checkpoints_of
from trackers.tweets.labels import LABELS
from trackers.tweets.models import METRICS, Tweet
from trackers.tweets.snowflake import born_at, first_id_at

# Nobody asks for more at a glance.
_MOST_LINES = 10
_PERIODS = {
    "1h": ("1 h", timedelta(hours=1)), "24h": ("24 h", timedelta(days=1)),
    "7d": ("7 d", timedelta(days=7)), "30d": ("30 d", timedelta(days=30)),
}  # fmt: skip
_DEFAULT_METRIC, _DEFAULT_PERIOD = "views", "24h"


@dataclass(frozen=True, slots=True)
class OutstandingLine:
    id: str
    author: str
    handle: str
    text: str
    kind: str
    born: Moment
    pill: ScorePill
    actual: str
    spark: AgainstUsual | None


@dataclass(frozen=True, slots=True)
class Outstanding:
    asked: str  # its query
    metric: str
    period: str
    metrics: tuple[BoardChoice, ...]
    periods: tuple[BoardChoice, ...]
    lines: tuple[OutstandingLine, ...]
    is_more: bool
    in_list: str  # the query of the page of tweets with all of them
    has_benchmarks: bool  # whether it is usual for anybody to be known


def outstanding_context(request: HttpRequest, *, now: datetime) -> dict[str, object]:
    metric = request.GET.get("of", "")
    metric = metric if metric in SCORE_METRICS else _DEFAULT_METRIC
    period = request.GET.get("posted", "")
    period = period if period in _PERIODS else _DEFAULT_PERIOD
    kiosk = {"kiosk": "1"} if is_kiosk(request) else {}
    tweets = _highest(metric, _PERIODS[period][1], now=now)
    lines = _lines([score.tweet for score in tweets[:_MOST_LINES]], metric, now=now)

    def query(metric: str = metric, period: str = period) -> str:
        return urlencode({"of": metric, "posted": period, **kiosk})

    return {
        "outstanding": Outstanding(
            asked=query(),
            metric=LABELS[metric],
            period=_PERIODS[period][0],
            metrics=tuple(
                BoardChoice(LABELS[name], query(metric=name), name == metric)
                for name in SCORE_METRICS
            ),
            periods=tuple(
                BoardChoice(words, query(period=name), name == period)
                for name, (words, _) in _PERIODS.items()
            ),
            lines=lines,
            is_more=len(tweets) > _MOST_LINES,
            in_list=urlencode({"sort": f"score-{metric}", "age": period}),
            has_benchmarks=bool(tweets) or Benchmark.objects.exists(),
        )
    }


def _highest(metric: str, posted: timedelta, *, now: datetime) -> list[Score]:
    """Read from the index of those that stand out, in its order; one more than are shown. Where
    next to nothing is expected, a tweet is soon far above it."""
    since = first_id_at(int((now - posted).timestamp() * 1000))
    enough = {f"{metric}__gte": STANDS_OUT, f"expected_{metric}__gte": MINIMUMS[metric]}
    return list(
        Score.objects.filter(**enough, tweet_id__gte=since, tweet__gone_at=None)
        .select_related("tweet__author", "tweet__tweettext")
        .order_by(f"-{metric}", "-tweet_id")[: _MOST_LINES + 1]
    )


def _lines(tweets: Sequence[Tweet], metric: str, *, now: datetime) -> tuple[OutstandingLine, ...]:
    ids = [tweet.pk for tweet in tweets]
    scores = {id: of_tweet.get(metric) for id, of_tweet in scores_of(ids).items()}
    grown = _curves(ids, metric)
    usual = _usual_of(tweets, scores, metric)
    lines = []
    for tweet in tweets:
        scored = scores[tweet.pk]
        pill = score_pill(scored)
        if scored is None or pill is None or not pill.words:
            continue
        lines.append(_line(tweet, scored, pill, grown[tweet.pk], usual.get(tweet.pk), now=now))
    return tuple(lines)


def _line(
    tweet: Tweet,
    scored: Scored,
    pill: ScorePill,
    grown: Sequence[tuple[timedelta, int]],
    usual: Sequence[float | None] | None,
    *,
    now: datetime,
) -> OutstandingLine:
    born = tweet.created_at or born_at(tweet.pk)
    text = getattr(tweet, "tweettext", None)
    who = tweet.author
    assert scored.actual is not None
    age = (tweet.measured_until or now) - born
    spark = against_usual(
        [*grown, (age, scored.actual)],
        list(zip(AGES, usual, strict=True)) if usual else (),
        until=(age, scored.expected),
        label=f"{LABELS[scored.metric]} since it was posted, now {commas(scored.actual)}; "
        f"{pill.usually}",
    )
    return OutstandingLine(
        id=str(tweet.pk),
        author=(who.name or str(who)) if who else f"Tweet {tweet.pk}",
        handle=f"@{who.username}" if who and who.username and who.name else "",
        text=text.text if text else "Its text is not known.",
        kind=text.get_kind_display().lower() if text and text.kind else "",
        born=ago(born, now=now),
        pill=pill,
        actual=commas(scored.actual),
        spark=spark,
    )


def _curves(ids: Iterable[int], metric: str) -> dict[int, list[tuple[timedelta, int]]]:
    """What each had at the ages that it passed."""
    return {
        id: [
            (age, count)
            for age, figures in of_tweet.items()
            if (count := getattr(figures, metric)) is not None
        ]
        for id, of_tweet in checkpoints_of(ids).items()
    }


def _usual_of(
    tweets: Sequence[Tweet], scores: Mapping[int, Scored | None], metric: str
) -> dict[int, Sequence[float | None]]:
    """What is expected of each tweet at each of AGES, by the posts with which it is compared."""
    authors = {tweet.author_id for tweet in tweets if tweet.author_id}
    made = {
        (row.author_id, row.kind): row.expected[METRICS.index(metric)]
        for row in Benchmark.objects.filter(author_id__in=authors)
    }
    usual: dict[int, Sequence[float | None]] = {}
    for tweet in tweets:
        scored = scores[tweet.pk]
        kind = scored.kind if scored and scored.kind else EVERY_KIND
        if by_age := made.get((tweet.author_id or 0, kind)):
            usual[tweet.pk] = by_age
    return usual
