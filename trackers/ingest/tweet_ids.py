"""The tweets that a text names: ids, ids under a guard against spreadsheets, and addresses.

one text ─> id_of: the one that it is; ids_in: all that a line or a cell of a file names
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trackers.tweets.snowflake import LARGEST_ID, ms_of

# Hosts that show X's posts under X's own paths. Elsewhere /NAME/statuses/109… may be Mastodon's.
_MIRRORS = (
    "nitter.net", "nitter.poast.org", "nitter.privacydev.net", "nitter.it", "nitter.cz",
    "nitter.space", "nitter.tiekoetter.com", "nitter.42l.fr", "nitter.1d4.us",
    "nitter.kavin.rocks", "nitter.unixfox.eu", "nitter.lacontrevoie.fr", "nitter.pussthecat.org",
    "nitter.nixnet.services",
    "xcancel.com", "lightbrd.com", "twiiit.com", "fxtwitter.com", "vxtwitter.com", "fixupx.com",
    "fixvx.com", "twittpr.com", "fixupx.net", "twstalker.com", "sotwe.com",
)  # fmt: skip
_AT_X = (
    r"(?:(?:(?:www|mobile|m|[a-z]{2})\.)?(?:twitter|x)\.com|"
    r"(?:(?:www|d|c|i|g|t|dl)\.)?(?:" + "|".join(map(re.escape, _MIRRORS)) + r"))(?::\d+)?"
)
# What keeps copies of pages: the address of the copy goes on with the page's own.
_COPY = r"(?:https?://(?:web\.)?archive\.[a-z]{2,5}/(?:[\w*.-]{1,40}/){1,3})?"
_PATH = (
    r"(?:\#!/)?(?:"
    r"(?:i/(?:web/)?|@?[A-Za-z0-9_]{1,20}/)?status(?:es)?/"
    r"|[A-Za-z0-9_]{1,20}/article/"
    r"|intent/(?:retweet|like|favorite)/?\?(?:[\w=&%.-]*&)?tweet_id="
    r"|i/(?:bookmarks|tweet|tweets)/(?=[0-9]{15})"
    r")"
)
_OTHERS = (
    r"platform\.(?:twitter|x)\.com/embed/[\w/.]{0,40}\?(?:[\w=&%.,-]*&)?id="
    r"|cdn\.syndication\.twimg\.com/tweet(?:-result)?\?(?:[\w=&%.,-]*&)?id="
    r"|api\.(?:twitter|x)\.com/2/tweets/"
    r"|api\.(?:twitter|x)\.com/1(?:\.1)?/statuses/(?:show|oembed|retweets)(?:/|\.json\?id=)"
    r"|(?:www\.)?threadreaderapp\.com/thread/"
)
_TWEET = rf"{_COPY}(?:https?:/{{1,2}})?(?:{_AT_X}/{{1,2}}{_PATH}|{_OTHERS})(?P<id>[0-9]{{1,19}})"
# Not in the middle of another address: https://evil.example/?https://x.com/a/status/1.
_TWEET_ADDRESS = re.compile(
    rf"(?<![\w./?&=%@#:-]){_TWEET}(?![0-9A-Za-z_])(?:[/?#.][^\s\"'<>|]*)?", re.IGNORECASE
)
_ID = re.compile(r"[0-9]{1,19}")
# 2.1E+18 or 2100000000000000000.0, as spreadsheets write numbers of more than 15 digits.
_ROUNDED = re.compile(r"[0-9](?:[.,][0-9]+)?E\+?[0-9]{1,2}|[0-9]{16,19}\.0+", re.IGNORECASE)
ROUNDED_THERE = (
    "is an id that a spreadsheet has rounded, so its last digits are lost: export the table again "
    "with this column as text"
)
CUT_OFF = (
    "ends with an id that is much shorter than the others, so it was probably cut off: Excel keeps "
    "32,767 letters of a cell"
)
# What stands between ids, and before them.
_SEPARATORS = re.compile(r"[\s,;|\[\](){}]+")
_LABEL = re.compile(r"^[\[({\s]*(?:tweet|status|post)?[ _-]?ids?\s*[=:]\s*", re.IGNORECASE)
# A guard against spreadsheets, only before ids as X has made them since November 2010.
_GUARDED = re.compile(
    r"""[='"`\u2018\u2019\u201c\u201d<\s]*
        (?:(?:x|id|tweet|status|post|t|tw|tweet[_ -]?id|status[_ -]?id|post[_ -]?id|id[_-]str
            |tag:search\.twitter\.com,2005|urn:x:tweet)?\s?[:=_\#\s-]?\s?
        )[='"`\s]*(?P<id>[0-9]{15,19})[='"`\u2018\u2019\u201c\u201d>\s.]*""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"\w")
_LINKED = re.compile(r"=HYPERLINK\(", re.IGNORECASE)
_SHORTEST = 15
# Two digits: ids of 2010 have fifteen to seventeen, those of a day are equally long.
_MUCH_SHORTER = 2
_A_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Named:
    """What a line or a cell names."""

    ids: tuple[int, ...] = ()
    is_address: bool = False  # of tweets, so they are certain
    cut_off: str = ""  # what seems to be the beginning of one more id


_NOTHING = Named()


def id_of(text: str) -> int | None:
    """The id in a tweet's id or address; None when there is none."""
    text = text.strip().strip('"')
    if _ID.fullmatch(text):
        id = int(text)
    elif match := _TWEET_ADDRESS.fullmatch(text.strip("<>").rstrip(".")):
        id = int(match["id"])
    else:
        return None
    return id if 0 < id <= LARGEST_ID else None


def ids_in(text: str, *, alone: bool = False) -> Named:
    """All tweets that a line or a cell names; of several numbers, each must be an id. With `alone`
    nothing in a text between other words counts: that is a quote."""
    if (id := id_of(text)) is not None:
        return Named((id,), not text.strip().strip('"').isdigit())
    addresses = tuple(_ids_of_addresses(text))
    if addresses:
        is_quote = alone and _WORD.search(_TWEET_ADDRESS.sub("", text)) and not _LINKED.match(text)
        return _NOTHING if is_quote else Named(addresses, is_address=True)
    guarded = _GUARDED.fullmatch(text)
    if guarded and has_a_time(int(guarded["id"])):
        return Named((int(guarded["id"]),))
    return _listed(text)


def _ids_of_addresses(text: str) -> Iterator[int]:
    if "/" not in text:
        return
    for match in _TWEET_ADDRESS.finditer(text):
        if 0 < (id := int(match["id"])) <= LARGEST_ID:
            yield id


def _listed(text: str) -> Named:
    """Ids beside each other: "1, 2", [1 2], ids=1,2,3."""
    label = _LABEL.match(text)
    pieces = [piece for piece in _SEPARATORS.split(text[label.end() :] if label else text) if piece]
    if not pieces or (len(pieces) == 1 and not label):
        return _NOTHING
    digits = [_digits_of(piece, is_labelled=label is not None) for piece in pieces]
    is_cut = len(pieces) > 1 and _is_cut_off(pieces[-1], digits[:-1])
    if is_cut:
        digits.pop()
    ids = tuple(int(each) for each in digits if each is not None)
    if len(ids) < len(digits) or not all(0 < id <= LARGEST_ID for id in ids):
        return _NOTHING
    return Named(ids, cut_off=pieces[-1] if is_cut else "")


def _digits_of(piece: str, *, is_labelled: bool) -> str | None:
    """The digits of an id; only under a label may it be a short one."""
    if _ID.fullmatch(piece):
        is_long = len(piece) >= _SHORTEST and has_a_time(int(piece))
        return piece if is_labelled or is_long else None
    guarded = _GUARDED.fullmatch(piece)
    return guarded["id"] if guarded and has_a_time(int(guarded["id"])) else None


def _is_cut_off(last: str, others: Sequence[str | None]) -> bool:
    shortest = min(len(each or "") for each in others)
    is_short = len(last) <= shortest - _MUCH_SHORTER
    return shortest >= _SHORTEST and is_short and last.isascii() and last.isdigit()


def has_a_time(id: int) -> bool:
    """Whether X can have made it between November 2010 and now (or a clock's error later)."""
    return id >= 10 ** (_SHORTEST - 1) and ms_of(id) < time.time() * 1000 + _A_DAY_MS


def is_rounded(text: str) -> bool:
    return bool(_ROUNDED.fullmatch(text.strip().strip('"')))
