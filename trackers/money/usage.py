"""X's own count of billed posts, stored with ours and compared by UTC day."""

from __future__ import annotations

import logging
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Now
from django.utils import timezone

from trackers.money.models import Project, Spending
from trackers.xapi.parse.usage import Usage
from tweetwatch.database import array, cursor

logger = logging.getLogger(__name__)

# Only days that we know: what was read before tweetwatch was installed is not drift.
_STORE_REPORTED = """
    UPDATE trackers_spending s SET reported_posts = reported.posts
    FROM unnest(%(days)s::date[], %(posts)s::bigint[]) AS reported(day, posts)
    WHERE s.project_id = %(project)s AND s.day = reported.day
"""


def store_usage(project: Project, usage: Usage) -> None:
    """Store X's count with ours."""
    with cursor() as db:
        days, posts = array(map(date.isoformat, usage.days)), array(usage.days.values())
        db.execute(_STORE_REPORTED, {"project": project.pk, "days": days, "posts": posts})
    written: dict[str, Any] = {
        "usage_problem": "",
        "usage_read_at": Now(),
        "cap": usage.cap,
        "cap_resets_on": _reset_of_cap(usage),
        **_compare_usage(project, usage),
    }
    Project.objects.filter(pk=project.pk).update(**written)
    project.refresh_from_db()
    if project.drift:
        logger.info(
            "X counts %+d posts this month compared with ours of %s", project.drift, project
        )


def _reset_of_cap(usage: Usage) -> date | None:
    """Its UTC day, by X's clock where its reply had one."""
    if usage.days_until_reset is None:
        return None
    seen_at = usage.window.seen_at if usage.window else None
    return (seen_at or timezone.now()).astimezone(UTC).date() + timedelta(usage.days_until_reset)


def _compare_usage(project: Project, usage: Usage) -> dict[str, int | None]:
    """X's count and ours over the days of this month that both have."""
    if not usage.days:
        return {"usage_of_month": None, "ours_of_month": None}
    rows = Spending.objects.of_month(max(usage.days)).filter(project=project)
    sums = rows.exclude(reported_posts=None).aggregate(
        reported=Sum("reported_posts"), ours=Sum("posts"), reserved=Sum("posts_reserved")
    )
    if sums["reported"] is None:
        return {"usage_of_month": None, "ours_of_month": None}
    return {"usage_of_month": sums["reported"], "ours_of_month": sums["ours"] + sums["reserved"]}


def store_credits(project: Project, left: Decimal) -> None:
    """Store what X says is left of the money that pays for the project."""
    Project.objects.filter(pk=project.pk).update(credits_left=left, credits_read_at=Now())


def tell_problem(project: Project, why: str) -> None:
    """Store why it could not be read."""
    Project.objects.filter(pk=project.pk).update(usage_problem=why[:300])
