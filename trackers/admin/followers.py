"""Who has a home: how it is stored; rebuild or drop it, revoke its secret addresses."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest

from trackers.acts import Done
from trackers.admin.actions import ActingAdmin
from trackers.history import in_admin
from trackers.timelines import acts
from trackers.timelines.models import Follow, Follower
from trackers.tokens.acts import revoke_addresses
from trackers.tokens.models import FeedAddress


@admin.register(Follower)
class FollowerAdmin(ActingAdmin):
    """Nobody is removed here: a home ends with its user or team."""

    fields = ("user", "team", "read_at", "follows_now", "built", "address_count")
    readonly_fields = ("read_at", "follows_now", "built", "address_count")
    autocomplete_fields = ("user", "team")
    list_display = ("id", "__str__", "kind", "follows_now", "built", "address_count", "read_at")
    list_display_links = ("id", "__str__")
    list_select_related = ("user", "team")
    search_fields = ("user__username", "team__name")
    actions = ("rebuild", "expire", "revoke")
    asks = {
        "revoke": "Revoke the secret feed addresses of {}? Feed readers that use them will be "
        "refused."
    }
    show_full_result_count = False
    change_list_template = "admin/trackers/follower/change_list.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Follower]:
        follows = (
            Follow.objects.filter(follower=OuterRef("pk"))
            .order_by()
            .values("follower")
            .annotate(count=Count("origin_id"))
        )
        count = Coalesce(Subquery(follows.values("count"), output_field=IntegerField()), 0)
        followers = super().get_queryset(request).annotate(follow_count=count)
        return followers.prefetch_related("built_homes", "addresses")

    def get_readonly_fields(
        self, request: HttpRequest, obj: Follower | None = None
    ) -> tuple[str, ...]:
        whose = ("user", "team") if obj else ()
        return (*whose, *self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Follower | None = None) -> bool:
        return False

    @admin.display(description="whose")
    def kind(self, follower: Follower) -> str:
        return "a person's" if follower.user_id else "a team's"

    @admin.display(description="follows")
    def follows_now(self, follower: Follower) -> int:
        return getattr(follower, "follow_count", 0)

    @admin.display(description="built")
    def built(self, follower: Follower) -> str:
        """As stored by the current strategy, and by the ones before it."""
        if not follower.pk:
            return "-"
        homes = [
            f"{home.strategy}: {'complete' if home.built_at else 'being built'}, down to tweet "
            f"{home.floor}"
            for home in follower.built_homes.all()
        ]
        return "; ".join(homes) or "not built: read from the sources"

    @admin.display(description="feed addresses")
    def address_count(self, follower: Follower) -> int:
        """Of a team's home each member may have one."""
        return len(follower.addresses.all()) if follower.pk else 0

    @admin.action(description="Rebuild", permissions=["change"])
    def rebuild(self, request: HttpRequest, chosen: QuerySet[Follower]) -> Done:
        return acts.rebuild_soon(list(chosen), in_admin(request.user))

    @admin.action(description="Expire now", permissions=["change"])
    def expire(self, request: HttpRequest, chosen: QuerySet[Follower]) -> Done:
        return acts.expire(list(chosen), in_admin(request.user))

    @admin.action(description="Revoke feed addresses", permissions=["change"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[Follower]) -> Done:
        addresses = FeedAddress.objects.filter(follower__in=chosen).select_related("follower")
        return revoke_addresses(list(addresses), in_admin(request.user))
