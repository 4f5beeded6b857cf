"""What a person may do with one tweet from its page; and on the page of tweets: track what they
pasted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from trackers.dashboards.access import VIEW_TWEETS, needs, require_permission
from trackers.dashboards.page_acts import act_on, asking_page, confirmation_page
from trackers.dashboards.tweets.asked import get_tweet
from trackers.dashboards.words import commas
from trackers.history import on_page
from trackers.ingest.files import acts
from trackers.ingest.files.track_lines import TrackedLines
from trackers.ingest.found_tweets import DoubtError, Rejected
from trackers.ingest.sources.acts import ADD as ADD_SOURCE
from trackers.ingest.sources.by_form import RefusedFieldsError, add_source
from trackers.ingest.sources.forms import cost, price_of_a_post
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.naming import meant_source
from trackers.schedule.acts import ADD_TWEET, CHANGE_TWEET, TWEET_ACTS, WITH_TAG, ActName
from trackers.tweets.models import Tweet
from trackers.tweets.tags.models import Tag
from trackers.tweets.tags.names import InvalidTagName, find_tag, get_or_create_tag

_MAX_PASTED_LENGTH = 2_400_000
# At most this many rejected lines are named.
_MAX_REJECTED_NAMED = 5
# More are named by mistake: a list of accounts, say.
_MAX_SOURCES_PASTED = 20


@require_POST
@needs(VIEW_TWEETS)
def act_on_tweet(request: HttpRequest, id: int, act: str) -> HttpResponse:
    if act in WITH_TAG:
        raise Http404(f"There is no action {act}.")
    return act_on(request, TWEET_ACTS, act, find=_single_tweet, id=id, page="tweet")


@require_POST
@needs(CHANGE_TWEET)
def tag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return _act_with_tag(request, ActName.TAG, id)


@require_POST
@needs(CHANGE_TWEET)
def untag_tweet(request: HttpRequest, id: int) -> HttpResponse:
    return _act_with_tag(request, ActName.UNTAG, id)


def _act_with_tag(request: HttpRequest, act: str, id: int) -> HttpResponse:
    try:
        tag = chosen_tag(act, request.POST.get("tag", ""))
    except InvalidTagName as wrong:
        messages.error(request, str(wrong))
        return redirect("tweet", id=id)

    def also() -> dict[str, Any]:
        return {"tag": tag}

    return act_on(request, TWEET_ACTS, act, find=_single_tweet, id=id, page="tweet", also=also)


def chosen_tag(act: str, typed: str) -> Tag:
    """A tag to be added is created; one to be removed must exist. TagName otherwise."""
    tag = get_or_create_tag(typed) if act == ActName.TAG else find_tag(typed)
    if tag is None:
        raise InvalidTagName(f"There is no tag “{typed[:60]}”. Choose one of the list.")
    return tag


def _single_tweet(id: int) -> list[Tweet]:
    return [get_tweet(id)]


@require_POST
@needs(ADD_TWEET)
def track_pasted(request: HttpRequest) -> HttpResponse:
    """What is probably no tweet is tracked once a person says so, on a page that says why; names
    and links of accounts, hashtags, searches and lists become sources, once that is confirmed."""
    lines = request.POST.get("lines", "")
    if not lines.strip():
        messages.error(request, "Nothing was pasted. Paste ids or links of tweets, one per line.")
        return redirect("tweets")
    if len(lines) > _MAX_PASTED_LENGTH:
        messages.error(request, "That is too much for the box. Upload it as a file.")
        return redirect("tweets")
    is_sure = request.POST.get("sure") == "yes"
    if is_sure and "sources" in request.POST:
        return _watch_pasted(request, lines)
    rest, named = _without_sources(request, lines)
    if named and not any(line.strip() for line in rest):
        return _ask_to_watch(request, named)
    try:
        done = acts.track_pasted(
            rest,
            on_page(request.user),
            anyway=is_sure,
        )
    except DoubtError as doubt:
        page = confirmation_page(
            request, str(doubt), button="Track them anyway", back=reverse("tweets")
        )
        assert page is not None, "with `sure` nothing is doubted"
        return page
    _show_tracked(request, done)
    return _ask_to_watch(request, named) if named else redirect("tweets")


def _without_sources(request: HttpRequest, lines: str) -> tuple[list[str], list[str]]:
    """The other lines, and those that name sources, where the person may add any."""
    rest: list[str] = []
    named: list[str] = []
    may_add = request.user.has_perm(ADD_SOURCE)
    for line in lines.splitlines():
        is_source = may_add and len(named) < _MAX_SOURCES_PASTED and meant_source(line) is not None
        (named if is_source else rest).append(line)
    return rest, list(dict.fromkeys(named))


def _ask_to_watch(request: HttpRequest, lines: list[str]) -> HttpResponse:
    meant = [source for line in lines if (source := meant_source(line))]
    names = ", ".join(str(Source(kind=source.kind, of=source.of)) for source in meant)
    what = "a source" if len(meant) == 1 else "sources"
    usual = Source()
    price = price_of_a_post()
    most = cost(meant[0].kind, every=usual.every, pages=usual.pages, price=price)
    question = (
        f"No tweets, but {what}: {names}. Watched, their new posts are tracked. Of each: {most}"
    )
    fields = [("lines", "\n".join(lines)), ("sources", "yes")]
    return asking_page(request, question, button="Watch", back=reverse("tweets"), fields=fields)


def _watch_pasted(request: HttpRequest, lines: str) -> HttpResponse:
    require_permission(request, ADD_SOURCE)
    for line in lines.splitlines()[:_MAX_SOURCES_PASTED]:
        source = meant_source(line)
        if source is None:
            continue
        try:
            made = add_source(source.kind, source.of, {}, on_page(request.user))
        except RefusedFieldsError as refused:
            messages.error(request, f"{line.strip()[:80]}: {refused}")
        else:
            messages.success(request, f"Now watching {made}.")
    return redirect("sources")


def _show_tracked(request: HttpRequest, done: TrackedLines) -> None:
    if done.tracked or done.already:
        were = "was" if done.already == 1 else "were"
        already = f" {commas(done.already)} {were} tracked already." if done.already else ""
        looked = " Each will be looked up when its turn comes." if done.tracked else ""
        number = f"{commas(done.tracked)} {'tweet is' if done.tracked == 1 else 'tweets are'}"
        messages.success(request, f"{number} now tracked.{already}{looked}")
    if done.rejected:
        messages.error(request, f"Not tracked: {_rejected_in_words(done.rejected)}.")


def _rejected_in_words(rejected: Sequence[Rejected]) -> str:
    """The first lines, those with the same fault together, so that it is said once."""
    by_why: dict[str, list[str]] = {}
    for line in rejected[:_MAX_REJECTED_NAMED]:
        by_why.setdefault(line.why, []).append(f"line {line.line}, “{line.text}”")
    more = len(rejected) - _MAX_REJECTED_NAMED
    return "; ".join(
        [
            *(
                f"{lines[0]}, {why}"
                if len(lines) == 1
                else f"{', '.join(lines[:-1])}, and {lines[-1]}: each {why}"
                for why, lines in by_why.items()
            ),
            *([f"and {commas(more)} more"] if more > 0 else []),
        ]
    )


def back_to_list(query: str) -> HttpResponseRedirect:
    return redirect(f"{reverse('tweets')}?{query}" if query else "tweets")
