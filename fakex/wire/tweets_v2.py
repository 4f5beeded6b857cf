"""Bodies of `GET /2/tweets`, fast: the part of a tweet that never changes is kept as text.

A body is assembled as a Latin-1 str that holds UTF-8 bytes: encoding the whole as Latin-1 is a
copy, while UTF-8 would examine every character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from fakex.wire import problems
from fakex.wire.entities import entities_of
from fakex.wire.escapes import v2_string, v2_time
from fakex.wire.requests_v2 import Shape
from fakex.wire.users import user_v2
from fakex.world import posts, texts
from fakex.world.contents import AS_INVENTED, CUT_AT, SetContent, cut
from fakex.world.ids import HOUR
from fakex.world.seeded import FaultAnswer, Moment, World, WorldAnswer
from fakex.world.traits import HIDEABLE, RELEASED, Figures, Traits


class CachedTweet(NamedTuple):
    """What is kept of a tweet."""

    traits: Traits
    head: str
    plain_ms: int  # its age at the start, -1 if its fate needs a check


_WHY_NOT_SHOWN: dict[str, Callable[[str, str], problems.Problem]] = {
    "not_found": problems.tweet_not_found,
    "not_authorized": problems.tweet_not_authorized,
}


# Most counts are small, and looking one up takes half the time of formatting it.
_MOST_WRITTEN = 1 << 16
_WRITTEN = [str(number) for number in range(_MOST_WRITTEN)]

# What follows the head of a tweet whose metrics a fault has removed or spoilt.
_SPOILT = {
    "missing": "}",
    "broken": ',"public_metrics":{"retweet_count":"many","like_count":null}}',
}
_A_LIKE_COUNT, _NO_LIKE_COUNT = re.compile(r'"like_count":\d+'), '"like_count":null'


class TweetWriter:
    """Writes tweets of one shape from one population; caches up to `keep` of them."""

    def __init__(self, shape: Shape, *, keep: int) -> None:
        self.shape, self._keep = shape, keep
        # Two generations: when full, the older one is dropped whole, at no cost per tweet.
        self._known: dict[str, CachedTweet] = {}
        self._older: dict[str, CachedTweet] = {}
        self._reposts = "repost_count" if shape.posts else "retweet_count"

    def write(
        self,
        ids: list[str],
        *,
        world: World,
        moment: Moment,
        host: str,
        faulted: Mapping[str, FaultAnswer],
        meta: bytes = b"",
    ) -> tuple[bytes, list[int]]:
        """The whole 200 body and the tweets in it; ids in `faulted` are spoilt.

        `meta` is the JSON of a page's meta.
        """
        data: list[str] = []
        errors: list[problems.Problem] = []
        seen: list[Traits] = []
        tweet_ids: list[int] = []
        known, answer, count = self._known, world.answer, world.count
        as_fated, elapsed_ms = not world.is_overridden, moment.elapsed_ms
        metrics, authors = "public_metrics" in self.shape.fields, self.shape.authors
        reposts = f',"public_metrics":{{"{self._reposts}":'
        for text in ids:
            cached = known.get(text) or self._learn(text, world)
            if cached is None:
                if faulted.get(text) != "omitted":
                    errors.append(problems.tweet_not_found(text, host))
                continue
            tweet, head, plain_ms = cached
            reply: WorldAnswer | FaultAnswer
            if as_fated and plain_ms >= 0:
                reply = count(tweet, plain_ms + elapsed_ms)
            else:
                reply = answer(tweet, moment)
            if faulted and text in faulted:
                reply = _spoil(reply, faulted[text])
            if isinstance(reply, str):
                if reply in _WHY_NOT_SHOWN:
                    errors.append(_WHY_NOT_SHOWN[reply](text, host))
                if reply not in _SPOILT:
                    continue
                data.append(head + _SPOILT[reply].replace("retweet_count", self._reposts))
            elif not metrics:
                data.append(head + "}")
            elif faulted and faulted.get(text) == "null_count":
                data.append(
                    head + reposts + _A_LIKE_COUNT.sub(_NO_LIKE_COUNT, _metrics_text(reply))
                )
            else:
                data.append(head + reposts + _metrics_text(reply))
            tweet_ids.append(tweet[0])
            if authors:
                seen.append(tweet)
        return self._body(data, errors, seen, meta, world=world, moment=moment), tweet_ids

    def _body(
        self,
        data: list[str],
        errors: list[problems.Problem],
        seen: list[Traits],
        meta: bytes,
        *,
        world: World,
        moment: Moment,
    ) -> bytes:
        sections: list[bytes] = []
        if data:
            sections.append(('"data":[' + ",".join(data) + "]").encode("latin-1"))
        if data and self.shape.authors:
            people = dict.fromkeys(world.people[tweet.author] for tweet in seen)
            users: list[Any] = [
                user_v2(person, self.shape, world=world, moment=moment) for person in people
            ]
            sections.append(b'"includes":' + orjson.dumps({"users": users}))
        if errors:
            sections.append(b'"errors":' + orjson.dumps(errors))
        if meta:
            sections.append(b'"meta":' + meta)
        return b"{" + b",".join(sections) + b"}"

    def _learn(self, text: str, world: World) -> CachedTweet | None:
        cached = self._older.get(text)
        if cached is None:
            tweet = world.traits(int(text))
            if tweet is None:
                return None
            plain_ms = -1 if tweet.flags & HIDEABLE else tweet.lead_ms
            cached = CachedTweet(tweet, _write_head(tweet, self.shape, world), plain_ms)
            if tweet.id in world.tweets:
                return cached  # it may exist only because of an override, which can be lifted
        if len(self._known) >= self._keep // 2:
            self._known, self._older = {}, self._known
        self._known[text] = cached
        return cached


def _metrics_text(figures: Figures) -> str:
    """A tweet's counts, from the first number on, and its closing braces."""
    shares, replies, likes, quotes, bookmarks, views = figures
    try:
        return (
            f'{_WRITTEN[shares]},"reply_count":{_WRITTEN[replies]},"like_count":{_WRITTEN[likes]},'
            f'"quote_count":{_WRITTEN[quotes]},"bookmark_count":{_WRITTEN[bookmarks]},'
            f'"impression_count":{_WRITTEN[views] if views < _MOST_WRITTEN else views}}}}}'
        )
    except IndexError:
        return (
            f'{shares},"reply_count":{replies},"like_count":{likes},"quote_count":{quotes},'
            f'"bookmark_count":{bookmarks},"impression_count":{views}}}}}'
        )


def _write_head(tweet: Traits, shape: Shape, world: World) -> str:
    """The tweet's JSON without metrics and closing brace, as Latin-1 text."""
    fields, tweet_id = shape.fields, tweet.id
    set_content = world.contents.get(tweet_id, AS_INVENTED)
    content = (
        world.content(tweet) if tweet.flags & RELEASED or set_content is not AS_INVENTED else None
    )
    lang, text = (content.lang, content.text) if content else texts.write(tweet.text)
    history = "edit_history_post_ids" if shape.posts else "edit_history_tweet_ids"
    versions = '","'.join(map(str, set_content.versions or (tweet_id,)))
    head = f'{{"id":"{tweet_id}","text":{v2_string(cut(text))},"{history}":["{versions}"]'
    if set_content is not AS_INVENTED:
        head += _contents_text(set_content, content or posts.plain(tweet.text), shape, world)
    if "created_at" in fields:
        head += f',"created_at":"{v2_time(tweet.born_ms)}"'
    if "author_id" in fields:
        head += f',"author_id":"{world.people[tweet.author].id}"'
    if "lang" in fields:
        head += f',"lang":"{lang}"'
    if "conversation_id" in fields:
        head += f',"conversation_id":"{(content and content.thread) or tweet_id}"'
    if content and content.about:
        head += _references(content, shape, world)
    written = content or posts.plain(tweet.text)
    if "entities" in fields and (entities := entities_of(written, cut(text), world)):
        head += f',"entities":{orjson.dumps(entities).decode("latin-1")}'
    if "possibly_sensitive" in fields:
        head += ',"possibly_sensitive":false'
    if "reply_settings" in fields:
        head += ',"reply_settings":"everyone"'
    if "username" in fields:
        head += f',"username":"{world.people[tweet.author].username}"'
    if "edit_controls" in fields:
        head += (
            ',"edit_controls":{"edits_remaining":5,"is_edit_eligible":true,'
            f'"editable_until":"{v2_time(tweet.born_ms + HOUR)}"}}'
        )
    return head


def _contents_text(content: SetContent, written: posts.Content, shape: Shape, world: World) -> str:
    """The full text of a long post, where it is withheld, and its media."""
    fields: dict[str, Any] = {}
    if "note_tweet" in shape.fields and len(text := written.text) > CUT_AT:
        entities = entities_of(written, text, world)
        note = {"text": text, **({"entities": entities} if entities else {})}
        fields["note_post" if shape.posts else "note_tweet"] = note
    if "withheld" in shape.fields and content.withheld:
        # Its scope is a tweet or a user in one vocabulary, a post or a user in the other.
        is_tweet = shape.posts and content.withheld.get("scope") == "tweet"
        fields["withheld"] = {**content.withheld, **({"scope": "post"} if is_tweet else {})}
    if "attachments" in shape.fields and content.media:
        fields["attachments"] = {"media_keys": content.media}
    return "".join(f',"{name}":{orjson.dumps(fields[name]).decode("latin-1")}' for name in fields)


_REFERENCES = {"reply": "replied_to", "retweet": "retweeted", "quote": "quoted"}


def _references(content: posts.Content, shape: Shape, world: World) -> str:
    """The post that this one is about, and for a reply that post's author."""
    text = ""
    if "in_reply_to_user_id" in shape.fields and content.to is not None:
        text += f',"in_reply_to_user_id":"{world.people[content.to].id}"'
    if "referenced_tweets" in shape.fields:
        name = "referenced_posts" if shape.posts else "referenced_tweets"
        kind = _REFERENCES[content.kind]
        if kind == "retweeted" and shape.posts and not shape.as_documented:
            kind = "reposted"  # as X itself has it (recorded 2026-10)
        text += f',"{name}":[{{"type":"{kind}","id":"{content.about}"}}]'
    return text


def _spoil(answer: WorldAnswer | FaultAnswer, fault: FaultAnswer) -> WorldAnswer | FaultAnswer:
    """An answer with its fault applied: only metrics that are there can be spoilt."""
    if fault == "null_count":
        return answer
    return answer if isinstance(answer, str) and fault in _SPOILT else fault
