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
from trackers.schedule import bulk, steer
from trackers.schedule.bulk import PIECE
from trackers.schedule.models import BulkAct
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag

ADD, CHANGE, DELETE = (f"trackers.{verb}_tweet" for verb in ("add", "change", "delete"))
Do = BulkAct.Act


@dataclass(frozen=True, slots=True)
class Words:
    """How an act is told, with places for the tweets and the tag."""

    # In the history.
    what: str
    done: str
    # When there was nothing to do.
    nothing: str
    flag: int = history.CHANGE


WORDS = {
    Do.TAG: Words(
        "Tagged “{tag}”", "{tweets} tagged “{tag}”.", "{tweets}: tagged “{tag}” already."
    ),
    Do.UNTAG: Words(
        "Removed the tag “{tag}”",
        "Removed the tag “{tag}” from {tweets}.",
        "{tweets}: not tagged “{tag}”.",
    ),
    Do.REFRESH: Words(
        "Refreshed",
        "{tweets} will be checked next.",
        "{tweets}: not refreshed, because paused or being checked right now.",
    ),
    Do.PAUSE: Words(
        "Paused", "{tweets} paused: not checked until resumed.", "{tweets}: paused already."
    ),
    Do.RESUME: Words("Resumed", "{tweets} resumed.", "{tweets}: not paused."),
    Do.UNTRACK: Words(
        "Untracked",
        "{tweets} no longer tracked; the whole history is deleted.",
        "{tweets}: not tracked.",
        flag=history.DELETION,
    ),
}


def act_on(name: str, tweets: Sequence[Tweet], actor: Actor, *, tag: Tag | None = None) -> Done:
    """Do it at once to up to PIECE tweets; `count`: how many it changed.

    A person waits for these few, so their refresh comes before a backlog.
    """
    do = steer.refresh_now if name == Do.REFRESH else bulk.to_do(name, tag.pk if tag else None)
    words = WORDS[Do(name)]
    those = f"tweet {tweets[0]}" if len(tweets) == 1 else None
    count = do([tweet.pk for tweet in tweets])
    if not count:
        nothing = words.nothing.format(tweets=those or counted(len(tweets)), tag=tag)
        return Done(capfirst(nothing), is_done=False)
    what = words.what.format(tag=tag)
    if those:
        history.record(actor, tweets, what, flag=words.flag)
    else:
        history.record_many(actor, Tweet, count, what, flag=words.flag)
    return Done(capfirst(words.done.format(tweets=those or counted(count), tag=tag)), count)


def begin(name: str, chosen: QuerySet[Any], actor: Actor, *, tag: Tag | None = None) -> BulkAct:
    """Have the workers do it to the chosen tweets, of which the query gives only the ids."""
    by = actor.user.get_username()
    begun = bulk.begin(name, chosen, by=by, tag=tag.pk if tag else None)
    what = f"{WORDS[Do(name)].what.format(tag=tag)}: begun"
    history.record_many(actor, Tweet, begun.tweets, what)
    return begun


def stop(begun: BulkAct, actor: Actor) -> Done:
    """End it where it is."""
    if not bulk.stop([begun.pk]):
        return Done("It had already ended.", is_done=False)
    history.record(actor, [begun], "Stopped")
    return Done("Stopped. What is already done stays done.", 1)


def in_pieces(
    name: str, ids: Sequence[int], actor: Actor, *, tag: Tag | None = None
) -> Generator[int]:
    """Do it here, one transaction per piece; yields how many tweets each piece changed.

    The history has all of them in one line, even if it is interrupted: to be closed then.
    """
    words, done = WORDS[Do(name)], 0
    do = bulk.to_do(name, tag.pk if tag else None)
    try:
        for at in range(0, len(ids), PIECE):
            changed = do(ids[at : at + PIECE])
            done += changed
            yield changed
    finally:
        history.record_many(actor, Tweet, done, words.what.format(tag=tag), flag=words.flag)


def counted(count: int) -> str:
    return f"{count:,} tweet{'' if count == 1 else 's'}"


def asks_to_untrack(tweets: Sequence[Tweet] | str) -> str:
    """Of one tweet on its page, or of many in words."""
    if not isinstance(tweets, str):
        return "Stop tracking this tweet and remove its whole history?"
    return f"Stop tracking {tweets} and remove the whole history? This cannot be undone."


# By the names of `BulkAct.Act`; those that take a tag are called with it.
ACTS: dict[str, Act] = {
    Do.TAG: Act(partial(act_on, Do.TAG), CHANGE, button="Add the tag"),
    Do.UNTAG: Act(partial(act_on, Do.UNTAG), CHANGE, button="Remove the tag"),
    Do.REFRESH: Act(partial(act_on, Do.REFRESH), CHANGE, button="Refresh now"),
    Do.PAUSE: Act(partial(act_on, Do.PAUSE), CHANGE, button="Pause"),
    Do.RESUME: Act(partial(act_on, Do.RESUME), CHANGE, button="Resume"),
    Do.UNTRACK: Act(
        partial(act_on, Do.UNTRACK), DELETE, asks=asks_to_untrack, button="Untrack", leaves=True
    ),
}
WITH_TAG = (Do.TAG, Do.UNTAG)
