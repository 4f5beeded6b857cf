"""The cursor that everybody writes: `since_id` is the newest id that was seen.

Of a list, which takes no `since_id`, the head is read until a post that is not newer than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests

BEARER = "a-token-of-the-naive-reader"
MOST_PAGES = 50
# What a page is asked of, as X's log calls it.
PAGES = ("GET /2/users/:id/tweets", "GET /2/tweets/search/recent", "GET /2/lists/:id/tweets")


class NaiveReader:
    """Reads one listing; `seen` are all ids that it ever read."""

    def __init__(self, url: str, kind: str, of: str, *, latest: int) -> None:
        self.kind, self.latest = kind, latest
        self.seen: set[int] = set()
        self.pages = 0
        path = {
            "account": f"users/{of}/tweets",
            "search": "tweets/search/recent",
            "list": f"lists/{of}/tweets",
        }
        self._url = f"{url}/2/{path[kind]}"
        self._query = {"query": of} if kind == "search" else {}
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["authorization"] = f"Bearer {BEARER}"

    def poll(self) -> None:
        newer = list(self._newer())
        self.seen.update(newer)
        self.latest = max([self.latest, *newer])

    def _newer(self) -> Iterator[int]:
        token = None
        for _ in range(MOST_PAGES):
            page = self._ask(token)
            for post in page.get("data", ()):
                if int(post["id"]) <= self.latest:
                    return
                yield int(post["id"])
            token = page["meta"].get("next_token")
            if token is None:
                return
        raise RuntimeError(f"The naive reader's {self.kind} has more than {MOST_PAGES} pages.")

    def _ask(self, token: str | None) -> dict[str, Any]:
        asked: dict[str, str | int] = {"max_results": 100, **self._query}
        if self.kind != "list":
            asked["since_id"] = self.latest
        if token:
            asked["next_token" if self.kind == "search" else "pagination_token"] = token
        reply = self._session.get(self._url, params=asked, timeout=15)
        reply.raise_for_status()
        self.pages += 1
        return dict(reply.json())
