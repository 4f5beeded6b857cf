"""Scores as people read them, with what they compare."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from django.utils.safestring import SafeString

from trackers.dashboards.words import commas
from trackers.scores.models import STANDS_OUT
from trackers.scores.read import Scored
from trackers.scores.rule import MIN_POSTS
from trackers.scores.words import posts_compared, score_words, usual_count

# From so much on it is far above usual.
_FAR = 5


@dataclass(frozen=True, slots=True)
class ScorePill:
    """A score with what it says."""

    words: str  # the score, or "as usual"; empty where too little is known
    mood: str  # "far", "above", "usual", "below", or "unknown"
    usually: str  # "usually 112,000"
    title: str  # a sentence

    @property
    def html(self) -> SafeString:
        if not self.words:
            return SafeString("")
        return SafeString(
            f'<span class="score {self.mood}" title="{escape(self.title)}">{self.words}</span>'
        )


def score_pill(scored: Scored | None) -> ScorePill | None:
    """None: the tweet has no score, as a retweet."""
    if scored is None:
        return None
    if scored.score is None or scored.expected is None or scored.actual is None:
        if not scored.missing:
            return ScorePill("", "unknown", "", "What is usual at this age is not known yet.")
        return ScorePill(
            "",
            "unknown",
            "",
            f"{scored.posts} of the {MIN_POSTS} posts of the author that it takes to say what is "
            "usual were measured at this age.",
        )
    usually = f"usually {usual_count(scored.expected)}"
    return ScorePill(
        "as usual" if scored.is_as_usual else score_words(scored.score),
        _mood(scored),
        usually,
        f"{commas(scored.actual)} {scored.metric}; at this age {usually}, "
        f"by the author's last {posts_compared(scored)}.",
    )


def score_cell(scored: Scored | None) -> SafeString:
    """The cell of a table: the score, and "usually 112,000"; a dash where too little is known."""
    pill = score_pill(scored)
    if scored is None or pill is None or not pill.words:
        title = f' title="{escape(pill.title)}"' if pill else ""
        return SafeString(f'<td class="figure of-score zero" data-label="Score"{title}>–</td>')
    of = "" if scored.metric == "views" else f"{scored.metric} "
    return SafeString(
        f'<td class="figure of-score" data-label="Score">{pill.html}'
        f'<small class="soft">{of}{pill.usually}</small></td>'
    )


def _mood(scored: Scored) -> str:
    assert scored.score is not None
    if scored.is_as_usual:
        return "usual"
    if scored.score >= _FAR:
        return "far"
    if scored.score >= STANDS_OUT:
        return "above"
    return "below" if scored.score < 0 else "usual"
