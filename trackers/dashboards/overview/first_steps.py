"""What a new installation still needs, and in its first week what is worth doing next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from django.urls import reverse
from django.utils.safestring import SafeString

from trackers.credentials.sentences import NONE_YET
from trackers.dashboards.words import dollars, with_code
from trackers.jobs.observed.models import Worker
from trackers.schedule.catch_up import NO_WORKERS
from tweetwatch.database import cursor
from tweetwatch.statements import statement

_NEW_FOR = timedelta(days=7)
_NO_TWEET = "Add a source, import a file, or run `manage.py track FILE`."
_FIRST_POLL = "There is a source. Its first poll brings its posts, once the other steps are done."
_NO_SAMPLE = "It follows automatically once the three steps above are done."
_SOON = "It follows with the first check, within about half a minute."
_WHAT_EXISTS = statement(__file__, "what_exists")


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    state: Literal["done", "waits", "missing"]
    how: str  # a sentence with commands between backticks
    link: str = ""
    link_words: str = ""
    needs: str = ""  # the permission for the link

    @property
    def html(self) -> SafeString:
        return with_code(self.how)


@dataclass(frozen=True, slots=True)
class Steps:
    first: tuple[Step, ...] = ()
    next: tuple[Step, ...] = ()


def first_steps(*, now: datetime, costs: Decimal | None = None) -> Steps:
    """The first ones until there is a credential, a tweet and a measurement; then the next.
    `costs`: those of tomorrow, by the forecast, in US dollars."""
    times = {"silent_since": now - Worker.SILENT_AFTER, "new_since": now - _NEW_FOR}
    with cursor() as db:
        row = db.execute(_WHAT_EXISTS, times).fetchone()
    assert row is not None
    credential, source, tweet, worker, sample, is_new, budget, rule, person = row
    if not (credential and tweet and sample):
        return Steps(first=_first(credential, source, tweet, worker, sample))
    return Steps(next=_next(budget, rule, person, costs) if is_new else ())


def _first(
    credential: bool, source: bool, tweet: bool, worker: bool, sample: bool
) -> tuple[Step, ...]:
    return (
        Step(
            "A credential for X", "done" if credential else "missing", NONE_YET,
            reverse("admin:trackers_credential_add"), "Add one", "trackers.add_credential",
        ),
        Step("A tweet to watch", "waits", _FIRST_POLL)
        if source and not tweet
        else Step(
            "A tweet to watch", "done" if tweet else "missing", _NO_TWEET,
            reverse("sources"), "Add a source", "trackers.add_source",
        ),
        Step("A running worker", "done" if worker else "missing", NO_WORKERS),
        Step(
            "A first measurement", "done" if sample else "waits",
            _SOON if credential and tweet and worker else _NO_SAMPLE,
        ),
    )  # fmt: skip


def _next(budget: bool, rule: bool, person: bool, costs: Decimal | None) -> tuple[Step, ...]:
    """Those that are not done."""
    bills = "X bills what is looked up"
    if costs is not None:
        bills += f": {dollars(costs)} tomorrow, by the forecast"
    steps = (
        (budget, Step(
            "A budget", "missing", f"{bills}; a budget bounds that.",
            reverse("admin:trackers_project_changelist"), "Set one", "trackers.change_project",
        )),
        (rule, Step(
            "An alert", "missing", "Be told when a tweet takes off, or a credential stops.",
            reverse("alert-add"), "Add a rule", "trackers.add_alertrule",
        )),
        (person, Step(
            "Somebody else", "missing", "An invitation is a link that makes an account.",
            reverse("admin:auth_user_changelist"), "Invite somebody", "auth.add_user",
        )),
    )  # fmt: skip
    return tuple(step for is_done, step in steps if not is_done)
