"""All that can go wrong with a request to X, as the rest of the product knows it.

    XError
    ├── RateLimited   429: the window is used up, or X wants fewer requests; `resets_at` and
    │                 `retry_after` when X gave them
    ├── Depleted      the credits, the spending limit or the month's posts are used up: mostly 402
    │                 or 403; `resets_on` when X gave it
    ├── Refused       401: X does not accept these keys (one alone proves nothing)
    │   ├── Forbidden     403: not at this endpoint, whatever is asked for
    │   └── SignInAgain   the refresh token is spent or withdrawn: a person has to act
    ├── NotShown      403, 404 of one account or list: gone or hidden, or X is failing
    ├── NotReady      its tokens are being renewed, or must be: try another credential
    ├── Unavailable   5xx, 404, somebody else's reply, no connection, no answer in time;
    │   │             `retry_after` when X gave it
    │   └── OtherVocabulary  a parameter is called otherwise now: the next request does so
    ├── Garbage       200 with something that is not an answer
    └── BadRequest    400 and the like: the fault is ours; asking again will not help
        ├── StaleSinceId  search reaches back seven days, and `since_id` is older
        └── RuleCap       the app has as many rules as its plan allows

A message holds no secret and no list of ids. `window` is what the reply's headers said, if any.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trackers.xapi.results import WindowSeen


class XError(Exception):
    """X gave no answer. Its text is one line that a person can read."""

    # Whether a request went to X, as far as we know.
    sent = True
    # Whether X may have read what was asked, and billed it; it bills nothing that it refused.
    maybe_billed = False

    def __init__(self, reason: str, *, window: WindowSeen | None = None) -> None:
        super().__init__(reason)
        self.window = window

    @property
    def reason(self) -> str:
        return str(self)

    def hide(self, secrets: Iterable[str]) -> None:
        """Take these out of the text: a server may echo what it was sent."""
        reason = self.reason
        for secret in secrets:
            reason = reason.replace(secret, "…")
        self.args = (reason,)


class RateLimited(XError):
    """`resets_at`: when the window opens again, by X's clock; None when X did not say. Taken as X
    gave it: it may be past, or years ahead."""

    def __init__(
        self,
        reason: str,
        *,
        resets_at: datetime | None,
        retry_after: timedelta | None = None,
        window: WindowSeen | None = None,
    ) -> None:
        super().__init__(reason, window=window)
        self.resets_at, self.retry_after = resets_at, retry_after


class Depleted(XError):
    """The credits, the spending limit or the month's cap are used up; no reset of a window helps.

    `resets_on`: the day, which X gives without a zone, on which it goes on; None when X named none.
    `account`: the account at X whose money it is; None for the cap of one project.
    """

    def __init__(
        self,
        reason: str,
        *,
        resets_on: date | None = None,
        account: int | None = None,
        window: WindowSeen | None = None,
    ) -> None:
        super().__init__(reason, window=window)
        self.resets_on, self.account = resets_on, account


class Refused(XError):
    """X does not accept this credential."""

    def __init__(self, reason: str, *, status: int, window: WindowSeen | None = None) -> None:
        super().__init__(reason, window=window)
        self.status = status


class Forbidden(Refused):
    """X does not accept this credential at this endpoint; other endpoints may still accept it."""


class NotShown(XError):
    """X does not show this account or list. It once said so for hours about some that existed."""


class SignInAgain(Refused):
    """X no longer accepts this refresh token, and never will again."""


class NotReady(XError):
    """OAuth 2.0 tokens must be renewed first. `sent`: X was asked, and said they had expired."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Unavailable(XError):
    """X, or the way to it, is failing. `retry_after` is what X asked for, else None.

    `maybe_billed`: there was no reply, or its end was missing. `sent`: False when no part of the
    request can have reached X.
    """

    def __init__(
        self,
        reason: str,
        *,
        retry_after: timedelta | None = None,
        window: WindowSeen | None = None,
        maybe_billed: bool = False,
        sent: bool = True,
    ) -> None:
        super().__init__(reason, window=window)
        self.sent, self.maybe_billed = sent, maybe_billed
        self.retry_after = retry_after


class OtherVocabulary(Unavailable):
    """X takes no request in these words any more: the next one is made in its other words."""


class Garbage(XError):
    """A 200 which is not an answer: HTML, a list, a body that ends too early or never."""

    maybe_billed = True


class BadRequest(XError):
    """X did not understand the request."""


class RuleCap(BadRequest):
    """X takes no more rules: it is not about any single one."""


class StaleSinceId(BadRequest):
    """`suggested`: the id that X says `since_id` must exceed; None when X did not name one."""

    def __init__(
        self, reason: str, *, suggested: int | None, window: WindowSeen | None = None
    ) -> None:
        super().__init__(reason, window=window)
        self.suggested = suggested
