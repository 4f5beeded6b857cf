"""The page of a message's link: it asks, and then mutes.

A person who may change rules mutes a rule or a tweet for an hour or a day; each, their own rules.
Anybody else who has the link, as everybody in the chat has, mutes the channel alone, for an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from trackers import history
from trackers.acts import Done
from trackers.alerts import acts
from trackers.alerts.models import AlertNotice, AlertRule
from trackers.alerts.mutes import HOURS
from trackers.channels.acts import mute_channel
from trackers.channels.links import message_of_key
from trackers.channels.models import ChannelMessage
from trackers.dashboards.access import is_signed_in
from trackers.history import Actor
from trackers.tokens.factors import lacks_factor

_TEMPLATE = "dashboards/alerts/mute.html"
_TWEETS_MOST = 5
_SPANS = dict(zip(HOURS, ("an hour", "a day"), strict=True))


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that the page can mute."""

    value: str
    button: str
    do: Callable[[Actor], Done]


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def mute_page(request: HttpRequest, key: str) -> HttpResponse:
    message = message_of_key(key, now=timezone.now())
    if message is None:
        return render(request, _TEMPLATE, {"is_over": True}, status=404)
    is_known = is_signed_in(request) and not lacks_factor(request.user)
    of_person = list(_offers(message, cast(User, request.user))) if is_known else []
    offers = [*of_person, _of_channel(message)]
    chosen = next((one for one in offers if one.value == request.POST.get("mute")), None)
    done = None
    if request.method == "POST" and chosen is not None:
        actor = (
            history.on_page(request.user) if of_person else history.by_channel(message.channel.name)
        )
        done = chosen.do(actor).message
    log_in = "" if is_signed_in(request) else f"{reverse('account_login')}?{_query(request)}"
    context = {
        "title": message.title,
        "offers": offers,
        "done": done,
        "log_in": log_in,
        "lacks": is_signed_in(request) and not of_person,
    }
    return render(request, _TEMPLATE, context)


def _query(request: HttpRequest) -> str:
    return urlencode({"next": request.path}, safe="/")


def _offers(message: ChannelMessage, person: User) -> Iterator[Offer]:
    """Of the rules and tweets of all that was sent as one with it, what the person may mute."""
    notices = _notices_of(message)
    raised_by = {notice.rule_id for notice in notices if notice.rule_id is not None}
    seen = AlertRule.objects.seen_by(person).select_related("owner").filter(pk__in=raised_by)
    rules = [rule for rule in seen if person.has_perm(acts.acts_on(rule)["mute-hour"].permission)]
    tweets = dict.fromkeys(
        int(line["of"]) for notice in notices for line in notice.heard if line["kind"] == "tweet"
    )
    for rule in rules:
        for hours, span in _SPANS.items():
            do = partial(acts.mute_rule, rule, hours=hours)
            yield Offer(f"rule-{rule.pk}-{hours}", f"The rule {rule.name} for {span}", do)
    may_mute_tweets = person.has_perm(acts.CHANGE)
    for tweet in list(tweets)[:_TWEETS_MOST] if may_mute_tweets else ():
        for hours, span in _SPANS.items():
            do = partial(acts.mute_tweet, tweet, hours=hours)
            yield Offer(f"tweet-{tweet}-{hours}", f"Tweet {tweet} for {span}", do)


def _of_channel(message: ChannelMessage) -> Offer:
    name = message.channel.name
    return Offer(
        "channel", f"The channel {name} for an hour", partial(mute_channel, message.channel)
    )


def _notices_of(message: ChannelMessage) -> list[AlertNotice]:
    """What was sent as one was settled by one statement, so at the same time."""
    together = ChannelMessage.objects.filter(channel=message.channel_id, pk__lte=message.pk)
    if message.sent_at is None:
        together = together.filter(pk=message.pk)
    else:
        together = together.filter(sent_at=message.sent_at)
    ids = together.order_by("-pk").values_list("notice", flat=True)[:10]
    return list(AlertNotice.objects.select_related("rule").filter(pk__in=list(ids)))
