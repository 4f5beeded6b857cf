"""Bodies of v1.1 `statuses/lookup.json`: hidden tweets are omitted, or null with `map=true`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from fakex.wire.entities import v1_entities_of
from fakex.wire.escapes import v1_dump, v1_time
from fakex.wire.users import user_v1
from fakex.world.contents import AS_INVENTED, cut
from fakex.world.seeded import FaultAnswer, Moment, World
from fakex.world.traits import Figures, Traits

_TRUE = {"true", "t", "1"}


@dataclass(frozen=True, slots=True)
class Lookup:
    ids: list[str]
    map: bool
    trim_user: bool
    entities: bool
    extended: bool


def parse_lookup(query: str, form: str) -> Lookup | None:
    """The request, from the query and the posted form; None when it names no readable id."""
    params = dict(parse_qsl(f"{query}&{form}", keep_blank_values=True))
    ids = [text.strip() for text in params.get("id", "").split(",")]
    readable = [text for text in dict.fromkeys(ids) if text.isascii() and text.isdigit()]
    if not readable:
        return None
    return Lookup(
        ids=readable,
        map=params.get("map", "").lower() in _TRUE,
        trim_user=params.get("trim_user", "").lower() in _TRUE,
        entities=params.get("include_entities", "true").lower() in _TRUE,
        extended=params.get("tweet_mode") == "extended",
    )


def lookup_body(
    lookup: Lookup, *, world: World, moment: Moment, faulted: Mapping[str, FaultAnswer]
) -> tuple[bytes, int]:
    """The 200 body and the number of tweets in it."""
    statuses: dict[str, dict[str, Any] | None] = {}
    for text in lookup.ids:
        fault = faulted.get(text)
        tweet = world.traits(int(text))
        answer = world.answer(tweet, moment) if tweet else "not_found"
        if tweet is None or isinstance(answer, str) or fault in ("omitted", "not_found"):
            statuses[text] = None
        else:
            status = _status_v1(tweet, answer, lookup, world=world, moment=moment)
            if fault in ("broken", "missing"):
                status |= {"retweet_count": "many", "favorite_count": None}
            elif fault == "null_count":
                status |= {"favorite_count": None}
            statuses[text] = status
    shown = [status for status in statuses.values() if status]
    return v1_dump({"id": statuses} if lookup.map else shown), len(shown)


def _status_v1(
    tweet: Traits, figures: Figures, lookup: Lookup, *, world: World, moment: Moment
) -> dict[str, Any]:
    content = world.content(tweet)
    lang, text = content.lang, cut(content.text)
    author = world.people[tweet.author]
    retweets, _, likes, *_ = figures
    status: dict[str, Any] = {
        "created_at": v1_time(tweet.born_ms),
        "id": tweet.id,
        "id_str": str(tweet.id),
        "full_text" if lookup.extended else "text": text,
        "truncated": False,
        "in_reply_to_status_id": None,
        "in_reply_to_status_id_str": None,
        "geo": None,
        "coordinates": None,
        "place": None,
        "is_quote_status": False,
        "retweet_count": retweets,
        "favorite_count": likes,
        "favorited": False,
        "retweeted": False,
        "lang": lang,
        "source": '<a href="https://example.org" rel="nofollow">Example</a>',
    }
    if lookup.extended:
        status["display_text_range"] = [0, len(text)]
    if lookup.entities:
        entities = v1_entities_of(content, text, world)
        if media := entities.pop("media"):
            entities["media"] = media[:1]
            status["extended_entities"] = {"media": media}
        status["entities"] = entities
    if withheld := world.contents.get(tweet.id, AS_INVENTED).withheld:
        status["withheld_in_countries"] = withheld["country_codes"]
        status["withheld_copyright"] = withheld.get("copyright", False)
    trimmed = {"id": author.id, "id_str": str(author.id)}
    full = user_v1(author, world=world, moment=moment)
    status["user"] = trimmed if lookup.trim_user else full
    return status
