"""Why X cannot be asked: one sentence for each failure, with the one step that ends it.

Queues, sources, the stream, the forecast and every page say these, so that no two contradict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from tweetwatch.clock_times import clock_time
from tweetwatch.database import cursor

NONE_YET = (
    "There is no credential for X yet. Add one in the admin, or with "
    "`manage.py credential add NAME --kind bearer`."
)
NO_BEARER = (
    "The stream needs a bearer token of the v2 API, and none is enabled. Add or enable one "
    "in the admin, or with `manage.py credential add NAME --kind bearer`."
)
ONLY_FOR_APPS = (
    "X takes only bearer tokens of the v2 API for this, and there is none. Add one in the admin, "
    "or with `manage.py credential add NAME --kind bearer`."
)
REPLY_AWAITED = "Waiting for X's first reply, which says how many requests it allows."


def disabled(name: str, because: str) -> str:
    """None is enabled; this one was disabled last."""
    return (
        f"No credential is enabled ({name}: {because or 'disabled by hand'}). Enable one in the "
        f"admin, or with `manage.py credential enable {name}`."
    )


def not_allowed(missing: Mapping[str, Sequence[str]]) -> str:
    """The endpoints that a user's tokens may not ask, each with the scopes that it needs."""
    scopes = sorted({scope for names in missing.values() for scope in names})
    were = "was" if len(scopes) == 1 else "were"
    needs = "needs" if len(missing) == 1 else "need"
    return (
        f"{_listed(scopes)} {were} not allowed at sign-in, and {_listed(list(missing))} {needs} "
        f"{'it' if len(scopes) == 1 else 'them'}. Sign in with X again."
    )


def not_in_plan(name: str, endpoint: str, because: str) -> str:
    """X refused this endpoint to the credential, and goes on doing so until its plan changes."""
    return (
        f"{name}: X refused {endpoint}, which not every plan has ({because.rstrip('.')}). It is "
        "not asked there again until its keys change, or after `manage.py credential enable "
        f"{name}`."
    )


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# SQL: why a credential `c` may not ask anywhere.
REFUSED_KEYS = "'X refused its keys: ' || c.refused_reason"
_TRIED_AGAIN = "; tried again at "


def refused(name: str, because: str, *, again: datetime, now: datetime) -> str:
    """X refuses this credential, and no other may ask."""
    return (
        f"{name}: {because.rstrip('.')}{_TRIED_AGAIN}{clock_time(again, now=now)}, or at once "
        f"after `manage.py credential enable {name}`."
    )


def is_refused(sentence: str) -> bool:
    return _TRIED_AGAIN in sentence


def depleted(project: str, because: str) -> str:
    """X refuses to continue without credits, or beyond the spending limit or the month's cap."""
    return (
        f"X says that project {project} has used up its credits, its spending limit or its monthly "
        f"cap. Buy more from X or raise the limit, then resume the project in the admin. "
        f"X said: {because}"
    )


_BUDGET_SPENT = "Today's budget of "


def spent(projects: Sequence[str], *, again: datetime, now: datetime) -> str:
    """Our own budgets keep us from asking until X's next day."""
    names = f"project {projects[0]}" if len(projects) == 1 else f"projects {', '.join(projects)}"
    at = clock_time(again, now=now, seconds=False)
    return f"{_BUDGET_SPENT}{names} is spent. Raise it in the admin, or wait until {at}."


def is_spent(sentence: str) -> bool:
    return sentence.startswith(_BUDGET_SPENT)


# The credential that comes nearest to being usable: enabled, of a project that has money, not
# refused or tried soonest; and of disabled ones, the one disabled last.
_NEAREST = f"""
    SELECT c.name, c.disabled_reason, c.disabled_at IS NOT NULL,
           p.name, p.depleted_reason, coalesce(p.depleted_until > now(), false),
           {REFUSED_KEYS}, c.retry_at, now()
    FROM trackers_credential c
    JOIN trackers_app a ON a.id = c.app_id JOIN trackers_project p ON p.id = a.project_id
    ORDER BY c.disabled_at DESC NULLS FIRST, coalesce(p.depleted_until > now(), false),
             greatest(c.retry_at, now()), c.id
    LIMIT 1
"""


def none_enabled() -> str:
    """Why no credential at all may be used; empty while one is enabled."""
    return _why_nothing_is_asked(by_x=False)


def nobody_may_ask() -> str:
    """The same, and that X refuses all that are enabled, or their projects are depleted."""
    return _why_nothing_is_asked(by_x=True)


def _why_nothing_is_asked(*, by_x: bool) -> str:
    with cursor() as db:
        found = db.execute(_NEAREST).fetchone()
    if found is None:
        return NONE_YET
    name, because, is_disabled, project, depleted_reason, is_depleted, refusal, again, now = found
    if is_disabled:
        return disabled(name, because)
    if by_x and is_depleted:
        return depleted(project, depleted_reason)
    if by_x and again is not None and again > now:
        return refused(name, refusal, again=again, now=now)
    return ""
