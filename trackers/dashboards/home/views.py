"""Home: what a person, or a team, follows, newest first."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from trackers.dashboards import scroll_answers
from trackers.dashboards.access import TWEETS, needs
from trackers.dashboards.homes import chosen, page_of
from trackers.dashboards.parts import show
from trackers.dashboards.scroll_answers import Look
from trackers.dashboards.scrolled import OfHome
from trackers.timelines.followers import Home, homes_of
from trackers.timelines.models import Follow

PAGE = "dashboards/home/page.html"


@require_safe
@needs(TWEETS)
def home(request: HttpRequest, team: int | None = None) -> HttpResponse:
    homes = homes_of(request.user)
    whose = chosen(homes, team)
    scrolled, look = OfHome(whose.follower_id), Look(page_of(whose.team_id))
    if rows := scroll_answers.part(request, scrolled, look):
        return rows

    def whole() -> dict[str, object]:
        shown = scroll_answers.whole(scrolled, look, request.GET)
        return {
            **shown,
            "homes": [(page_of(one.team_id), one) for one in homes],
            "home": whose,
            "follows": bool(shown["rows"]) or follows_any(whose),
        }

    def rebuild() -> dict[str, object]:
        """Whether it is being rebuilt: one row says so."""
        return {"page": scrolled.page(limit=1, before=None, after=None)}

    return show(request, PAGE, {}, shared={}, frame=whole, alone={"rebuild": rebuild})


def follows_any(whose: Home) -> bool:
    return Follow.objects.filter(follower_id=whose.follower_id or 0).exists()
