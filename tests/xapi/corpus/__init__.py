"""Bodies of X, published or recorded, each with its source and what is right; texts are replaced.

`python -m tests.xapi.corpus` prints what the product makes of each. A body is a line of one of the
files beside this one. `expected` was worked out apart from the product: a line for each post,
account or rule; of a refusal the error, by endpoint where they differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trackers.xapi.errors import Depleted, Garbage, XError
from trackers.xapi.parse import stream as parse_stream
from trackers.xapi.parse import usual, v1, v2
from trackers.xapi.parse.timeline import page_of
from trackers.xapi.results import Post, Shown
from trackers.xapi.wire.headers import window_seen
from trackers.xapi.wire.refusals import error_in
from trackers.xapi.wire.session import Reply

Case = Mapping[str, Any]
Lines = list[str]


def cases(*files: str) -> Iterator[Case]:
    for file in files or ("refusals", "lookups", "pages", "lines", "recorded"):
        for line in (Path(__file__).parent / f"{file}.jsonl").read_text().splitlines():
            yield {"file": file, **json.loads(line)}


def verdicts(case: Case) -> list[tuple[str, Lines, Lines]]:
    """What the product makes of a body, and what is right, by endpoint ("" where there is none)."""
    if case["file"] != "refusals":
        return [("", _KINDS[case.get("kind", case["file"])](case), case["expected"])]
    expected = case["expected"]
    return [
        (endpoint, _refusal(case, endpoint), [expected.get(endpoint, expected.get(""))])
        for endpoint in case["endpoints"]
    ]


def _bytes_of(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def sentence(case: Case, endpoint: str = "") -> XError:
    """The error that a refusal becomes."""
    headers = case.get("headers", {})
    reply = Reply(case["status"], headers, _bytes_of(case["body"]), "")
    return error_in(reply, window_seen(headers, endpoint), endpoint=endpoint)


def _refusal(case: Case, endpoint: str = "") -> Lines:
    error = sentence(case, endpoint)
    until = f" until {error.resets_on}" if isinstance(error, Depleted) and error.resets_on else ""
    return [f"{type(error).__name__}{until}"]


def _post(id: int, post: Post | None) -> str:
    counts = post and list(post.figures)
    if not counts or counts == [None] * 6:
        return f"{id} no counts"
    return " ".join(["-" if count is None else str(count) for count in (id, *counts)])


def _tweets(body: Any, ids: list[int]) -> Lines:
    try:
        answer = v2.read_lookup(_bytes_of(body), ids, window=None)
        shown = usual.read_lookup(_bytes_of(body), ids, window=None)
    except Garbage:
        return ["not an answer"]
    if isinstance(shown, Shown):
        columns = zip(*shown.figures, strict=True)
        assert list(columns) == [tuple(answer.posts[id].figures) for id in ids]
    return [
        _post(id, answer.posts.get(id))
        if id in answer.posts or id in answer.broken
        else f"{id} missing: {answer.missing[id]}"
        if id in answer.missing
        else f"{id} no verdict"
        for id in ids
    ]


def _lookup(case: Case) -> Lines:
    body = case["body"]
    if "ids" in case:
        return _tweets(body, [int(id) for id in case["ids"]])
    # A single object: what the product would read if it asked for it in a list.
    items = body["data"] if isinstance(body["data"], list) else [body["data"]]
    return _tweets(
        {**body, "data": items}, [int(item["id"]) for item in items if "id" in item]
    ) or ["not an answer"]


def _page(case: Case) -> Lines:
    try:
        page = page_of(_bytes_of(case["body"]), case.get("of"))
    except Garbage as error:
        return [f"not a page: {error}"]
    lines = [_post(id, page.posts.get(id)) for id in page.ids]
    lines += [f"next: {page.next_token}"] if page.next_token else []
    lines += [f"missing: {page.missing}"] if page.missing else []
    return lines or ["nothing"]


def _line(body: Any) -> Lines:
    message = parse_stream.read_line(_bytes_of(body))
    if isinstance(message, parse_stream.Farewell):
        return [f"farewell: {message.reason}"]
    if isinstance(message, parse_stream.Garbled):
        return ["unreadable"]
    rules = " ".join(str(rule.id) for rule in message.rules)
    return [f"post {_post(message.id, message.post)} by {rules}"]


def _v1(statuses: list[Any]) -> Lines:
    by_id = {str(status.get("id_str") or status["id"]): status for status in statuses}
    answer = v1.read_lookup(_bytes_of({"id": by_id}), [int(id) for id in by_id], window=None)
    return [_post(int(id), answer.posts.get(int(id))) for id in by_id]


def _accounts(case: Case) -> Lines:
    ids = [int(item["id"]) for item in case["body"]["data"]]
    accounts = v2.read_accounts(_bytes_of(case["body"]), ids, window=None).accounts
    return [f"{id} {account.username}" for id, account in accounts.items()]


def _rules(case: Case) -> Lines:
    rules = parse_stream.read_rules(_bytes_of(case["body"]), (), window=None).rules
    return [f"rule {rule.id} {rule.value}" for rule in rules]


def _deleted(case: Case) -> Lines:
    parse_stream.read_deleted(_bytes_of(case["body"]), (), window=None)
    return ["deleted"]


def _other(case: Case) -> Lines:
    """What the product never asks for: whatever it is taken for, nothing raises but an XError."""
    body, lines = case["body"], []
    try:
        lines += _tweets(body, [1])
        page_of(_bytes_of(body), 1)
    except XError:
        pass
    parse_stream.read_line(_bytes_of(body))
    return lines


_KINDS = {
    "lookup": _lookup,
    "lookups": _lookup,
    "one": _lookup,
    "page": _page,
    "pages": _page,
    "line": lambda case: _line(case["body"]),
    "lines": lambda case: [
        line
        for body in (case["body"] if isinstance(case["body"], list) else [case["body"]])
        for line in _line(body)
    ],
    "broken-json": lambda case: _line(case["body"]),
    "accounts": _accounts,
    "named": _accounts,
    "rules": _rules,
    "deleted": _deleted,
    "v1one": lambda case: _v1([case["body"]]),
    "v1list": lambda case: _v1(case["body"]),
    "v1search": lambda case: _v1(case["body"]["statuses"]),
    "error": _refusal,
    "other": _other,
}
