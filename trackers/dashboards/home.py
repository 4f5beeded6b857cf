"""Home: what a person, or a team, follows, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from trackers.dashboards import scrolling
from trackers.dashboards.access import VIEW_TWEETS, needs
from trackers.dashboards.homes import home_address, home_of_team
from trackers.dashboards.parts import render_parts
from trackers.dashboards.scrolled_lists import HomeList
from trackers.dashboards.scrolling import ScrollSettings
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow

_HOME_TEMPLATE = "dashboards/home/page.html"


@require_safe
@needs(VIEW_TWEETS)
def home(request: HttpRequest, team: int | None = None) -> HttpResponse:
    homes = homes_of(request.user)
    whose = home_of_team(homes, team)
    scrolled, look = HomeList(whose.follower_id), ScrollSettings(home_address(whose.team_id))
    if rows := scrolling.part_response(request, scrolled, look):
        return rows

    def whole() -> dict[str, object]:
        contents = scrolling.scroll_context(scrolled, look, request.GET)
        return {
            **contents,
            "homes": [(home_address(home.team_id), home) for home in homes],
            "home": whose,
            "follows": bool(contents["rows"]) or _follows_any(whose),
        }

    def rebuild() -> dict[str, object]:
        """Whether it is being rebuilt: one row says so."""
        return {"page": scrolled.page(limit=1, before=None, after=None)}

    return render_parts(
        request, _HOME_TEMPLATE, {}, shared={}, frame=whole, alone={"rebuild": rebuild}
    )


def _follows_any(whose: Home) -> bool:
    return Follow.objects.filter(follower_id=whose.follower_id or 0).exists()
