"""The made-up replies of faults: what X sends on bad days, in formats that it has really sent."""

from __future__ import annotations

from collections.abc import Callable

from fakex.account.windows import Budget
from fakex.faults.script import Rule
from fakex.wire import problems
from fakex.wire.replies import Reply, problem, v1_problem

# What the machine in front of X sends itself.
_EDGE = b"error code: 1015"
_HTML = (
    b"<!DOCTYPE html><html><head><title>X</title></head><body>Something went wrong</body></html>"
)
_PROBLEMS = {
    "429": (429, problems.TOO_MANY),
    "429_past": (429, problems.TOO_MANY),
    "429_twice": (429, problems.TOO_MANY),
    "429_per_second": (429, problems.TOO_MANY),
    "503_json": (503, problems.UNAVAILABLE),
    "500": (500, problems.INTERNAL),
    "401": (401, problems.UNAUTHORIZED),
    "403_forbidden": (403, problems.FORBIDDEN),
    "404": (404, problems.NOT_FOUND),
}
_V1_PROBLEMS = {
    "429": (429, 88),
    "429_past": (429, 88),
    "429_twice": (429, 88),
    "429_per_second": (429, 88),
    "503_json": (503, 130),
    "500": (500, 131),
    "401": (401, 89),
    "403": (403, 453),
}
# Those whose type names X's host, which a rule may set with params.host.
_HOSTED: dict[str, tuple[int, Callable[[str], problems.Problem]]] = {
    "429_cap": (429, problems.usage_capped),
    "429_connections": (429, problems.too_many_connections),
    "402_credits": (402, problems.credits),
    "402_depleted": (402, problems.credits_depleted),
    "403": (403, problems.not_enrolled),
    "403_unsupported": (403, problems.unsupported_authentication),
}
# X sends no rate headers with a 401. Requests answered by a 5xx, or by a 429 of the machine in
# front, never reached the windows.
_WITHOUT_HEADERS = frozenset({"401", "429_edge", "500", "503_json", "503_text", "redirect"})
_USED_UP = frozenset({"429", "429_past", "429_twice"})
_PAST_S = -5
_ELSEWHERE = "https://api.x.com"


def fault_reply(
    rule: Rule, endpoint: str, *, budget: Budget | None, now_ms: int, host: str
) -> Reply:
    """The reply of a rule whose kind makes up the body, and the window its headers describe.

    A 429 for a window shows it used up, any other 429 shows room in it; params.retry_after is
    sent as is, and a redirect leads to params.to.
    """
    reply = _reply(rule.kind, endpoint, rule.params.get("host") or host)
    if rule.kind in _USED_UP:
        reply.budget, reply.twice = _used_up(rule, budget, now_ms), rule.kind == "429_twice"
    elif rule.params.get("headers") is False or rule.kind in _WITHOUT_HEADERS:
        reply.budget = None
    elif rule.kind.startswith("429"):
        reply.budget = _with_room(budget, now_ms)
    else:
        reply.budget = budget
    if rule.kind == "redirect":
        path = endpoint.partition(" ")[2]
        reply.headers = {"location": str(rule.params.get("to", _ELSEWHERE)) + path}
    if "retry_after" in rule.params:
        reply.headers = {"retry-after": str(rule.params["retry_after"])}
    if rule.params.get("headers") == "reset" and reply.budget:
        reply.headers = {**reply.headers, "x-rate-limit-reset": str(reply.budget.reset_s)}
        reply.budget = None
    return reply


def _reply(kind: str, endpoint: str, host: str) -> Reply:
    if kind == "503_text":
        return Reply(503, b"upstream connect error", "text/plain")
    if kind == "redirect":
        return Reply(308, b"", "text/plain")
    if kind == "429_edge":
        return Reply(429, _EDGE, "text/plain; charset=UTF-8")
    if kind == "html":
        return Reply(200, _HTML, "text/html; charset=utf-8")
    if kind == "garbage_list":
        return Reply(200, b'["what","is","this"]')
    if "/1.1/" in endpoint and kind in _V1_PROBLEMS:
        return v1_problem(*_V1_PROBLEMS[kind])
    if kind in _HOSTED:
        status, write = _HOSTED[kind]
        return problem(status, write(host))
    return problem(*_PROBLEMS[kind])


def _used_up(rule: Rule, budget: Budget | None, now_ms: int) -> Budget | None:
    """The headers of a 429: none with params.headers false; a reset in params.reset_in seconds.

    With params.headers "reset" only the reset is sent; params.reset is its value.
    """
    if rule.params.get("headers") is False:
        return None
    limit, reset_s = (budget.limit, budget.reset_s) if budget else (1, now_ms // 1000 + 1)
    reset_in = rule.params.get("reset_in", _PAST_S if rule.kind == "429_past" else None)
    if reset_in is not None:
        reset_s = now_ms // 1000 + int(reset_in)
    if "reset" in rule.params:
        reset_s = int(rule.params["reset"])
    return Budget(limit, 0, reset_s)


def _with_room(budget: Budget | None, now_ms: int) -> Budget:
    if budget is None:
        return Budget(40_000, 39_999, now_ms // 1000 + 900)
    return budget._replace(limit=max(2, budget.limit), remaining=max(1, budget.remaining))
