"""Rules about the tweets of a tag or of a saved view: which of some tweets these are.

What finds tweets for rules looks for these as for rules about all, and keeps what is theirs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from trackers.alerts.models import AlertRule
from trackers.listing.saved import matching_among
from trackers.saved_views.models import SavedView
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.tagging import tagged_among
from tweetwatch.pieces import Deadline
from tweetwatch.time_limits import TookTooLong

# A row that begins with the rule and the tweet.
Found = TypeVar("Found", bound=tuple[Any, ...])

logger = logging.getLogger(__name__)

ABOUT_SETS = (AlertRule.About.TAG, AlertRule.About.VIEW)
# The most tweets that a rule finds at a time.
MAX_FINDINGS = 100
# Of what was found for such a rule this many are looked at, the highest.
LOOKED_MOST = 2_000
# So long a minute's rules of one kind may ask which tweets are theirs.
_SECONDS = 10.0


def searched_as(rules: Sequence[AlertRule]) -> dict[str, list[Any]]:
    """What each is about for a statement that knows no tags and views, and how many it finds."""
    return {
        "abouts": [AlertRule.About.ANY if one.about in ABOUT_SETS else one.about for one in rules],
        "ofs": [None if one.about in ABOUT_SETS else one.of for one in rules],
        "mosts": [LOOKED_MOST if one.about in ABOUT_SETS else MAX_FINDINGS for one in rules],
    }


def of_these_sets(
    rules: Sequence[AlertRule], rows: Sequence[Found], *, now: datetime
) -> list[Found]:
    """What a statement found, by rule and the highest first, without what is not a rule's own; the
    first MAX_FINDINGS of each."""
    candidates: dict[int, list[int]] = {}
    for rule, tweet, *_ in rows:
        candidates.setdefault(rule, []).append(tweet)
    theirs = tweets_of_sets(rules, candidates, now=now)
    kept: dict[int, int] = {}
    chosen = []
    for row in rows:
        rule, tweet, *_ = row
        if (rule not in theirs or tweet in theirs[rule]) and kept.get(rule, 0) < MAX_FINDINGS:
            kept[rule] = kept.get(rule, 0) + 1
            chosen.append(row)
    return chosen


def tweets_of_sets(
    rules: Sequence[AlertRule], candidates: Mapping[int, Iterable[int]], *, now: datetime
) -> dict[int, set[int]]:
    """Of each rule about a tag or a saved view: which of the candidates are its own.

    None is, where what it is about is gone, or where it took too long: the log says so. The
    candidates are those of each rule, by its id. Each tag and each view is asked once.
    """
    sets = [rule for rule in rules if rule.about in ABOUT_SETS]
    asked: dict[tuple[str, int], set[int]] = {}
    for rule in sets:
        asked.setdefault(_subject(rule), set()).update(candidates.get(rule.pk, ()))
    tags = Tag.objects.live().in_bulk(of for about, of in asked if about == AlertRule.About.TAG)
    views = SavedView.objects.in_bulk(of for about, of in asked if about == AlertRule.About.VIEW)
    time_left = Deadline.after(_SECONDS)
    theirs: dict[tuple[str, int], set[int]] = {}
    for (about, of), ids in asked.items():
        if about == AlertRule.About.TAG:
            theirs[about, of] = tagged_among(of, ids) if of in tags and ids else set()
        else:
            view = views.get(of)
            theirs[about, of] = _of_view(view, ids, time_left, now=now) if view else set()
    return {rule.pk: theirs[_subject(rule)] & set(candidates.get(rule.pk, ())) for rule in sets}


def _subject(rule: AlertRule) -> tuple[str, int]:
    return rule.about, rule.of or 0


def _of_view(view: SavedView, ids: set[int], time_left: Deadline, *, now: datetime) -> set[int]:
    asked, matches = sorted(ids), set()
    try:
        for at in range(0, len(asked), LOOKED_MOST):
            if time_left.is_over:
                raise TookTooLong
            matches |= matching_among(view.query, asked[at : at + LOOKED_MOST], now=now)
    except TookTooLong:
        logger.warning("rules about the saved view %s: no time to ask what it has", view.pk)
    return matches
