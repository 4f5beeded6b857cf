"""What is done to tweets, by whom and through whichever door: each act is in the history.

one, or up to PIECE of them ─> an act of ACTS ─> done, and said
more, from a page           ─> begin          ─> a BulkAct: the workers do it piece by piece
any number, from a command  ─> in_pieces      ─> done here, piece by piece
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils.text import capfirst

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.schedule import bulk, tweet_changes
from trackers.schedule.bulk import TWEETS_PER_PIECE
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag
from tweetwatch.amounts import amount

ADD_TWEET, CHANGE_TWEET, _DELETE_TWEET = (
    f"trackers.{verb}_tweet" for verb in ("add", "change", "delete")
)
ActName = BulkAct.Act


@dataclass(frozen=True, slots=True)
class ActWords:
    """How an act is told, with places for the tweets and the tag."""

    # In the history.
    what: str
    done: str
    # When there was nothing to do.
    nothing: str
    flag: int = history.CHANGE


_ACT_WORDS = {
    ActName.TAG: ActWords(
        "Tagged “{tag}”", "{tweets} tagged “{tag}”.", "{tweets}: tagged “{tag}” already."
    ),
    ActName.UNTAG: ActWords(
        "Removed the tag “{tag}”",
        "Removed the tag “{tag}” from {tweets}.",
        "{tweets}: not tagged “{tag}”.",
    ),
    ActName.CHECK: ActWords(
        "Asked for a check",
        "{tweets} will be checked next.",
        "{tweets}: no check now, because paused or being checked already.",
    ),
    ActName.PAUSE: ActWords(
        "Paused", "{tweets} paused: not checked until resumed.", "{tweets}: paused already."
    ),
    ActName.RESUME: ActWords("Resumed", "{tweets} resumed.", "{tweets}: not paused."),
    ActName.UNTRACK: ActWords(
        "Untracked",
        "{tweets} no longer tracked; the whole history is deleted.",
        "{tweets}: not tracked.",
        flag=history.DELETION,
    ),
}


def act_on_tweets(
    name: str, tweets: Sequence[Tweet], actor: Actor, *, tag: Tag | None = None
) -> Done:
    """Do it at once to up to PIECE tweets; `count`: how many it changed.

    A person waits for these few, so their check comes before a backlog.
    """
    do = (
        tweet_changes.check_now
        if name == ActName.CHECK
        else bulk.function_of(name, tag.pk if tag else None)
    )
    words = _ACT_WORDS[ActName(name)]
    those = f"tweet {tweets[0]}" if len(tweets) == 1 else None
    count = do([tweet.pk for tweet in tweets])
    if not count:
        nothing = words.nothing.format(tweets=those or _count_of_tweets(len(tweets)), tag=tag)
        return Done(capfirst(nothing), is_done=False)
    what = words.what.format(tag=tag)
    if those:
        history.record(actor, tweets, what, flag=words.flag)
    else:
        history.record_many(actor, Tweet, count, what, flag=words.flag)
    return Done(
        capfirst(words.done.format(tweets=those or _count_of_tweets(count), tag=tag)), count
    )


def begin_bulk_act(
    name: str, chosen: QuerySet[Any], actor: Actor, *, tag: Tag | None = None
) -> BulkAct:
    """Have the workers do it to the chosen tweets, of which the query gives only the ids."""
    by = actor.user.get_username()
    begun = bulk.begin_act(name, chosen, by=by, tag=tag.pk if tag else None)
    what = f"{_ACT_WORDS[ActName(name)].what.format(tag=tag)}: begun"
    history.record_many(actor, Tweet, begun.tweets, what)
    return begun


def stop_bulk_act(begun: BulkAct, actor: Actor) -> Done:
    """End it where it is."""
    if not bulk.stop_acts([begun.pk]):
        return Done("It had already ended.", is_done=False)
    history.record(actor, [begun], "Stopped")
    return Done("Stopped. What is already done stays done.", 1)


def act_in_pieces(
    name: str, ids: Sequence[int], actor: Actor, *, tag: Tag | None = None
) -> Generator[int]:
    """Do it here, one transaction per piece; yields how many tweets each piece changed.

    The history has all of them in one line, even if it is interrupted: to be closed then.
    """
    words, done = _ACT_WORDS[ActName(name)], 0
    do = bulk.function_of(name, tag.pk if tag else None)
    try:
        for at in range(0, len(ids), TWEETS_PER_PIECE):
            changed = do(ids[at : at + TWEETS_PER_PIECE])
            done += changed
            yield changed
    finally:
        history.record_many(actor, Tweet, done, words.what.format(tag=tag), flag=words.flag)


def _count_of_tweets(count: int) -> str:
    return amount(count, "tweet")


def _asks_to_untrack(tweets: Sequence[Tweet] | str) -> str:
    """Of one tweet on its page, or of many in words."""
    if not isinstance(tweets, str):
        return "Stop tracking this tweet and remove its whole history?"
    return f"Stop tracking {tweets} and remove the whole history? This cannot be undone."


# By the names of `BulkAct.Act`; those that take a tag are called with it.
TWEET_ACTS: dict[str, Act] = {
    ActName.TAG: Act(partial(act_on_tweets, ActName.TAG), CHANGE_TWEET, button="Add the tag"),
    ActName.UNTAG: Act(
        partial(act_on_tweets, ActName.UNTAG), CHANGE_TWEET, button="Remove the tag"
    ),
    ActName.CHECK: Act(partial(act_on_tweets, ActName.CHECK), CHANGE_TWEET, button="Check now"),
    ActName.PAUSE: Act(partial(act_on_tweets, ActName.PAUSE), CHANGE_TWEET, button="Pause"),
    ActName.RESUME: Act(partial(act_on_tweets, ActName.RESUME), CHANGE_TWEET, button="Resume"),
    ActName.UNTRACK: Act(
        partial(act_on_tweets, ActName.UNTRACK),
        _DELETE_TWEET,
        asks=_asks_to_untrack,
        button="Untrack",
        leaves=True,
    ),
}
WITH_TAG = (ActName.TAG, ActName.UNTAG)
