"""Feeds for readers elsewhere: with a follower's secret address anybody can read its home and
sources.

Any other such request is answered as if the page did not exist. The secret is part of the path:
`tweetwatch.http.secret_paths` keeps it out of the logs.
"""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import http_date
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import conditional_page, require_safe

from trackers.dashboards.feeds.entries import FeedContents, home_contents, source_contents
from trackers.dashboards.feeds.formats import WRITERS
from trackers.dashboards.homes import home_address
from trackers.ingest.sources.models import Source
from trackers.tokens import feed_addresses
from trackers.tokens.models import FeedAddress


@login_not_required
@require_safe
@sensitive_variables("secret")
@conditional_page
def home_feed(request: HttpRequest, secret: str, form: str) -> HttpResponse:
    address = find_address(secret)
    follower = address.follower
    return _feed_response(
        request, address, home_contents(follower), home_address(follower.team_id), form
    )


@login_not_required
@require_safe
@sensitive_variables("secret")
@conditional_page
def source_feed(request: HttpRequest, secret: str, id: int, form: str) -> HttpResponse:
    address = find_address(secret)
    source = Source.objects.filter(pk=id).first()
    if source is None:
        raise Http404("There is no such source.")
    return _feed_response(
        request, address, source_contents(source), reverse("source", args=[source.pk]), form
    )


@sensitive_variables("secret")
def find_address(secret: str) -> FeedAddress:
    address = feed_addresses.find_address(secret)
    if address is None:
        raise Http404("There is no such feed, or its address was revoked.")
    return address


def _feed_response(
    request: HttpRequest, address: FeedAddress, contents: FeedContents, page: str, form: str
) -> HttpResponse:
    now = timezone.now()
    changed_at = feed_addresses.changed_at(address, contents.source_id, contents.digest, now=now)
    kind, write = WRITERS[form]
    link = request.build_absolute_uri(page)
    response = HttpResponse(write(contents, changed_at=changed_at, link=link), content_type=kind)
    # After two changes within a second, changed_at may be in the future: do not send it yet.
    if changed_at <= now:
        response["Last-Modified"] = http_date(changed_at.timestamp())
    response["Cache-Control"] = "private, no-cache"
    response["X-Robots-Tag"] = "noindex"
    response["Referrer-Policy"] = "no-referrer"
    return response
