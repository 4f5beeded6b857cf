"""The rules of the filtered stream of a credential's app: read, add, delete.

Over the same lines and with the same errors as `client`; for bearer tokens alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import requests
from tweepy.streaming import StreamingClient, StreamRule

from trackers.xapi.endpoints import CHANGE_STREAM_RULES, STREAM_RULES
from trackers.xapi.line import PLACEHOLDER, Line, line_for
from trackers.xapi.models import Credential
from trackers.xapi.parse_stream import (
    Added,
    Deleted,
    Rules,
    read_added,
    read_deleted,
    read_rules,
)

# X's own bound of a rule is 1,024 characters, so that this many fit in any request.
MOST_AT_ONCE = 100


def rules_of(credential: Credential, *, base_url: str, timeout: timedelta) -> Rules:
    """All rules of the credential's app, whoever made them; raises XError and nothing else."""
    line = line_for(credential, base_url, timeout)
    client = tweepy_over(line)
    return line.ask(STREAM_RULES[credential.api], client.get_rules, read_rules, ())


def add_rules(
    credential: Credential, tagged: Mapping[str, str], *, base_url: str, timeout: timedelta
) -> Added:
    """Add rules, given as tags by value, `MOST_AT_ONCE` at the most; as `rules_of`."""
    line = line_for(credential, base_url, timeout)
    client = tweepy_over(line)
    rules = [StreamRule(value=value, tag=tag) for value, tag in tagged.items()]
    endpoint = CHANGE_STREAM_RULES[credential.api]
    return line.ask(endpoint, lambda: client.add_rules(rules), read_added, ())


def delete_rules(
    credential: Credential, ids: Sequence[int], *, base_url: str, timeout: timedelta
) -> Deleted:
    """Delete rules by their ids; as `add_rules`."""
    line = line_for(credential, base_url, timeout)
    client = tweepy_over(line)
    endpoint = CHANGE_STREAM_RULES[credential.api]
    return line.ask(endpoint, lambda: client.delete_rules(list(ids)), read_deleted, ())


def tweepy_over(line: Line) -> StreamingClient:
    """tweepy's client for streams, with our session: it holds no secret and makes no connection."""
    client = StreamingClient(PLACEHOLDER, return_type=requests.Response, wait_on_rate_limit=False)
    client.session = line.session
    return client
