"""X's endpoints by the names under which their windows are kept, per version of the API.

A mapping says which credentials may serve a call, and in which window each of them then counts.
"""

from __future__ import annotations

from collections.abc import Mapping

TWEETS: Mapping[str, str] = {"v2": "GET /2/tweets", "v1.1": "GET /1.1/statuses/lookup"}
ACCOUNTS: Mapping[str, str] = {"v2": "GET /2/users"}
