"""The made-up replies of faults: what X sends on bad days, in the shapes seen in the wild."""

from __future__ import annotations

from trackers.fakex import problems
from trackers.fakex.faults import Rule
from trackers.fakex.replies import Reply, problem, v1_problem
from trackers.fakex.windows import Budget

HTML = b"<!DOCTYPE html><html><head><title>X</title></head><body>Something went wrong</body></html>"
PROBLEMS = {
    "429": (429, problems.TOO_MANY),
    "503_json": (503, problems.UNAVAILABLE),
    "500": (500, problems.INTERNAL),
    "401": (401, problems.UNAUTHORIZED),
}
V1_PROBLEMS = {"429": (429, 88), "503_json": (503, 130), "500": (500, 131), "401": (401, 89)}


def fault_reply(
    rule: Rule, endpoint: str, *, budget: Budget | None, now_ms: int, host: str
) -> Reply:
    """The reply of a rule whose kind makes up the body; a 429 has a window that is used up."""
    reply = _reply(rule.kind, endpoint, host)
    if rule.kind == "429":
        reply.budget = _used_up(rule, budget, now_ms)
    elif rule.kind in ("403", "html", "garbage_list"):
        reply.budget = budget
    return reply


def _reply(kind: str, endpoint: str, host: str) -> Reply:
    if kind == "503_text":
        return Reply(503, b"upstream connect error", "text/plain")
    if kind == "html":
        return Reply(200, HTML, "text/html; charset=utf-8")
    if kind == "garbage_list":
        return Reply(200, b'["what","is","this"]')
    if kind == "403":
        body = problems.not_enrolled(host)
        return v1_problem(403, 453) if "/1.1/" in endpoint else problem(403, body)
    return v1_problem(*V1_PROBLEMS[kind]) if "/1.1/" in endpoint else problem(*PROBLEMS[kind])


def _used_up(rule: Rule, budget: Budget | None, now_ms: int) -> Budget | None:
    """The headers of a 429: none with params.headers false, reset in params.reset_in seconds."""
    if rule.params.get("headers") is False:
        return None
    limit, reset_s = (budget.limit, budget.reset_s) if budget else (1, now_ms // 1000 + 1)
    if "reset_in" in rule.params:
        reset_s = now_ms // 1000 + int(rule.params["reset_in"])
    return Budget(limit, 0, reset_s, refused=True)
