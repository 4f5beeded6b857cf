"""What the posts of flows say: kind, words, tags, mentions, links, and whom they reply to.

Everything follows from the flow and the post's number. Names in a text are people's original names:
a text does not change when somebody is renamed.
"""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from fakex.world import texts
from fakex.world.authors import Author
from fakex.world.contents import CUT_AT
from fakex.world.flows import Flow
from fakex.world.ids import Ids

Kind = Literal["original", "reply", "retweet", "quote"]
_FARTHEST_BACK = 500
_TAG = re.compile(r"#(\w+)")
_TYPED_ADDRESS = re.compile(r"https?://\S+")
_SHORTENED = "https://t.co/"


@dataclass(frozen=True, slots=True)
class Content:
    lang: str
    text: str
    kind: Kind = "original"
    tags: tuple[str, ...] = ()
    mentions: tuple[int, ...] = ()  # author numbers
    links: tuple[str, ...] = ()  # where they lead
    media: tuple[str, ...] = ()  # keys
    about: int | None = None  # the id of the post replied to, quoted or retweeted
    to: int | None = None
    thread: int | None = None  # the id of the post that began the conversation


def kind_of_post(flow: Flow, number: int) -> Kind:
    draw = (flow.draw(number, 3) & 0xFFFF) / 65536
    if number == 0:
        return "original"
    if draw < flow.replies:
        return "reply"
    if draw < flow.replies + flow.retweets:
        return "retweet" if _is_source(flow, _back(flow, number)) else "original"
    return "quote" if draw < flow.replies + flow.retweets + flow.quotes else "original"


def plain(sentence: int) -> Content:
    """A post of the world's first tweets: a sentence and its tags."""
    lang, text = texts.write(sentence)
    return Content(lang, text, tags=tuple(_TAG.findall(text)) if "#" in text else ())


def rewritten(content: Content, text: str | None, media: tuple[str, ...]) -> Content:
    """The same post with another text, if there is one, and with these media: its tags and links
    are read again, names are not."""
    if text is not None:
        content = replace(
            content,
            text=_TYPED_ADDRESS.sub(lambda found: shortened(found[0]), text),
            tags=tuple(_TAG.findall(text)),
            mentions=(),
            links=tuple(dict.fromkeys(_TYPED_ADDRESS.findall(text))),
        )
    if media and len(content.text) <= CUT_AT:
        content = replace(content, text=f"{content.text} {shortened(media[0])}", media=media)
    return content


def shortened(address: str) -> str:
    """X's own address for it, which stands in the text instead."""
    if address.startswith(_SHORTENED):
        return address
    return _SHORTENED + b32encode(sha256(address.encode()).digest())[:10].decode().lower()


def compose(flow: Flow, number: int, *, ids: Ids, people: Sequence[Author]) -> Content:
    kind = kind_of_post(flow, number)
    if kind == "retweet":
        return _share(flow, number, ids=ids, people=people)
    draw, picks = flow.draw(number, 4), flow.draw(number, 5)
    lang, text = texts.write(draw & 0xFFF)
    about = _back(flow, number) if kind != "original" else None
    to = flow.author(about) if kind == "reply" and about is not None else None
    tags, mentioned, words = list(_TAG.findall(text)), [], [text]
    if to is not None:
        mentioned.append(to)
        words.insert(0, f"@{people[to].username}")
    if _chance(draw >> 12, flow.mentions):
        mentioned.append(flow.authors[picks % len(flow.authors)])
        words.append(f"@{people[mentioned[-1]].username}")
    if flow.tags and _chance(draw >> 28, flow.tagged):
        tags.append(flow.tags[(picks >> 20) % len(flow.tags)])
        words.append("#" + tags[-1])
    if linked := _chance(draw >> 44, flow.links):
        address = f"https://example.org/{picks >> 40 & 0xFF}"
        words.append(shortened(address))
    own_id = flow.id_at(number, ids)
    about_id = None if about is None else flow.id_at(about, ids)
    return Content(
        lang=lang,
        text=" ".join(words),
        kind=kind,
        tags=tuple(tags),
        mentions=tuple(dict.fromkeys(mentioned)),
        links=(address,) if linked else (),
        about=about_id,
        to=to,
        thread=about_id if kind == "reply" else own_id,
    )


def _share(flow: Flow, number: int, *, ids: Ids, people: Sequence[Author]) -> Content:
    source = _back(flow, number)
    shared = compose(flow, source, ids=ids, people=people)
    author = flow.author(source)
    return Content(
        lang=shared.lang,
        text=f"RT @{people[author].username}: {shared.text}",
        kind="retweet",
        tags=shared.tags,
        mentions=(author, *(who for who in shared.mentions if who != author)),
        links=shared.links,
        about=flow.id_at(source, ids),
        thread=flow.id_at(number, ids),
    )


def _back(flow: Flow, number: int) -> int:
    """The earlier post that a reply, retweet or quote is about."""
    return number - 1 - flow.draw(number, 6) % min(number, _FARTHEST_BACK)


def _is_source(flow: Flow, number: int) -> bool:
    """Whether a post may be shared: its draw does not make it a retweet. Avoids a walk back."""
    draw = (flow.draw(number, 3) & 0xFFFF) / 65536
    return not flow.replies <= draw < flow.replies + flow.retweets


def _chance(draw: int, share: float) -> bool:
    return (draw & 0xFFFF) / 65536 < share
