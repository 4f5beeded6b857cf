"""The rules of the filtered stream of a credential's app: read, add, delete.

Over the same lines and with the same errors as `client`; bearer tokens only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

import requests
from tweepy.streaming import StreamingClient, StreamRule

from trackers.xapi.endpoints import CHANGE_STREAM_RULES, STREAM_RULES
from trackers.xapi.errors import BadRequest, Garbage
from trackers.xapi.keys import Keys
from trackers.xapi.parse.stream import (
    Added,
    Deleted,
    RulesReply,
    read_added,
    read_deleted,
    read_rules,
)
from trackers.xapi.wire.session import RejectedReply, Reply
from trackers.xapi.wire.x_client import PLACEHOLDER, XClient, client_for

# X limits a rule to 1,024 characters, so this many fit in any request.
MAX_RULES_PER_REQUEST = 100


def rules_of(keys: Keys, *, base_url: str, timeout: timedelta) -> RulesReply:
    """All rules of the credential's app, whoever made them; raises XError and nothing else."""
    x_client = client_for(keys, base_url, timeout)
    client = _tweepy_over(x_client)
    return x_client.ask(STREAM_RULES[keys.api], client.get_rules, read_rules, ())


def add_rules(keys: Keys, tagged: Mapping[str, str], *, base_url: str, timeout: timedelta) -> Added:
    """Add rules, given as tags by value, `MAX_RULES_PER_REQUEST` at the most; as `rules_of`.

    BadRequest when X refuses them all without naming any; refusals of single rules are an answer.
    """
    x_client = client_for(keys, base_url, timeout)
    client = _tweepy_over(x_client)
    rules = [StreamRule(value=value, tag=tag) for value, tag in tagged.items()]
    refused = b""

    def send() -> Reply:
        nonlocal refused
        try:
            return client.add_rules(rules)
        except RejectedReply as refusal:
            refused = refusal.reply.body
            raise

    try:
        return x_client.ask(CHANGE_STREAM_RULES[keys.api], send, read_added, ())
    except BadRequest as error:
        window, failure = error.window, error
    with suppress(Garbage):
        reply = read_added(refused, (), window=window)
        if reply.refused or reply.known:
            return reply
    raise failure


def delete_rules(keys: Keys, ids: Sequence[int], *, base_url: str, timeout: timedelta) -> Deleted:
    """Delete rules by their ids; as `add_rules`."""
    x_client = client_for(keys, base_url, timeout)
    client = _tweepy_over(x_client)
    endpoint = CHANGE_STREAM_RULES[keys.api]
    return x_client.ask(endpoint, lambda: client.delete_rules(list(ids)), read_deleted, ())


def _tweepy_over(x_client: XClient) -> StreamingClient:
    """tweepy's stream client, over our session: it holds no secret and makes no connection."""
    client = StreamingClient(PLACEHOLDER, return_type=requests.Response, wait_on_rate_limit=False)
    client.session = x_client.session
    return client
