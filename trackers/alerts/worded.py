"""Rules about words: new tweets whose texts have them.

newcomers that no minute has read yet ─> whose texts match ─> of the rule's subject ─> observations
What is read in a minute is bounded; the rest waits for the next one. A tweet may come again, by
another source or with a tag; a rule tells of it once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from trackers.alerts.membership import of_these_sets, searched_as
from trackers.alerts.models import AlertRule
from trackers.alerts.velocity import author_names, tweet_finding
from trackers.outbox.findings import Observation
from trackers.tweets.finding.words import TEXT_WORDS, whole_words
from trackers.tweets.newcomers import (
    NEW_FOR,
    newcomers_were_read,
    stop_reading_newcomers,
    unread_newcomers,
)
from trackers.tweets.snowflake import born_at
from tweetwatch.database import array, cursor
from tweetwatch.statements import statement

# Who was told of a tweet is known for so long; then it is no newcomer any more, and is passed over.
_TOLD_FOR = 2 * NEW_FOR

_WORDED = statement(__file__, "worded", words=TEXT_WORDS.format("x.text"))


def worded_findings(
    rules: Sequence[AlertRule], *, now: datetime
) -> tuple[list[Observation], list[int] | None]:
    """The observations, and which rows of newcomers they come from, to be deleted in the same
    transaction. None: there is no such rule. The first one begins with what comes next."""
    if not rules:
        return [], None
    rows, tweets = unread_newcomers()
    young = {tweet for tweet in tweets if now - born_at(tweet) < _TOLD_FOR}
    found = of_these_sets(rules, with_words(rules, young, **searched_as(rules)), now=now)
    by_id = {rule.pk: rule for rule in rules}
    authors = author_names({author for _, _, author in found if author is not None})
    observations = []
    for id, tweet, author in found:
        rule = by_id[id]
        whose = f" of {authors[author]}" if author in authors else ""
        sentence = f"Tweet {tweet}{whose} {verb_of_words(rule)}."
        rest = max(_TOLD_FOR, rule.rest)
        observations.append(tweet_finding(rule, tweet, sentence, is_moment=True, rest=rest))
    return observations, rows


def store_newcomers_read(rows: Sequence[int] | None) -> None:
    if rows is None:
        stop_reading_newcomers()
    else:
        newcomers_were_read(rows)


def with_words(
    rules: Sequence[AlertRule],
    tweets: Collection[int],
    *,
    abouts: Sequence[str],
    ofs: Sequence[int | None],
    mosts: Sequence[int],
) -> list[tuple[int, int, int | None]]:
    """Of each rule, by its id: the newest of these tweets with its words, and their authors. Tags
    and views are not looked at."""
    if not tweets:
        return []
    words, any_word = [rule.words for rule in rules], [rule.any_word for rule in rules]
    queries = [query or "" for query in whole_words(words, any_word=any_word)]
    params = {
        "ids": array(sorted(tweets)), "queries": queries, "abouts": list(abouts), "ofs": list(ofs),
        "mosts": list(mosts),
    }  # fmt: skip
    with cursor() as db:
        rows = db.execute(_WORDED, params).fetchall()
    return [(rules[place - 1].pk, tweet, author) for place, tweet, author in rows]


def verb_of_words(rule: AlertRule) -> str:
    """The rest of a sentence that begins with the tweet. Without its text: alerts are kept when a
    tweet is deleted."""
    return f"is new, and has {'one' if rule.any_word else 'all'} of: {rule.words}"
