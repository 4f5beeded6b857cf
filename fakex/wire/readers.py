"""From a request to what it asks for, per endpoint; or all of X's complaints about it.

Look-ups hardly ever differ in the fields they request of each post, so the readers cache these.
"""

from __future__ import annotations

from fakex.endpoints import (
    ALL_COUNTS,
    CHANGE_RULES,
    CONNECTIONS,
    COUNTS,
    CREDITS,
    END_CONNECTIONS,
    LIST,
    LOOKUP,
    ME,
    RULE_COUNTS,
    RULES,
    STREAM,
    TOKEN,
    TWEET,
    TWEETS,
    USAGE,
    USER,
    USERNAME,
    USERS,
    USERS_BY,
    Request,
)
from fakex.wire.counts import CountsAsk, read_counts
from fakex.wire.lists import ListAsk, read_list
from fakex.wire.lookup_v1 import Lookup, parse_lookup
from fakex.wire.requests_pages import SORTS, PageAsk, PageReader
from fakex.wire.requests_stream import complaints_about
from fakex.wire.requests_v2 import (
    USERNAMES,
    Invalid,
    LookupAsk,
    NameAsk,
    Reader,
    Shape,
    SingleReader,
    StreamAsk,
    StreamReader,
    complaints_of,
)
from fakex.wire.usage import UsageAsk, read_usage

_MOST_IDS_V1 = 100
_NOTHING = LookupAsk([], Shape())
# Read only once the caller is known.
_UNREAD = frozenset(
    {TOKEN, RULES, CHANGE_RULES, RULE_COUNTS, CREDITS, CONNECTIONS, END_CONNECTIONS}
)
Wish = LookupAsk | Lookup | UsageAsk | NameAsk | PageAsk | StreamAsk | CountsAsk | ListAsk


class Readers:
    def __init__(self) -> None:
        self._lists = {
            TWEETS: Reader("ids"),
            USERS: Reader("ids"),
            USERS_BY: Reader("usernames", USERNAMES),
        }
        self._pages = {endpoint: PageReader(endpoint) for endpoint in SORTS}
        by_id = SingleReader("id")
        self._single = {TWEET: by_id, USER: by_id, ME: SingleReader()}
        self._name, self._stream = SingleReader("username", USERNAMES), StreamReader()

    def read(self, request: Request, vocabulary: str) -> Wish | Invalid:
        """`vocabulary`: as in `Settings`."""
        endpoint = request.endpoint
        if endpoint in _UNREAD:
            complaints = complaints_about(endpoint, request.query)
            return Invalid(complaints) if complaints else _NOTHING
        if endpoint != STREAM and (complaints := complaints_of(request.query, vocabulary)):
            return Invalid(complaints)
        try:
            if endpoint in self._lists:
                return self._lists[endpoint].read(request.query)
            if endpoint in self._pages:
                return self._pages[endpoint].read(request.subject, request.query)
            if endpoint in self._single:
                shape = self._single[endpoint].read(request.subject, request.query)
                return LookupAsk([request.subject] if request.subject else [], shape)
            if endpoint in (COUNTS, ALL_COUNTS):
                return read_counts(endpoint, request.query)
            if endpoint == LIST:
                return read_list(request.subject, request.query)
            if endpoint == LOOKUP:
                return _read_lookup(request)
            if endpoint == USAGE:
                return read_usage(request.query)
            if endpoint == STREAM:
                return self._stream.read(request.query)
            assert endpoint == USERNAME
            return NameAsk(request.subject, self._name.read(request.subject, request.query))
        except Invalid as invalid:
            return invalid


def _read_lookup(request: Request) -> Lookup:
    lookup = parse_lookup(request.query, request.form)
    if lookup is None:
        raise Invalid([])
    if len(lookup.ids) > _MOST_IDS_V1:
        raise Invalid([], lookup.ids)
    return lookup
