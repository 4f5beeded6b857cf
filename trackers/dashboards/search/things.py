"""Things by their names: tweets, authors, sources, saved views, tags, hashtags, domains.

Each is one look by an index, or among rows that people made and a bound that is far above them:
none takes longer with more tweets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from django.db.models import Value
from django.db.models.functions import Lower, StrIndex
from django.urls import reverse

from trackers.dashboards.search.found import Found
from trackers.dashboards.set_links import set_of
from trackers.ingest.sources.acts import CHANGE as CHANGE_SOURCE
from trackers.ingest.sources.acts import DELETE as DELETE_SOURCE
from trackers.ingest.sources.models import Source
from trackers.roles import Person
from trackers.saved_views.models import SavedView
from trackers.schedule.acts import ADD_TWEET, TWEET_ACTS, ActName
from trackers.sets.kinds import SetKind
from trackers.tweets.entities import domain_of
from trackers.tweets.finding.finder import ID_OR_LINK, of_version
from trackers.tweets.finding.named import names_like
from trackers.tweets.finding.names import authors_matching
from trackers.tweets.finding.words import parse_search
from trackers.tweets.models import Author, Tweet, TweetText
from trackers.tweets.snowflake import LARGEST_ID
from trackers.tweets.tags.models import Tag

# Of a kind.
MAX_OF_A_KIND = 6
# People make sources and tags one by one, or a program does: of more, the newest are searched.
MOST_SEARCHED = 5_000
# The inner LIMIT is a fence: no more are read, whatever the planner assumes. Those that begin with
# what was typed come first.
_CALLED = """
    SELECT *, strpos(lower({name}), lower(%(typed)s)) AS at FROM (
        SELECT * FROM {table} ORDER BY id DESC LIMIT %(searched)s
    ) newest
    WHERE strpos(lower({name}), lower(%(typed)s)) > 0 {and_so}
    ORDER BY at, lower({name}), id LIMIT %(most)s
"""
_SOURCES = _CALLED.format(table="trackers_source", name="of || ' ' || username", and_so="")
_TAGS = _CALLED.format(table="trackers_tag", name="name", and_so="AND ended_at IS NULL")
_PROFILE = re.compile(r"(?:https?://)?(?:www\.|mobile\.)?(?:x|twitter)\.com/@?(\w{1,50})/?")
_TEXT_SHOWN = 80
_MIN_DOMAIN_LENGTH = 3

May = Callable[[str], bool]


def tweet_id(typed: str) -> int | None:
    """The id that is typed, alone or in an address of X."""
    match = ID_OR_LINK.fullmatch(typed)
    return min(int(match[1]), LARGEST_ID) if match else None


def tweets(typed: str, may: May) -> list[Found]:
    """The tweet of an address or id, also of a version of it; or that it can be tracked."""
    if (id := tweet_id(typed)) is None:
        return []
    tweet = Tweet.objects.filter(pk__in=[id, *of_version(id)]).select_related("author").first()
    if tweet is None:
        return [_track(id)] if may(ADD_TWEET) else []
    text = TweetText.objects.filter(pk=tweet.pk).values_list("text", flat=True).first() or ""
    by = str(tweet.author) if tweet.author else f"tweet {tweet.pk}"
    return [Found(text[:_TEXT_SHOWN] or by, reverse("tweet", args=[tweet.pk]), by)]


def _track(id: int) -> Found:
    return Found(
        f"Track tweet {id}",
        reverse("tweets-track"),
        "it is not tracked yet",
        is_act=True,
        fields=(("lines", str(id)),),
    )


def tweet_acts(verb: str, typed: str, may: May) -> Iterator[Found]:
    """Such as "check 123": what may be done to that tweet."""
    id = tweet_id(typed)
    if id is None or not (tweet := Tweet.objects.filter(pk__in=[id, *of_version(id)]).first()):
        return
    names = (ActName.CHECK, ActName.RESUME if tweet.paused else ActName.PAUSE, ActName.UNTRACK)
    for name in names:
        act = TWEET_ACTS[name]
        if act.button.casefold().startswith(verb) and may(act.permission):
            address = reverse("tweet-act", args=[tweet.pk, str(name)])
            detail = "asks before" if act.asks else ""
            yield Found(f"{act.button}: tweet {tweet.pk}", address, detail, is_act=True)


def authors(typed: str) -> list[Found]:
    """By @name, the beginning of it, words of the name, or the address of a profile."""
    profile = _PROFILE.fullmatch(typed)
    name = profile[1] if profile else typed.removeprefix("@")
    words = parse_search(name)
    if words is None:
        return []
    ids = authors_matching(name, words).ids[:MAX_OF_A_KIND]
    rows = Author.objects.in_bulk(ids)
    return [
        Found(str(rows[id]), reverse("author", args=[id]), rows[id].name)
        for id in ids
        if id in rows
    ]


def sources(typed: str) -> list[Found]:
    return [
        Found(str(one), reverse("source", args=[one.pk]), "paused" if one.paused_at else "")
        for one in _sources_called(typed)
    ]


def source_acts(verb: str, typed: str, may: May) -> Iterator[Found]:
    """Such as "pause nasa": what may be done to sources of that name."""
    for source in _sources_called(typed):
        named = [("pause", "Pause")] if source.paused_at is None else [("resume", "Resume")]
        if source.has_polls and source.paused_at is None:
            named.append(("poll", "Poll now"))
        for act, words in named:
            if words.casefold().startswith(verb) and may(CHANGE_SOURCE):
                yield Found(
                    f"{words}: {source}", reverse("source-act", args=[source.pk, act]), is_act=True
                )
        if "remove".startswith(verb) and may(DELETE_SOURCE):
            yield Found(
                f"Remove: {source}", reverse("source-remove", args=[source.pk]), "asks before"
            )


def _sources_called(typed: str) -> list[Source]:
    params = {"typed": typed.removeprefix("@"), "searched": MOST_SEARCHED, "most": MAX_OF_A_KIND}
    return list(Source.objects.raw(_SOURCES, params))


def tags(typed: str) -> list[Found]:
    params = {"typed": typed.removeprefix("#"), "searched": MOST_SEARCHED, "most": MAX_OF_A_KIND}
    return [Found(one.name, _of_tweets(tag=one.name)) for one in Tag.objects.raw(_TAGS, params)]


def views(typed: str, person: Person) -> list[Found]:
    """The person's own, and those of their teams."""
    seen = SavedView.objects.seen_by(person).annotate(
        at=StrIndex(Lower("name"), Lower(Value(typed)))
    )
    return [
        Found(one.title, f"{reverse('tweets')}?{one.query or 'sort=newest'}")
        for one in seen.filter(at__gt=0).order_by("at", "name")[:MAX_OF_A_KIND]
    ]


def hashtags(typed: str) -> list[Found]:
    name = typed.removeprefix("#").casefold()
    if not re.fullmatch(r"\w+", name):
        return []
    return [
        Found(f"#{one}", set_of(SetKind.HASHTAG, one))
        for one in names_like("hashtag", name, most=MAX_OF_A_KIND)
    ]


def domains(typed: str) -> list[Found]:
    name = domain_of(typed)
    if len(name) < _MIN_DOMAIN_LENGTH or not re.fullmatch(r"[\w.-]+", name):
        return []
    return [
        Found(one, set_of(SetKind.DOMAIN, one))
        for one in names_like("domain", name, most=MAX_OF_A_KIND)
    ]


def of_words(typed: str) -> list[Found]:
    """Where all of that is searched."""
    return [
        Found(f"Search all tweets for “{typed}”", _of_tweets(q=typed)),
        Found(f"Search the help for “{typed}”", f"{reverse('help')}?{urlencode({'q': typed})}"),
    ]


def _of_tweets(**filters: str) -> str:
    return f"{reverse('tweets')}?{urlencode(filters)}"
