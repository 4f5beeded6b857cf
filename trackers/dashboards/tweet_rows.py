"""Tweets as rows of a table: everything shown of fifty of them takes four queries."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from html import escape

from django.utils.safestring import SafeString
from django.utils.text import Truncator

from trackers.dashboards.charts.small import Sparkline, sparkline
from trackers.dashboards.post_texts import linked_text, text_and_links
from trackers.dashboards.scores import score_cell
from trackers.dashboards.words import Moment, ago, commas, due, signed
from trackers.jobs import queue
from trackers.schedule.intervals import Plan, usual_interval
from trackers.scores.read import Scored, main_score, scores_of
from trackers.timelines.homes.page import Embedded
from trackers.tweets.displayed import StoredLinks
from trackers.tweets.history import Run
from trackers.tweets.labels import LABELS
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.series import Usual, holes, recent_runs
from trackers.tweets.snowflake import born_at, has_time
from trackers.updater.models import TweetUpdate
from trackers.updater.states import TweetState, tweet_state
from tweetwatch.notation import exactly

RUNS_DRAWN = 32
# Characters of a text, including the ellipsis.
_EXCERPT = 280


@dataclass(frozen=True, slots=True)
class Figure:
    """One count as it is stored, empty where it is unknown; how much the last change moved it."""

    metric: str
    label: str
    exact: str
    value: str
    delta: str
    falls: bool


@dataclass(frozen=True, slots=True)
class TweetRow:
    """A tweet as the list shows it."""

    id: str
    author: str
    handle: str
    initial: str
    hue: int
    text: str | None
    links: StoredLinks  # in the text
    born: Moment | None
    state: TweetState
    figures: tuple[Figure, ...]
    score: SafeString  # its cell
    scores: Mapping[str, Scored]  # by metric
    since: str
    spark: Sparkline | None
    checked: Moment | None
    due: Moment | None
    asking: bool
    was_shown: bool  # whether X ever showed it to us
    first_seen: str = ""  # which parts are shown as first seen, and differ today
    # A cell of what it gained, in lists that are sorted by that.
    gain: str = ""
    # Of the list that has a column for them.
    tags: tuple[str, ...] = ()
    # For the link to the author's page; empty while X has not said whose it is.
    author_id: str = ""
    # Changes with anything except the passing of time.
    version: str = field(default="", compare=False)

    @property
    def excerpt(self) -> str:
        text, _ = text_and_links(self.text or "", self.links)
        return text if len(text) <= _EXCERPT else Truncator(text).chars(_EXCERPT)

    @property
    def link_line(self) -> SafeString:
        """The links in the text, which is a link itself."""
        return text_and_links(self.text or "", self.links)[1]

    @property
    def linked_text(self) -> SafeString:
        return linked_text(self.text or "", self.links)

    @property
    def why_first_seen(self) -> str:
        are = "are" if " and " in self.first_seen else "is"
        return (
            f"The {self.first_seen} {are} shown as first seen. "
            "Open the tweet to read it as it is now."
        )

    @property
    def listed_version(self) -> str:
        """What is usual may change while the tweet stays as it is."""
        return f"{self.version}{zlib.crc32(self.score.encode()):08x}"

    @property
    def cells(self) -> SafeString:
        """A table cell for each figure."""
        return SafeString("\n  ".join([figure_cell(figure, self.since) for figure in self.figures]))


def texts_of(ids: Iterable[int]) -> dict[int, str]:
    """Without those that X no longer shows."""
    shown = TweetText.objects.filter(tweet__gone_at=None, tweet__missing_since=None)
    chosen = set(ids)
    return {text.pk: text.displayed for text in shown.filter(tweet__in=chosen)} if chosen else {}


def tweet_rows(
    tweets: Sequence[Tweet],
    plan: Plan,
    *,
    now: datetime,
    embedded: Mapping[int, Embedded] | None = None,
    score_of: str = "",
) -> list[TweetRow]:
    """With the score of the metric `score_of`, or of what each is first judged by."""
    first_seen = embedded or {}
    ids = [tweet.pk for tweet in tweets]
    jobs = TweetUpdate.objects.in_bulk(ids)
    claims = queue.claims(TweetUpdate.queue, ids)
    runs = recent_runs(ids, most=RUNS_DRAWN)
    scores = scores_of(ids)
    made = [
        _tweet_row(
            tweet,
            jobs.get(tweet.pk),
            runs.get(tweet.pk, []),
            usual_interval(tweet, plan),
            scores[tweet.pk],
            score_of,
            claimed_until=claims.get(tweet.pk),
            now=now,
        )
        for tweet in tweets
    ]
    return [
        _as_first_seen(row, first_seen[id]) if id in first_seen else row
        for id, row in zip(ids, made, strict=True)
    ]


def _as_first_seen(row: TweetRow, embedded: Embedded) -> TweetRow:
    """With what the home stored instead of the current text and name; never for hidden tweets."""
    if row.text is None:
        return row
    text, author = embedded.text or row.text, embedded.author or row.author
    differ = [name for name, is_other in
              (("text", text != row.text), ("name", author != row.author)) if is_other]  # fmt: skip
    if not differ:
        return row
    version = f"{row.version}{zlib.crc32(repr((text, author)).encode()):08x}"
    return replace(row, text=text, author=author, first_seen=" and ".join(differ), version=version)


def _tweet_row(
    tweet: Tweet,
    job: TweetUpdate | None,
    runs: Sequence[Run],
    step: Usual,
    scores: Mapping[str, Scored],
    score_of: str,
    *,
    claimed_until: datetime | None,
    now: datetime,
) -> TweetRow:
    state = tweet_state(tweet, job)
    who = tweet.author
    name = (who.name or who.username or f"author {who.pk}") if who else f"Tweet {tweet.pk}"
    text = getattr(tweet, "tweettext", None)
    score = score_cell(main_score(scores, score_of))
    born = tweet.created_at or (born_at(tweet.pk) if has_time(tweet.pk) else None)
    return TweetRow(
        id=str(tweet.pk),
        author=name,
        handle=f"@{who.username}" if who and who.username else "",
        initial=name[:1].upper() if who and (who.name or who.username) else "?",
        hue=(who.pk if who else 0) % 6,
        text=text.text if text and not tweet.gone_at else None,
        links=text.links if text and not tweet.gone_at else None,
        born=ago(born, now=now) if born else None,
        state=state,
        figures=_figures(tweet, runs),
        since=f"since {exactly(runs[-2].measured_until)}" if len(runs) > 1 else "",
        spark=sparkline(runs, holes(runs, step), LABELS),
        checked=ago(tweet.measured_until, now=now) if tweet.measured_until else None,
        due=due(job.due_at, now=now) if job and state.is_scheduled else None,
        asking=claimed_until is not None and claimed_until > now,
        author_id=str(who.pk) if who else "",
        was_shown=tweet.measurements > 0 or who is not None,
        score=score,
        scores=scores,
        version=row_version(tweet, job, text and text.text, claimed_until),
    )


def row_version(
    tweet: Tweet, job: TweetUpdate | None, text: str | None, claimed_until: datetime | None
) -> str:
    facts = (
        tweet.measured_until, tweet.counts(), tweet.missing_reason, tweet.gone_at, tweet.paused,
        job and (job.due_at, claimed_until, job.strikes), text, str(tweet.author),
        tweet.unreadable_since, tweet.unreadable_reason, tweet.newest, tweet.version_of,
        tweet.withheld,
    )  # fmt: skip
    return f"{zlib.crc32(repr(facts).encode()):08x}"


def _figures(tweet: Tweet, runs: Sequence[Run]) -> tuple[Figure, ...]:
    """The newest figures as they are stored, and how the newest run changed them."""
    before = runs[-2] if len(runs) > 1 else None
    return tuple(_figure(metric, tweet, before) for metric in LABELS)


def _figure(metric: str, tweet: Tweet, before: Run | None) -> Figure:
    value = getattr(tweet, metric)
    was = getattr(before, metric) if before else None
    moved = value - was if value is not None and was is not None else 0
    return Figure(
        metric=metric,
        label=LABELS[metric],
        exact="" if value is None else str(value),
        value=commas(value) if value is not None else "–",
        delta=signed(moved),
        falls=moved < 0,
    )


def figure_cell(figure: Figure, since: str) -> str:
    """Its table cell."""
    metric, label = escape(figure.metric), escape(figure.label)
    # A card leaves it out.
    zero = "" if figure.exact.strip("0") or figure.delta else " zero"
    delta = ""
    if figure.delta:
        falls = " falls" if figure.falls else ""
        moved, title = escape(figure.delta), escape(since)
        delta = f'<small class="delta{falls}" title="{title}">{moved}</small>'
    return (
        f'<td class="figure {metric}{zero}" data-label="{label}" data-metric="{metric}">'
        f'<data value="{escape(figure.exact)}">{escape(figure.value)}</data>{delta}</td>'
    )
