"""Subscribers to events, and the log of attempts. The form is the page's own."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from trackers import history
from trackers.admin.readonly import MachineMade
from trackers.admin.recorded import Recorded
from trackers.events import again
from trackers.events.models import Attempt, LoggedAttempt, Subscriber
from trackers.events.subscribers import signing_keys, standing, subscribe
from trackers.events.subscribers.forms import HOW, MAIN, PACE, PROOF, WHICH, SubscriberForm

NOW = ("stands", "health", "made_at", "paused_at", "disabled_because", "added", "delivered",
       "dropped", "on_its_page")  # fmt: skip
MOST_LOOKED, MOST_LISTED = 50_000, 500
SHOWN = ("when", "subscriber", "outcome", "status", "took_ms", "number", "event_count", "error",
         "batch")  # fmt: skip


class NotStoredError(Exception):
    """Between the check and the save somebody else took the name, or removed the subscriber."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(" ".join(said))


class StandsFilter(admin.SimpleListFilter):
    title = "status"
    parameter_name = "stands"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(one, one) for one in ("active", "failing", "paused", "disabled")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Subscriber]) -> Any:
        match self.value():
            case "paused":
                return queryset.exclude(paused_at=None)
            case "disabled":
                return queryset.exclude(state__disabled_at=None)
            case "failing":
                return queryset.filter(
                    paused_at=None, state__disabled_at=None, state__failing_since__isnull=False
                )
            case "active":
                return queryset.filter(
                    paused_at=None, state__disabled_at=None, state__failing_since=None
                )
        return queryset


@admin.register(Subscriber)
class SubscriberAdmin(Recorded):
    """Figures that its row has; what waits, and why, is on its own page."""

    form = SubscriberForm
    list_display = ("name", "stands", "topics_now", "health", "delivered", "dropped", "attempted",
                    "on_its_page")  # fmt: skip
    list_filter = (StandsFilter, "format", "ordered")
    search_fields = ("name",)
    list_select_related = ("state",)
    readonly_fields = NOW
    actions = ("pause", "resume", "send_test", "rotate_key")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Subscriber]:
        found = super().get_queryset(request).filter(removed_at=None).select_related("state")
        if getattr(request.resolver_match, "url_name", "") == "trackers_subscriber_changelist":
            # Read only where they are used: a lost field key must not break the list.
            found = found.defer("secrets").prefetch_related("subscriptions__topic")
        return found

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        # The form chooses its fields, and has them all: the admin would drop those that its model
        # lacks.
        return SubscriberForm

    def get_fieldsets(self, request: HttpRequest, obj: Subscriber | None = None) -> Any:
        there = SubscriberForm(instance=obj).fields
        titled = (
            (None, MAIN), ("Content", HOW), ("Filters: which tweets", WHICH),
            ("Speed and order", PACE), ("Authentication", PROOF),
        )  # fmt: skip
        sets = [
            (title, {"fields": [name for name in names if name in there]})
            for title, names in titled
        ]
        return [*sets, ("Now", {"fields": NOW})] if obj else sets

    @admin.display(description="stands")
    def stands(self, one: Subscriber) -> str:
        if one.paused_at:
            return "paused"
        state = one.state
        if state.disabled_at:
            return "disabled"
        return "failing" if state.failing_since else "active"

    @admin.display(description="topics")
    def topics_now(self, one: Subscriber) -> str:
        return ", ".join(sorted(each.topic.name for each in one.subscriptions.all()))

    @admin.display(ordering="state__health")
    def health(self, one: Subscriber) -> int:
        return one.state.health

    @admin.display
    def added(self, one: Subscriber) -> int:
        return one.state.added

    @admin.display(ordering="state__delivered")
    def delivered(self, one: Subscriber) -> int:
        return one.state.delivered

    @admin.display(ordering="state__dropped")
    def dropped(self, one: Subscriber) -> int:
        return one.state.dropped

    @admin.display(description="last attempt", ordering="state__attempted_at")
    def attempted(self, one: Subscriber) -> Any:
        return one.state.attempted_at

    @admin.display(description="disabled because")
    def disabled_because(self, one: Subscriber) -> str:
        return one.state.disabled_because

    @admin.display(description="page")
    def on_its_page(self, one: Subscriber) -> str:
        return format_html('<a href="{}">{}</a>', reverse("subscriber", args=[one.pk]), one.name)

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Any:
        # The admin saves nothing itself: `save_model` lets the form do it.
        return form.instance

    def save_model(
        self, request: HttpRequest, obj: Subscriber, form: SubscriberForm, change: bool
    ) -> None:
        if not form.store():
            raise NotStoredError([str(said) for saids in form.errors.values() for said in saids])
        obj.pk = form.instance.pk
        request.__dict__["told_once"] = form.key

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Its topics were saved with it."""

    def response_add(
        self, request: HttpRequest, obj: Subscriber, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Renders the page, no redirect: a message would keep the key in a cookie."""
        return self.told_once(request, [(obj, request.__dict__.pop("told_once"))])

    def told_once(self, request: HttpRequest, keys: list[tuple[Subscriber, str]]) -> HttpResponse:
        told = {**self.admin_site.each_context(request), "opts": self.opts, "keys": keys}
        told |= {"title": "Signing keys"}
        return render(request, "admin/trackers/subscriber/told.html", told)

    @method_decorator([never_cache, sensitive_post_parameters("headers", "uuid")])
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except NotStoredError as error:
            messages.error(request, str(error))
            return redirect(request.path)

    @method_decorator(never_cache)
    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changelist_view(request, *args, **kwargs)

    def delete_model(self, request: HttpRequest, obj: Subscriber) -> None:
        subscribe.remove(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Subscriber]) -> None:
        for one in queryset:
            subscribe.remove(one)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """It may have many batches, so they are not listed."""
        lacks = set() if self.has_delete_permission(request) else {self.opts.verbose_name}
        return [str(one) for one in objs], {self.opts.verbose_name_plural: len(objs)}, lacks, []

    @admin.action(description="Pause", permissions=["change"])
    def pause(self, request: HttpRequest, chosen: QuerySet[Subscriber]) -> None:
        for one in chosen:
            standing.pause(one)
        messages.success(
            request,
            f"Paused {len(chosen)} subscriber{pluralize(len(chosen))}. Events for them are kept.",
        )

    @admin.action(description="Resume", permissions=["change"])
    def resume(self, request: HttpRequest, chosen: QuerySet[Subscriber]) -> None:
        for one in chosen:
            standing.resume(one)
        messages.success(
            request,
            f"Resumed {len(chosen)} subscriber{pluralize(len(chosen))}. Waiting events are being "
            "sent.",
        )

    @admin.action(description="Send a test", permissions=["change"])
    def send_test(self, request: HttpRequest, chosen: QuerySet[Subscriber]) -> None:
        for one in chosen:
            again.test(one)
        messages.success(
            request,
            f"Sent {len(chosen)} test{pluralize(len(chosen))}. The results are among the attempts.",
        )

    @admin.action(description="Create a new signing key", permissions=["change"])
    def rotate_key(self, request: HttpRequest, chosen: QuerySet[Subscriber]) -> HttpResponse:
        rotated = [(one, signing_keys.rotate(one)) for one in chosen]
        history.record(
            request.user, [one for one, _ in rotated], "Action: Create a new signing key."
        )
        return self.told_once(request, rotated)


class WhoseFilter(admin.SimpleListFilter):
    title = "subscriber"
    parameter_name = "subscriber"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        there = Subscriber.objects.filter(removed_at=None).order_by("name")
        return [(str(pk), name) for pk, name in there.values_list("pk", "name")[:MOST_LISTED]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LoggedAttempt]) -> Any:
        given = self.value() or ""
        is_id = given.isascii() and given.isdigit() and len(given) < 19
        return queryset.filter(subscriber=int(given)) if is_id else queryset


@admin.register(LoggedAttempt)
class AttemptAdmin(MachineMade):
    """The newest of all subscribers; a subscriber's page has its own, and the command has all."""

    list_display = SHOWN
    list_display_links = ("when",)
    list_filter = ("outcome", WhoseFilter)
    list_select_related = ("subscriber",)
    ordering = ("-id",)
    sortable_by = ()
    show_full_result_count = False

    @admin.display(description="at, UTC")
    def when(self, one: LoggedAttempt) -> str:
        return f"{one.at:%Y-%m-%d %H:%M:%S}"

    @admin.display(description="webhook-id")
    def batch(self, one: LoggedAttempt) -> str:
        """Its beginning, so that a row takes only a line or two; the attempt's page has all of
        it."""
        return format_html('<span title="{}">{}…</span>', one.uid, str(one.uid)[:8])

    @admin.display(description="events")
    def event_count(self, one: LoggedAttempt) -> int:
        return len(one.events)

    def get_queryset(self, request: HttpRequest) -> QuerySet[LoggedAttempt]:
        """Looks through a fixed number of the newest, however many there are."""
        newest = Attempt.objects.order_by("-id").values_list("id", flat=True).first() or 0
        found = super().get_queryset(request).filter(pk__gt=newest - MOST_LOOKED)
        return found.defer("subscriber__secrets")
