"""What a message says of a tweet beside the sentence of its rule: against what is usual, and its
curve as text."""

from __future__ import annotations

from collections.abc import Sequence

from trackers.alerts.kinds import RuleKind
from trackers.alerts.models import AlertRule
from trackers.charts.blocks import in_blocks
from trackers.scores.read import Scored, main_score, scores_of
from trackers.scores.words import score_words
from trackers.tweets.history import Run
from trackers.tweets.series import recent_runs

_RUNS_SHOWN = 24


def tweet_words(rule: AlertRule, tweets: Sequence[int]) -> dict[int, str]:
    """By tweet, to follow the rule's sentence; empty where nothing is known. Two statements,
    however many tweets there are."""
    if not tweets:
        return {}
    scores, runs = scores_of(tweets), recent_runs(tweets, most=_RUNS_SHOWN)
    words = {}
    for tweet in tweets:
        scored = main_score(scores[tweet], rule.metric)
        metric = rule.metric or (scored.metric if scored else "")
        # The sentence of this kind has it already.
        usual = "" if rule.kind == RuleKind.USUAL else _usual_words(scored)
        curve = _curve(runs.get(tweet, []), metric)
        words[tweet] = "".join(f" {one}" for one in (usual, curve) if one)
    return words


def _usual_words(scored: Scored | None) -> str:
    if scored is None or scored.score is None or scored.actual is None:
        return ""
    return (
        f"It has {scored.actual:,} {scored.metric}, {score_words(scored.score)} what is usual at "
        "its age."
    )


def _curve(runs: Sequence[Run], metric: str) -> str:
    known = [run for run in runs if metric and getattr(run, metric) is not None]
    points = [(run.taken_at.timestamp(), getattr(run, metric)) for run in known]
    if known:
        points.append((known[-1].measured_until.timestamp(), points[-1][1]))
    return in_blocks(points)
