"""Replies other than 2xx ─> errors, by the shapes X was seen to send."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from trackers.xapi.errors import (
    BadRequest,
    Depleted,
    Forbidden,
    NotShown,
    RateLimited,
    Refused,
    RuleCap,
    Unavailable,
    XError,
)
from trackers.xapi.parse.fields import id_or_none
from trackers.xapi.parse.problems import entries, kind_of, read_problem, reason_of, shorten
from trackers.xapi.results import WindowSeen
from trackers.xapi.wire.headers import reset_time, retry_after
from trackers.xapi.wire.session import Reply

# v1.1's codes for keys, apps and accounts that X does not accept, at whatever status.
_OF_THE_KEYS = {32, 64, 89, 99, 135, 215, 326, 416}
# What v2 calls the same.
_NAMED_KEYS = {"user-suspended", "app-suspended"}
# Its codes for an account or a post that it does not show; a look-up of many has no use for them.
_OF_A_RESOURCE = {63, 144, 179}
# What X calls refusals for want of money, as the end of the problem's URL or as its title.
_OF_MONEY = {"credits", "credits-depleted", "usage-capped"}
_TITLES_OF_MONEY = {"CreditsDepleted", "SpendCapReached", "UsageCapExceeded"}
# What it calls refusals of the client itself.
_OF_THE_CLIENT = {"client-forbidden", "unsupported-authentication", "oauth1-permissions"}
_UNNAMED = {"", "about:blank"}
# Statuses at which whoever stands between us and X may answer.
_OF_ANY_SERVER = {401, 403, 404, 407, 410, 429, 451}
# Headers that X's own machines add, and the servers in front of it do not.
_HEADERS_OF_X = (
    "x-rate-limit-",
    "x-app-limit-",
    "x-user-limit-",
    "x-transaction-id",
    "x-response-time",
    "x-access-level",
    "api-version",
)
_ACCOUNT = re.compile(r"\baccount \[([0-9]{1,19})\]")
_HOST = re.compile(r"[a-z0-9.-]{1,253}")
_LONGEST_REASON = 248

# What a person can do, by what X calls the refusal: its reason, issue, kind, title, or v1.1's code.
_NEXT_STEPS: Mapping[str, str] = {
    "client-not-enrolled": "The app belongs to no project, or its plan does not include this. "
    "Check both in X's developer console.",
    "client-forbidden": "X does not allow the app to do this. Check its project and its plan in "
    "X's developer console.",
    "unsupported-authentication": "This needs keys of another kind. Add a credential of a kind "
    "that X names.",
    "oauth1-permissions": "Allow the app to read in X's developer console, make new access tokens "
    "there, and enter them in the admin.",
    "scopes": "What was allowed at sign-in does not include this. Sign in with X again.",
    "ProvisioningSubscription": "X is still setting up the plan. There is nothing to do: it is "
    "tried again.",
    "rule-cap": "The app has as many rules as its plan allows. Remove some, or choose a larger "
    "plan.",
    "noncompliant-rules": "X refuses the app's rules as a whole. Look at them in X's developer "
    "console.",
    "RulesInvalidIssue": "X refuses the app's rules as a whole. Look at them in X's developer "
    "console.",
    "user-suspended": "X has suspended the account that the keys belong to. Use another's.",
    "app-suspended": "X has suspended the app. See X's developer console.",
    "64": "X has suspended the account that the keys belong to. Use another's.",
    "135": "The clock of this machine is wrong. Set it.",
    "326": "X has locked the account that the keys belong to. Log in to X and unlock it.",
    "416": "X has suspended the app. See X's developer console.",
    "453": "The app's plan has no v1.1. Use a credential for v2.",
}


def error_in(reply: Reply, window: WindowSeen | None, *, endpoint: str = "") -> XError:
    """The error for a reply of any status but 2xx. `endpoint` is what was asked.

    What X names the problem counts more than its status, which has varied.
    """
    problem, status = read_problem(reply.body), reply.status_code
    names = _names_of(problem, reply)
    reason = _reason_for(problem, reply, names)
    if status == 402 or names & (_OF_MONEY | _TITLES_OF_MONEY):
        return _depleted(problem, reason, window)
    if _is_of_the_network(reply, problem):
        reason = _reason_of_network(problem, reply)
        if status != 429:
            return Unavailable(reason, retry_after=retry_after(reply.headers), window=window)
    if status == 429:
        return RateLimited(
            reason,
            resets_at=_reset_of(reply, window),
            retry_after=retry_after(reply.headers),
            window=window,
        )
    if 300 <= status < 400:
        return Unavailable(_redirection(reply), window=window)
    if "rule-cap" in names:
        return RuleCap(reason, window=window)
    if "ProvisioningSubscription" in names:
        return Unavailable(reason, window=window)
    if names & (_OF_THE_CLIENT | {"scopes"}):
        return Forbidden(reason, status=status, window=window)
    codes = {int(name) for name in names if name.isdecimal()}
    if codes & _OF_THE_KEYS or names & _NAMED_KEYS:
        return Refused(reason, status=status, window=window)
    if status in (401, 403, 404, 410) and _is_of_what_was_asked(problem, endpoint, status):
        return NotShown(reason, window=window)
    if status == 401:
        return Refused(reason, status=status, window=window)
    if status == 403 and not codes & _OF_A_RESOURCE:
        return Forbidden(reason, status=status, window=window)
    if status >= 500 or status < 300 or status in (403, 404, 408, 410, 425):
        # 404: an endpoint without an id always exists; X once answered 404 for hours.
        return Unavailable(reason, retry_after=retry_after(reply.headers), window=window)
    return BadRequest(reason, window=window)


def _names_of(problem: Mapping[str, Any], reply: Reply) -> set[str]:
    """All that X calls the refusal."""
    names: set[str] = set()
    for entry in (problem, *entries(problem)):
        found = (entry.get(name) for name in ("title", "reason", "connection_issue"))
        names |= {text for text in found if type(text) is str}
        names |= {str(code) for code in [entry.get("code")] if type(code) is int}
        names.add(kind_of(entry))
        detail = entry.get("detail")
        if type(detail) is str and re.search(r"\bscopes?\b", detail):
            names.add("scopes")
        if type(detail) is str and "used for authentication is suspended" in detail:
            names.add("user-suspended")
    if "insufficient_scope" in reply.headers.get("www-authenticate", ""):
        names.add("scopes")
    return names | ({"rule-cap"} if "RulesCapExceeded" in names else set())


def _is_of_the_network(reply: Reply, problem: Mapping[str, Any]) -> bool:
    """Whether somebody else answered: a proxy, a portal, a server in front of X."""
    status = reply.status_code
    if status == 407:
        return True
    if status not in _OF_ANY_SERVER and status < 500:
        return False
    if not problem:
        return True
    has_shape = bool(entries(problem)) or any(
        type(problem.get(name)) is str for name in ("type", "title")
    )
    return not has_shape and not any(name.startswith(_HEADERS_OF_X) for name in reply.headers)


def _reason_of_network(problem: Mapping[str, Any], reply: Reply) -> str:
    body = reply.body.strip()
    what = "HTML" if body[:1] == b"<" else "nothing" if not body else "no reply of X's kind"
    # Nothing of a body that is not X's: it may repeat the keys that it was sent.
    said = _words_of(problem)
    return (
        f"{reply.status_code}: something between us and X answered ({what}), or X itself is "
        f"failing. If it lasts, check what stands between this machine and X."
        f"{f' It said: {shorten(said)}' if said else ''}"
    )[:_LONGEST_REASON]


def _depleted(problem: Mapping[str, Any], reason: str, window: WindowSeen | None) -> Depleted:
    text = problem.get("reset_date")
    try:
        # A day; of a time, its day.
        resets_on = date.fromisoformat(text[:10]) if type(text) is str else None
    except ValueError:
        resets_on = None
    is_cap = kind_of(problem) == "usage-capped" or problem.get("title") == "UsageCapExceeded"
    return Depleted(
        reason,
        resets_on=resets_on,
        # A cap is that of one project; money is that of the account, and of all its projects.
        account=None if is_cap else _paying_account(problem),
        window=window,
    )


def _paying_account(problem: Mapping[str, Any]) -> int | None:
    account, detail = problem.get("account_id"), problem.get("detail")
    named = _ACCOUNT.search(detail) if type(detail) is str else None
    for text in (str(account), named[1] if named else ""):
        if (id := id_or_none(text)) is not None:
            return id
    return None


def _is_of_what_was_asked(problem: Mapping[str, Any], endpoint: str, status: int) -> bool:
    """Whether the problem is about the one account or list in the endpoint's path.

    A 403 that says no more counts as such: then only that source waits, and no other is harmed.
    """
    if ":id" not in endpoint:
        return False
    is_of_resource = any(reason_of(one) for one in (problem, *entries(problem)))
    return is_of_resource or (status != 401 and kind_of(problem) in _UNNAMED)


def _reset_of(reply: Reply, window: WindowSeen | None) -> Any:
    """When to ask again; None when the reset given is that of a window that still has room."""
    if window is None:
        return reset_time(reply.headers)
    return window.resets_at if window.remaining == 0 else None


def _redirection(reply: Reply) -> str:
    """Where a redirect leads, and what a person can do about it."""
    to = _origin_of(reply.headers.get("location", ""))
    begin = f"{reply.status_code}, redirected {f'to {to}' if to else 'elsewhere'}, which is not "
    if to.startswith("https:"):
        return (
            f"{begin}followed, so that no key reaches another host; if this is X, "
            "set X_API_BASE_URL to it."
        )
    return f"{begin}followed: something on the way to X answered instead of X."


def _origin_of(address: str) -> str:
    """Scheme, host and port of an address; empty if it is invalid or has none."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    is_good = parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None
    return f"{parts.scheme}://{host}{port}" if is_good else ""


def _reason_for(problem: Mapping[str, Any], reply: Reply, names: set[str]) -> str:
    """One line: the status, X's explanation, and what a person can do where we know it."""
    step = next((step for name, step in _NEXT_STEPS.items() if name in names), "")
    words = shorten(_words_of(problem) or str(reply.reason))
    line = f"{reply.status_code} {words}".strip()
    if not step:
        return line
    room = _LONGEST_REASON - len(step) - 2
    line = line if len(line) <= room else line[: room - 1] + "…"
    return f"{line}{'' if line.endswith(('.', '…')) else '.'} {step}"


def _words_of(problem: Mapping[str, Any]) -> str:
    """X's words: of a problem, of v1.1's errors, or of the two shapes that have neither."""
    first = (entries(problem) or [{}])[0]
    found = (
        problem.get("title"),
        first.get("message") or first.get("detail") or problem.get("detail"),
        problem.get("message"),
        problem.get("error"),
        problem.get("errors"),
    )
    return ": ".join(dict.fromkeys(text for text in found if isinstance(text, str) and text))
