"""Lists: ids and addresses of tweets, one or several on a line, among remarks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trackers.ingest.found_tweets import (
    MAX_QUOTED_LENGTH,
    FoundTweet,
    Numbered,
    Options,
    Rejected,
)
from trackers.ingest.sources.naming import as_a_source
from trackers.ingest.tweet_ids import CUT_OFF, ROUNDED_THERE, ids_in, is_rounded

_NOT_A_TWEET = "is neither the id nor the address of a tweet"
# What spreadsheets write above a table, for themselves.
_SEPARATOR = re.compile(r'"?sep=.?"?$', re.IGNORECASE)


def is_remark(line: str) -> bool:
    return line.lstrip().startswith("#") or _SEPARATOR.match(line.strip()) is not None


def read_ids(lines: Numbered, options: Options) -> Iterator[FoundTweet | Rejected]:
    for number, line in lines:
        if is_remark(line):
            continue
        named = ids_in(line)
        if not named.ids:
            why = ROUNDED_THERE if is_rounded(line) else as_a_source(line) or _NOT_A_TWEET
            yield Rejected(number, line.strip()[:MAX_QUOTED_LENGTH], why)
        for id in named.ids:
            yield FoundTweet(id, is_certain=named.is_address)
        if named.cut_off:
            yield Rejected(number, named.cut_off[:MAX_QUOTED_LENGTH], CUT_OFF)
