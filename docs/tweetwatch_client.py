"""A client of tweetwatch's API in one file, for Python 3.11 and later. It needs no package.

    watch = Tweetwatch("https://tweetwatch.example", token)
    watch.track(["https://x.com/nasa/status/2117044012446646274"])
    for tweet in watch.tweets(q="liftoff", lang="en", min_likes=100):
        print(tweet["id"], tweet["likes"])
    with open("nasa.csv", "wb") as file:
        watch.export(file, "csv", author="@nasa", age="7d")

Lists are iterators that fetch page after page. What is refused raises ApiError, with the problem's
sentence. A GET, and a POST by its Idempotency-Key, is sent again when there was no answer, or when
the token has made too many requests in this minute.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from email.message import Message
from typing import Any, BinaryIO, Literal, TypedDict, Unpack
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

Metric = Literal["retweets", "replies", "likes", "quotes", "bookmarks", "views"]
Bucket = Literal["1m", "5m", "15m", "1h", "6h", "1d"]
State = Literal[
    "fresh",
    "resting",
    "paused",
    "no_money",
    "missing",
    "not_found",
    "unreadable",
    "gone",
    "isolated",
]
Presence = Literal[
    "shown",
    "not_found",
    "protected",
    "suspended",
    "unauthorized",
    "unavailable",
    "unasked",
]
# Tweets in one request, as the API has it: in a body, and in an address.
MOST = 1_000
LISTED_MOST = 300
# What may be gone in a moment: too many requests, and a database that is away.
PASSING = {429, 503}


class Author(TypedDict):
    id: str
    username: str
    name: str


class Figures(TypedDict):
    """None: not known."""

    retweets: int | None
    replies: int | None
    likes: int | None
    quotes: int | None
    bookmarks: int | None
    views: int | None


class Score(TypedDict):
    """How many times what is usual; None: not known."""

    score: float | None
    expected: float | None
    posts: int  # of how many of the author's that is
    kind: str | None  # of these; None: of all kinds


class Tweet(Figures):
    id: str
    author: Author | None
    text: str | None
    created_at: str | None
    measured_until: str | None
    engagement_rate: float | None
    scores: dict[Metric, Score]


class Sample(Figures):
    at: str
    until: str | None
    measurements: int | None


class Leader(TypedDict):
    tweet: Tweet
    gain: int
    velocity: float
    since: str
    until: str


class AtAge(Figures):
    """All None where it was not measured around this age."""

    age: str
    measured_at: str | None


class Compared(TypedDict):
    tweet: Tweet
    at: list[AtAge]


class Filters(TypedDict, total=False):
    """Those of the list of tweets. `author`: an id, or @name; `since` and `until`: days in UTC, as
    2026-11-02."""

    q: str
    state: State
    presence: Presence
    source: str
    tag: str
    author: str
    lang: str
    kind: Literal["own", "reply", "quote", "video", "photo", "link", "text"]
    has: Literal["link", "media"]
    hashtag: str
    cashtag: str
    mention: str
    domain: str
    age: Literal["1h", "24h", "7d", "30d"]
    since: str
    until: str
    min_retweets: int
    min_replies: int
    min_likes: int
    min_quotes: int
    min_bookmarks: int
    min_views: int
    min_score: float
    min_engagement: float
    view: str  # a saved view's id, instead of the other filters
    sort: Literal["score"]  # of the metric
    metric: Literal["views", "likes", "retweets"]


class Tracked(TypedDict):
    input: str
    id: str | None
    outcome: Literal["tracked", "already", "rejected"]
    detail: str


class Interval(TypedDict):
    """With an accuracy it adapts, between the two bounds (docs/how-often.md)."""

    younger_than: str
    every: str
    jitter: float
    enabled: bool
    accuracy: float | None
    at_most: str | None
    at_least: str | None


class ApiError(Exception):
    """The API refused; `problem` is what it said, as RFC 9457 has it."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{status}: {problem.get('detail', 'no problem was told')}")
        self.status, self.problem = status, problem


class Tweetwatch:
    def __init__(
        self, address: str, token: str, *, timeout: float = 30, tries: int = 4, patience: float = 60
    ) -> None:
        """`patience`: the longest that a `Retry-After` is waited for, in seconds."""
        if urlsplit(address).scheme not in ("http", "https"):
            raise ValueError("An address begins with https://.")
        self._base = f"{address.rstrip('/')}/api/v1"
        self._token, self._timeout = token, timeout
        self._tries, self._patience = tries, patience
        # The ETag and the answer of each address that was read.
        self._seen: dict[str, tuple[str, Any]] = {}

    # Tweets

    def track(self, tweets: Iterable[str]) -> list[Tracked]:
        """Ids or addresses, however many; each with its own result."""
        given, results = list(tweets), list[Tracked]()
        for start in range(0, len(given), MOST):
            told = self._send("POST", "/tweets", {"tweets": given[start : start + MOST]})
            results += told["results"]
        return results

    def tweets(self, **filters: Unpack[Filters]) -> Iterator[Tweet]:
        """The newest first."""
        yield from self._pages("/tweets", "tweets", {**filters, "limit": 200})

    def export(
        self,
        file: BinaryIO,
        format: Literal["csv", "jsonl", "parquet"] = "jsonl",
        **filters: Unpack[Filters],
    ) -> None:
        """All that `tweets` would give, written to the file."""
        self._file("/tweets/export", file, {**filters, "format": format})

    def dump(
        self,
        what: Literal["tweets", "samples"],
        file: BinaryIO,
        format: Literal["csv", "jsonl"] = "jsonl",
        *,
        ids: Iterable[str] = (),
    ) -> None:
        """Everything that is kept of these tweets, however many, or of all."""
        given = list(ids)
        for start in range(0, len(given) or 1, LISTED_MOST):
            asked = {"format": format, "ids": ",".join(given[start : start + LISTED_MOST])}
            with tempfile.TemporaryFile() as piece:
                self._file(f"/exports/{what}", file if start == 0 else piece, asked)
                piece.seek(0)
                if format == "csv":
                    # The names of the columns are there already.
                    piece.readline()
                shutil.copyfileobj(piece, file)

    def compare(self, ids: Iterable[str], *, ages: Iterable[str] = ()) -> list[Compared]:
        """2 to 6 tweets, in this order; `ages` as 15m, 1h or 7d."""
        asked = {"ids": ",".join(ids), "ages": ",".join(ages)}
        found: list[Compared] = self._get("/tweets/compare", asked)["tweets"]
        return found

    def tweet(self, id: str) -> dict[str, Any]:
        """Everything that is known of it."""
        return self._get(f"/tweets/{part(id)}")

    def history(
        self,
        id: str,
        *,
        since: str | None = None,
        until: str | None = None,
        bucket: Bucket | None = None,
    ) -> Iterator[Sample]:
        """The oldest first. Times are ISO 8601 with a zone."""
        asked = {"since": since, "until": until, "bucket": bucket, "limit": 5000}
        yield from self._pages(f"/tweets/{part(id)}/history", "samples", asked)

    def leaderboard(
        self,
        metric: Metric = "views",
        *,
        window: Literal["15m", "1h", "24h"] = "1h",
        by: Literal["gain", "velocity"] = "velocity",
        limit: int = 50,
    ) -> list[Leader]:
        asked = {"metric": metric, "window": window, "by": by, "limit": limit}
        found: list[Leader] = self._get("/leaderboards/tweets", asked)["leaders"]
        return found

    def act(self, what: Literal["check", "pause", "resume", "untrack"], ids: Iterable[str]) -> int:
        """To how many of them there was something to do."""
        given, done = list(ids), 0
        for start in range(0, len(given), MOST):
            some = {"ids": given[start : start + MOST]}
            done += self._send("POST", f"/tweets/{what}", some)["done"]
        return done

    # Sources and intervals

    def sources(self, *, kind: str | None = None) -> Iterator[dict[str, Any]]:
        yield from self._pages("/sources", "sources", {"kind": kind, "limit": 200})

    def add_source(self, kind: str, of: str, **settings: Any) -> dict[str, Any]:
        """As watch.add_source("account", "@nasa", every="10m")."""
        return self._send("POST", "/sources", {"kind": kind, "of": of, **settings})

    def change_source(self, id: str, **settings: Any) -> dict[str, Any]:
        return self._send("PATCH", f"/sources/{part(id)}", settings)

    def remove_source(self, id: str) -> None:
        self._send("DELETE", f"/sources/{part(id)}")

    def intervals(self) -> list[Interval]:
        found: list[Interval] = self._get("/intervals")["intervals"]
        return found

    def replace_intervals(
        self, intervals: Iterable[Interval], *, confirm: bool = False
    ) -> list[Interval]:
        """ApiError 412 if somebody has changed them since they were last read here; 409 if they ask
        X for more than twice as much, and are not confirmed."""
        seen = self._seen.get(f"{self._base}/intervals")
        headers = {"If-Match": seen[0]} if seen else {}
        body = {"intervals": list(intervals), "confirm": confirm}
        told = self._send("PUT", "/intervals", body, headers)
        found: list[Interval] = told["intervals"]
        return found

    # How it goes

    def queues(self) -> list[dict[str, Any]]:
        return self._get("/queues")["queues"]  # type: ignore[no-any-return]

    def workers(self) -> list[dict[str, Any]]:
        return self._get("/workers")["workers"]  # type: ignore[no-any-return]

    def credentials(self) -> list[dict[str, Any]]:
        return self._get("/credentials")["credentials"]  # type: ignore[no-any-return]

    def budgets(self) -> list[dict[str, Any]]:
        return self._get("/budgets")["budgets"]  # type: ignore[no-any-return]

    # Requests

    def _pages(self, path: str, name: str, asked: Mapping[str, Any]) -> Iterator[Any]:
        cursor: str | None = ""
        while cursor is not None:
            page = self._get(path, {**asked, "cursor": cursor})
            yield from page[name]
            cursor = page["next"]

    def _address(self, path: str, asked: Mapping[str, Any] | None = None) -> str:
        given = {name: one for name, one in (asked or {}).items() if one not in (None, "")}
        return f"{self._base}{path}{'?' if given else ''}{urlencode(given)}"

    def _file(self, path: str, file: BinaryIO, asked: Mapping[str, Any]) -> None:
        """Sent again only until something was written to the file."""
        self._request("GET", self._address(path, asked), None, {}, into=file)

    def _get(self, path: str, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What has not changed since it was last read here is not sent again."""
        address = self._address(path, asked)
        seen = self._seen.get(address)
        headers = {"If-None-Match": seen[0]} if seen else {}
        status, told, answered = self._request("GET", address, None, headers)
        if status == 304 and seen:
            return dict(seen[1])
        if (tag := answered.get("ETag")) and "cursor=" not in address:
            self._seen[address] = (tag, told)
        return dict(told)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        given = dict(headers or {})
        if method == "POST":
            given["Idempotency-Key"] = str(uuid4())
        _, told, _ = self._request(method, f"{self._base}{path}", body, given)
        return told or {}

    def _request(
        self,
        method: str,
        address: str,
        body: Any,
        headers: Mapping[str, str],
        *,
        into: BinaryIO | None = None,
    ) -> tuple[int, Any, Message]:
        data = None if body is None else json.dumps(body).encode()
        given = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            address, data=data, method=method, headers={**given, **headers}
        )
        may_repeat = method == "GET" or "Idempotency-Key" in headers
        for left in reversed(range(self._tries)):
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                    if into is None:
                        return answer.status, read(answer.read()), answer.headers
                    may_repeat = False
                    shutil.copyfileobj(answer, into)
                    return answer.status, None, answer.headers
            except urllib.error.HTTPError as refused:
                if refused.code == 304:
                    return 304, None, refused.headers
                wait = float(refused.headers.get("Retry-After") or 1)
                told = read(refused.read())
                if not (left and may_repeat and refused.code in PASSING and wait <= self._patience):
                    raise ApiError(refused.code, told if isinstance(told, dict) else {}) from None
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                if not (left and may_repeat):
                    raise
                wait = 1.0
            time.sleep(wait)
        raise AssertionError("the last try returns or raises")


def part(id: str) -> str:
    return quote(id, safe="")


def read(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None
