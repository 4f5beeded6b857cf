"""What X says it billed, beside our own count: read hourly, compared by UTC day, and shown."""

from __future__ import annotations

import logging
from datetime import date, timedelta
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Now

from trackers.xapi import turns
from trackers.xapi.endpoints import USAGE
from trackers.xapi.errors import XError
from trackers.xapi.line import line_for
from trackers.xapi.models import Credential
from trackers.xapi.parse_usage import Usage, read_usage
from trackers.xapi.projects import Project, Spending
from trackers.xapi.transport import CANONICAL
from tweetwatch.database import array, cursor

logger = logging.getLogger(__name__)

ADDRESS = CANONICAL + "/2/usage/tweets"
DAYS = 31
FIELDS = "cap_reset_day,daily_project_usage,project_cap,project_usage"

# Only of days that we know: what was read before tweetwatch came is none of its drift.
TOLD = """
    UPDATE trackers_spending s SET told_posts = told.posts
    FROM unnest(%(days)s::date[], %(posts)s::bigint[]) AS told(day, posts)
    WHERE s.project_id = %(project)s AND s.day = told.day
"""


def compare_all(*, base_url: str, timeout: timedelta) -> None:
    """Ask for each project that has a bearer token; X tells nobody else."""
    for project in Project.objects.all():
        compare(project, base_url=base_url, timeout=timeout)


def compare(project: Project, *, base_url: str, timeout: timedelta) -> None:
    """Read a project's usage and write it beside our count, or why it could not be read."""
    credential = (
        Credential.objects.enabled()
        .defer("secrets")
        .filter(app__project=project, kind=Credential.Kind.BEARER, api=Credential.Api.V2)
        .first()
    )
    if credential is None:
        problem(project, "X tells the usage to a bearer token only, and there is none.")
        return
    turn = turns.take(USAGE, only=credential.pk)
    if not isinstance(turn, turns.Turn):
        problem(project, turn.why)
        return
    try:
        usage = ask(turn.credential, base_url=base_url, timeout=timeout)
    except XError as error:
        turns.settle_failed(turn, error)
        problem(project, error.reason)
        return
    turns.settle(turn, usage.window)
    keep(project, usage)


def ask(credential: Credential, *, base_url: str, timeout: timedelta) -> Usage:
    """What X billed the project of this bearer token in the last days; raises XError."""
    line = line_for(credential, base_url, timeout)
    params = {"days": str(DAYS), "usage.fields": FIELDS}
    return line.ask(
        USAGE[credential.api], lambda: line.session.get(ADDRESS, params=params), read_usage, ()
    )


def keep(project: Project, usage: Usage) -> None:
    with cursor() as db:
        days, posts = array(map(date.isoformat, usage.days)), array(usage.days.values())
        db.execute(TOLD, {"project": project.pk, "days": days, "posts": posts})
    written: dict[str, Any] = {
        "usage_problem": "",
        "usage_read_at": Now(),
        "cap": usage.cap,
        "cap_reset_day": usage.cap_reset_day,
        **compared(project, usage),
    }
    Project.objects.filter(pk=project.pk).update(**written)
    project.refresh_from_db()
    if project.drift:
        logger.info("X counts %+d posts this month beside ours of %s", project.drift, project)


def compared(project: Project, usage: Usage) -> dict[str, int | None]:
    """X's count and ours over the days of this month that both have."""
    if not usage.days:
        return {"usage_of_month": None, "ours_of_month": None}
    rows = Spending.objects.of_month(max(usage.days)).filter(project=project)
    sums = rows.exclude(told_posts=None).aggregate(
        told=Sum("told_posts"), ours=Sum("posts"), reserved=Sum("posts_reserved")
    )
    if sums["told"] is None:
        return {"usage_of_month": None, "ours_of_month": None}
    return {"usage_of_month": sums["told"], "ours_of_month": sums["ours"] + sums["reserved"]}


def problem(project: Project, why: str) -> None:
    Project.objects.filter(pk=project.pk).update(usage_problem=why[:300])
