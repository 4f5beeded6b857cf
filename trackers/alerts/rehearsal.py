"""What a rule that is not saved yet would have raised in the last day.

velocity ─> the heads of the lists · milestone ─> happenings, and what gained most in a day
usual ─> how far scores rose · fell, second wave, gone ─> happenings
words ─> the newest texts · quiet ─> the newest posts · what lasts ─> the log of rules like it
                    └─> those of its subject ─> Fire, by its pause ─> how many messages a day
None of it costs more with more tweets: what is kept is bounded, and its first thousands are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Min, Q

from trackers.alerts.happened import happened_since, verb_of
from trackers.alerts.kinds import RuleKind
from trackers.alerts.membership import ABOUT_SETS, LOOKED_MOST, searched_as, tweets_of_sets
from trackers.alerts.milestones import is_of, origins_of
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.quiet import names_of, newest_posts, page_of, quiet_sentence, silences
from trackers.alerts.velocity import author_names
from trackers.alerts.worded import verb_of_words, with_words
from trackers.alerts.words import lasting
from trackers.happenings.models import HappeningKind
from trackers.ingest.sources.models import SourceTweet
from trackers.scores.words import score_words
from trackers.tweets.gains.heads import HEAD_LENGTH, HEADS_APART
from trackers.tweets.gains.models import GainHead, Window
from trackers.tweets.gains.update import MAX_LIST_LENGTH
from trackers.tweets.models import Tweet, TweetText
from trackers.tweets.newcomers import NEW_FOR
from trackers.tweets.series import recent_runs
from trackers.tweets.snowflake import born_at, first_id_at
from tweetwatch.amounts import amount
from tweetwatch.database import cursor
from tweetwatch.statements import statement

# The last day.
_REHEARSED = timedelta(days=1)
# With less than this nothing is told; from almost a day on, it is a day.
_TOLD_FROM, _ALMOST = timedelta(hours=1), timedelta(minutes=40)
SHOWN_MOST = 20
# Of what is stored, the highest so many are looked at.
_FOUND_MOST = 5_000
_NOTICES_MOST = 2_000
# The runs of a tweet in which it is looked for when it reached a milestone.
_RUNS_READ = 400

_HEADS = statement(__file__, "heads")
_CROSSED = statement(__file__, "crossed")
_ROSE = statement(__file__, "rose")


@dataclass(frozen=True, slots=True)
class Fire:
    """Once that it would have raised an alert."""

    at: datetime
    of: tuple[str, str]  # as in a line of the log: kind, and which
    what: str
    url: str
    over_at: datetime | None = None  # when it would have been reported that it is over


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`since` None: nothing stored can tell."""

    since: datetime | None
    until: datetime
    fired: int = 0
    # There were more than what is kept can tell.
    is_least: bool = False
    # By its pause, in a day; what is raised in one minute is one message.
    messages: int = 0
    shown: Sequence[Fire] = ()  # the newest first

    @property
    def more(self) -> int:
        return self.fired - len(self.shown)

    @property
    def sentence(self) -> str:
        if self.since is None:
            return "Cannot be told before it has run for a day."
        length = self.until - self.since
        span = "day" if length >= _REHEARSED else lasting(length)
        if not self.fired:
            return f"Would not have fired in the last {span}."
        least = "at least " if self.is_least else ""
        return (
            f"Would have fired {least}{amount(self.fired, 'time')} in the last {span}: about "
            f"{amount(self.messages, 'message')} a day, with its pause."
        )


@dataclass(frozen=True, slots=True)
class _Found:
    fires: Sequence[Fire]
    is_least: bool
    since: datetime
    # How far apart those looks are by which a fire's time is known.
    apart: timedelta = timedelta(minutes=1)


def rehearse(rule: AlertRule, *, now: datetime) -> Rehearsal:
    """`rule`: with all its fields, saved or not."""
    begin = now - _REHEARSED
    match rule.kind:
        case RuleKind.VELOCITY:
            evidence = _of_velocity(rule, begin, now=now)
        case RuleKind.MILESTONE:
            evidence = _of_milestone(rule, begin, now=now)
        case RuleKind.USUAL:
            evidence = _of_usual(rule, begin, now=now)
        case RuleKind.FELL | RuleKind.WAVE | RuleKind.GONE:
            evidence = _of_happenings(rule, begin, now=now)
        case RuleKind.WORDS:
            evidence = _of_words(rule, begin, now=now)
        case RuleKind.QUIET:
            evidence = _of_silence(rule, begin, now=now)
        case _:
            evidence = _of_log(rule, begin)
    if evidence is None or now - evidence.since < _TOLD_FROM:
        return Rehearsal(None, now)
    fires = sorted(evidence.fires, key=lambda fire: fire.at, reverse=True)
    since = begin if evidence.since - begin <= _ALMOST else evidence.since
    messages = _messages(fires, rule.rest, evidence.apart) * (_REHEARSED / (now - since))
    return Rehearsal(
        since, now, len(fires), evidence.is_least, round(messages), tuple(fires[:SHOWN_MOST])
    )


def _messages(fires: Iterable[Fire], rest: timedelta, apart: timedelta) -> float:
    """Of those that are not in the pause after another one about the same thing: in how many
    minutes some are raised, since these are one message. Where times are known by looks that are
    further apart, as many as are likely."""
    last: dict[tuple[str, str], datetime] = {}
    raised: Counter[int] = Counter()
    for fire in sorted(fires, key=lambda fire: fire.at):
        if fire.of not in last or fire.at - last[fire.of] >= rest:
            last[fire.of] = fire.at
            told = [one for one in (fire.at, fire.over_at) if one is not None]
            raised.update(int(one.timestamp() // apart.total_seconds()) for one in told)
    minutes = apart / timedelta(minutes=1)
    return sum(minutes * (1 - (1 - 1 / minutes) ** count) for count in raised.values())


def _of_velocity(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    """A tweet fires when it is fast enough at one look at the lists and was not at the last."""
    since = _kept_since(GainHead.objects.filter(minutes=rule.minutes, metric=rule.metric))
    if since is None:
        return None
    params = {
        "minutes": rule.minutes, "metric": rule.metric, "at": rule.at, "since": begin,
        "head": HEAD_LENGTH,
    }  # fmt: skip
    with cursor() as db:
        rows = db.execute(_HEADS, params).fetchall()
    is_least = any(is_full for *_, is_full in rows)
    fastest: dict[int, float] = {}
    for _, tweet, velocity, _ in rows:
        fastest[tweet] = max(velocity, fastest.get(tweet, 0))
    theirs, is_cut = _theirs(rule, fastest, now=now)
    fires, last = [], dict[int, datetime]()
    for at, tweet, velocity, _ in rows:
        if tweet not in theirs:
            continue
        if tweet not in last or at - last[tweet] > 1.5 * HEADS_APART:
            what = f"{theirs[tweet]} gained {round(velocity):,} {rule.metric} an hour."
            fires.append(_fire(at, tweet, what))
        last[tweet] = at
    return _Found(fires, is_least or is_cut, max(begin, since - HEADS_APART), HEADS_APART)


def _of_milestone(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    since = _kept_since(GainHead.objects.filter(minutes=Window.DAY, metric=rule.metric))
    if since is None:
        return None
    params = {
        "metric": rule.metric, "at": rule.at, "since": begin, "day": int(Window.DAY),
        "what": HappeningKind.MILESTONE, "most": _FOUND_MOST, "list_most": MAX_LIST_LENGTH,
    }  # fmt: skip
    with cursor() as db:
        rows = db.execute(_CROSSED, params).fetchall()
    has = {tweet: value for tweet, value, _, _ in rows}
    when = {tweet: at for tweet, _, at, _ in rows}
    theirs, is_cut = _theirs(rule, has, now=now)
    unknown = [tweet for tweet in theirs if when[tweet] is None]
    unknown = sorted(unknown, key=lambda tweet: -has[tweet])[:SHOWN_MOST]
    for tweet, runs in recent_runs(unknown, most=_RUNS_READ).items():
        reached = (one.taken_at for one in runs if (getattr(one, rule.metric) or 0) >= rule.at)
        when[tweet] = max(begin, next(reached, begin))
    fires = [
        _fire(when[tweet] or begin, tweet, f"{theirs[tweet]} reached {rule.at:,} {rule.metric}.")
        for tweet in theirs
    ]
    is_least = is_cut or any(is_full for *_, is_full in rows)
    return _Found(fires, is_least, max(begin, since - HEADS_APART))


def _of_usual(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    # Both are kept by the minute's tasks, from the same release on.
    since = _kept_since(GainHead.objects.filter(minutes=Window.HOUR, metric=rule.metric))
    if since is None:
        return None
    params = {
        "metric": rule.metric, "times": rule.times, "at": rule.at, "since": begin,
        "most": _FOUND_MOST,
    }  # fmt: skip
    with cursor() as db:
        rows = db.execute(_ROSE, params).fetchall()
    theirs, is_cut = _theirs(rule, {tweet: score for tweet, score, _ in rows}, now=now)
    fires = [
        _fire(
            at,
            tweet,
            f"{theirs[tweet]} rose to {score_words(score)} the {rule.metric} that are usual.",
        )
        for tweet, score, at in rows
        if tweet in theirs
    ]
    return _Found(fires, is_cut or len(rows) == _FOUND_MOST, max(begin, since - HEADS_APART))


def _of_happenings(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    """They are always kept, and the lists are looked at since as long as there are tweets."""
    since = _kept_since(GainHead.objects.filter(minutes=Window.HOUR, metric="likes"))
    if since is None:
        return None
    rows = list(happened_since(rule, begin))
    newest = {row.tweet_id: row.at.timestamp() for row in rows}
    theirs, is_cut = _theirs(rule, newest, now=now)
    fires = [
        _fire(row.at, row.tweet_id, f"{theirs[row.tweet_id]} {verb_of(row)}")
        for row in rows
        if row.tweet_id in theirs
    ]
    return _Found(fires, is_cut, max(begin, since - HEADS_APART))


def _of_words(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    """Of the newest texts; where there are more, of the time from which these are."""
    since = _kept_since(GainHead.objects.filter(minutes=Window.HOUR, metric="likes"))
    if since is None:
        return None
    first = first_id_at(int((begin - NEW_FOR).timestamp() * 1000))
    match rule.about:
        case AlertRule.About.AUTHOR:
            tweets = Tweet.objects.filter(author=rule.of, id__gte=first)
            ids = list(tweets.order_by("-id").values_list("id", flat=True)[:_FOUND_MOST])
        case AlertRule.About.SOURCE:
            yields = SourceTweet.objects.filter(source=rule.of, tweet_id__gte=first)
            newest = yields.order_by("-tweet_id").values_list("tweet_id", flat=True)
            ids = list(newest[:_FOUND_MOST])
        case _:
            texts = TweetText.objects.filter(pk__gte=first).order_by("-pk")
            ids = list(texts.values_list("pk", flat=True)[:_FOUND_MOST])
    if len(ids) == _FOUND_MOST:
        since = max(since, born_at(ids[-1]))
    asked = {**searched_as([rule]), "mosts": [_FOUND_MOST]}
    matching = {tweet: tweet for _, tweet, _ in with_words([rule], ids, **asked)}
    theirs, is_cut = _theirs(rule, matching, now=now)
    came = Tweet.objects.filter(pk__among=theirs).values_list("pk", "tracked_at")
    fires = [
        _fire(at, tweet, f"{theirs[tweet]} {verb_of_words(rule)}.")
        for tweet, at in came
        if max(begin, since) <= at < born_at(tweet) + NEW_FOR
    ]
    return _Found(fires, is_cut, max(begin, since - HEADS_APART))


def _of_silence(rule: AlertRule, begin: datetime, *, now: datetime) -> _Found | None:
    """By the times of its newest posts, whenever these came in."""
    posts = newest_posts(rule, most=_FOUND_MOST)
    name = names_of([rule]).get(rule.pk)
    if not posts or name is None:
        return None
    of, sentence = (rule.about, str(rule.of)), quiet_sentence(name, rule.lasting)
    fires = [
        Fire(silence.alert_at, of, sentence, page_of(rule), silence.until)
        for silence in silences(rule, posts, now=now)
        if silence.alert_at >= begin
    ]
    return _Found(fires, is_least=False, since=max(begin, born_at(posts[-1])))


def _of_log(rule: AlertRule, begin: datetime) -> _Found | None:
    """What rules that ask the same raised: the rule itself, or the one that has run for longest."""
    reader = rule.owner or AnonymousUser()
    logged = AlertNotice.objects.seen_by(reader).filter(kind=AlertNotice.Kind.ALERT, at__gte=begin)
    same = AlertRule.objects.seen_by(reader).filter(kind=rule.kind, enabled=True)
    same = same.filter(Q(about=rule.about, of=rule.of) | Q(about=AlertRule.About.ANY))
    if rule.kind == RuleKind.LATENESS:
        same = same.filter(late_by=rule.late_by, lasting=rule.lasting)
    like = same.order_by("made_at").first()
    if like is None and rule.kind != RuleKind.TROUBLE:
        return None
    # What tweetwatch finds by itself is logged without a rule, too.
    notices = logged.filter(rule=like) if like else logged.filter(rule=None, rule_name="")
    fires, over = [], dict[tuple[str, str], datetime]()
    for notice in notices.order_by("-pk")[:_NOTICES_MOST]:
        for line in notice.lines:
            of = (line["kind"], line["of"])
            if rule.of is not None and line["of"] != str(rule.of):
                continue
            if line["state"] == "back":
                over[of] = notice.at
            else:
                fires.append(Fire(notice.at, of, line["what"], line["url"], over.pop(of, None)))
    return _Found(fires, is_least=False, since=max(begin, like.made_at) if like else begin)


def _kept_since(heads: Any) -> datetime | None:
    since: datetime | None = heads.aggregate(since=Min("at"))["since"]
    return since


def _theirs(
    rule: AlertRule, heights: dict[int, Any], *, now: datetime
) -> tuple[dict[int, str], bool]:
    """Of what was found, with how high: those that the rule is about, with their names for a
    sentence; and whether some were not looked at."""
    most = LOOKED_MOST if rule.about in ABOUT_SETS else _FOUND_MOST
    if rule.about == AlertRule.About.TWEET:
        ids: Collection[int] = [rule.of or 0] if rule.of in heights else []
    else:
        ids = sorted(heights, key=lambda tweet: (-heights[tweet], -tweet))[:most]
    origins = origins_of(ids)
    if rule.about in ABOUT_SETS:
        [chosen] = tweets_of_sets([rule], {rule.pk: ids}, now=now).values()
        chosen &= origins.keys()
    elif rule.about == AlertRule.About.TWEET:
        chosen = set(origins)
    else:
        chosen = {tweet for tweet, (author, sources) in origins.items()
                  if is_of(rule, author, sources)}  # fmt: skip
    authors = author_names({author for author, _ in origins.values() if author is not None})
    named = {}
    for tweet in chosen:
        author = origins[tweet][0]
        named[tweet] = f"Tweet {tweet}" + (f" of {authors[author]}" if author in authors else "")
    return named, len(heights) > most and rule.about != AlertRule.About.TWEET


def _fire(at: datetime, tweet: int, what: str) -> Fire:
    return Fire(at, ("tweet", str(tweet)), what, f"/tweets/{tweet}/")
