"""A person adds a rule, changes one, and does the acts of its page and of their own digest."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from trackers.alerts.acts import (
    ADD,
    CHANGE,
    acts_on,
    arrange_digest,
    end_mute,
    permission_to_end,
    save,
    stop_digest,
)
from trackers.alerts.forms import RuleForm
from trackers.alerts.kinds import SHAPES, RuleKind
from trackers.alerts.models import AlertDigest, AlertRule
from trackers.alerts.mutes import mutes_now
from trackers.alerts.rehearsal import Rehearsal, rehearse
from trackers.alerts.text import digest_to_end
from trackers.dashboards.access import VIEW_ALERTS, needs, require_permission
from trackers.dashboards.page_acts import act_on, form_page, show_message
from trackers.history import by_link, on_page

_SUBJECT_PARAMS = ("about", "of")
# What each kind is for, where a person chooses one.
_KIND_HELP = {
    RuleKind.VELOCITY: "It gains more per hour than a number that you choose.",
    RuleKind.MILESTONE: "Its likes, views or another metric reach a number that you choose.",
    RuleKind.USUAL: "It has several times what its author's tweets usually have at that age.",
    RuleKind.FELL: "Likes, views or another metric fall by a tenth, as when X removes spam.",
    RuleKind.WAVE: "After it calmed down, it grows again as it did at first.",
    RuleKind.GONE: "X does not show it any more, or its author changed it.",
    RuleKind.WORDS: "As it comes in: words and phrases that you choose.",
    RuleKind.QUIET: "Nothing new has come from it for hours that you choose.",
    RuleKind.LATENESS: "Tweets are not checked in time.",
    RuleKind.CREDENTIAL: "X refuses its keys, or its token cannot be renewed.",
    RuleKind.SOURCE: "Its polls miss posts, or X does not show it.",
    RuleKind.BUDGET: "The money for look-ups runs out today or tomorrow.",
    RuleKind.TROUBLE: "Requests to X keep failing, tweets are isolated, the stream is down, a "
    "subscriber refuses what it is sent, or too much waits for subscribers.",
}


@require_POST
@needs(VIEW_ALERTS)
def act_on_alert(request: HttpRequest, id: int, act: str) -> HttpResponse:
    rule = _get_rule(request, id)
    return act_on(request, acts_on(rule), act, find=lambda _: rule, id=id, page="alert")


@require_POST
@needs(VIEW_ALERTS)
def act_on_mute(request: HttpRequest, id: int) -> HttpResponseRedirect:
    """End one, from the list of all."""
    mute = get_object_or_404(mutes_now(request.user, now=timezone.now()), pk=id)
    require_permission(request, permission_to_end(mute))
    show_message(request, end_mute(mute, on_page(request.user)))
    return redirect("alerts")


def _get_rule(request: HttpRequest, id: int) -> AlertRule:
    seen = AlertRule.objects.seen_by(request.user).select_related("owner")
    return get_object_or_404(seen, pk=id)


@require_POST
@needs(VIEW_ALERTS)
def alert_digest(request: HttpRequest) -> HttpResponseRedirect:
    """One's own: begin it, change it, end it."""
    actor = on_page(request.user)
    if "stop" in request.POST:
        assert isinstance(request.user, User)
        show_message(request, stop_digest(request.user, actor))
    else:
        show_message(request, arrange_digest(request.POST, actor))
    return redirect("alerts")


@csrf_exempt
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def end_digest(request: HttpRequest, signed: str) -> HttpResponse:
    """By the address in the e-mail, without a login: opened it asks, and a mailbox's own button
    (RFC 8058) sends a POST from another site."""
    id = digest_to_end(signed)
    row = AlertDigest.objects.select_related("user").filter(pk=id).first() if id else None
    if row is not None and request.method == "POST":
        stop_digest(row.user, by_link(row.user))
    context = {"row": row, "is_over": row is None or request.method == "POST"}
    return render(request, "dashboards/alerts/end_digest.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_ALERTS)
def add_alert(request: HttpRequest) -> HttpResponse:
    """First the kind, then the form that this kind has. `own`: one's own, which is also what
    those get who may add no other."""
    is_own = "own" in request.GET or not request.user.has_perm(ADD)
    subject = {name: request.GET[name] for name in _SUBJECT_PARAMS if name in request.GET}
    if not subject.get("of", "").isascii() or len(subject.get("of", "")) > 19:
        raise Http404("There is no such tweet, author, source, tag or saved view.")
    kind = request.POST.get("kind") or request.GET.get("kind", "")
    if kind not in RuleKind.values:
        return _choose_kind(request, subject, is_own=is_own)
    start = {**subject, "to": request.user.email} if hasattr(request.user, "email") else subject
    form = RuleForm(
        request.POST or None, kind=kind, initial=start, reader=request.user, is_own=is_own
    )
    return _save_or_ask(request, form)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(VIEW_ALERTS)
def edit_alert(request: HttpRequest, id: int) -> HttpResponse:
    rule = _get_rule(request, id)
    if not rule.is_own:
        require_permission(request, CHANGE)
    form = RuleForm(request.POST or None, instance=rule, reader=request.user)
    return _save_or_ask(request, form)


def _save_or_ask(request: HttpRequest, form: RuleForm) -> HttpResponse:
    """`rehearse` among what was sent: only say what it would have raised."""
    if "rehearse" in request.POST:
        rehearsal = rehearse(form.instance, now=timezone.now()) if form.is_valid() else None
        page = _rule_form_page(request, form, rehearsal)
        # Nothing was to be saved, so nothing is refused; a script shows no page that is.
        page.status_code = 200
        return page
    if request.method == "POST" and form.is_valid():
        show_message(request, save(form, on_page(request.user)))
        return redirect("alert", id=form.instance.pk)
    return _rule_form_page(request, form)


def _choose_kind(request: HttpRequest, subject: dict[str, str], *, is_own: bool) -> HttpResponse:
    about = subject.get("about", "")
    carried = {**subject, "own": "yes"} if is_own else subject
    kinds = [
        {
            "label": kind.label,
            "meant": _KIND_HELP[kind],
            "query": urlencode({"kind": kind.value, **carried}),
        }
        for kind, shape in SHAPES.items()
        if not about or about in shape.about
    ]
    context = {"kinds": kinds, "about": about, "of": subject.get("of", ""), "is_own": is_own}
    return render(request, "dashboards/alerts/kinds.html", context)


def _rule_form_page(
    request: HttpRequest, form: RuleForm, rehearsal: Rehearsal | None = None
) -> HttpResponse:
    subject = {name: of for name, of in form.subject.items() if of}
    if form.is_own:
        subject["own"] = "yes"
    return form_page(
        request,
        "dashboards/alerts/form.html",
        form,
        kind=RuleKind(form.kind).label,
        same=urlencode(subject),
        offered=form.offered,
        rehearsal=rehearsal,
        fields=[form[name] for name in form.fields if name != "kind"],
    )
