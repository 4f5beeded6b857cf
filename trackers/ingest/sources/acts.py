"""What is done to a source, by whom and through whichever door: each act is in the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from trackers import history
from trackers.acts import Act, Done
from trackers.history import Actor
from trackers.ingest.sources import archive, counts, life, only_here
from trackers.ingest.sources.forms import SourceForm, price_of_a_post
from trackers.ingest.sources.models import Source
from trackers.ingest.sources.naming import short
from trackers.schedule.durations import spoken
from trackers.xapi.endpoints import ARCHIVE_COUNTS
from tweetwatch.amounts import amount
from tweetwatch.clock_times import clock_time

ADD, CHANGE, DELETE = (f"trackers.{verb}_source" for verb in ("add", "change", "delete"))
# The days that X counts.
_COUNTED_DAYS = 7
TWICE = "It already exists: somebody else has just added it."
GONE = "It no longer exists."


def add(form: SourceForm, actor: Actor) -> bool:
    """Add what a valid form holds; False: the form says why not. It is polled at once."""
    if not _saved(form, lambda: life.add_source(form.instance)):
        return False
    if form.instance.kind == Source.Kind.SEARCH:
        counts.keep_remembered(form.instance)
    history.record(actor, [form.instance], "Added", flag=history.ADDITION)
    return True


def change(form: SourceForm, actor: Actor) -> Done | None:
    """Change what differs in a valid form; None: the form says why not.

    `count`: how many settings. `said` names what is given up where it now reads something else.
    """
    source, fields = form.instance, sorted(form.changed_data)
    if not fields:
        return Done(f"{source}: Nothing to change.", is_done=False)
    given_up: list[str] = []
    if not _saved(form, lambda: given_up.append(life.change_source(source, fields))):
        return None
    history.record(actor, [source], f"Changed {', '.join(fields)}")
    return Done(" ".join([f"{source}: Changed.", *filter(None, given_up)]), len(fields))


def _saved(form: SourceForm, save: Callable[[], None]) -> bool:
    """Whether nobody else was faster; else the form says so."""
    try:
        with transaction.atomic():
            save()
    except IntegrityError:
        form.add_error("of" if "of" in form.fields else None, TWICE)
    except Source.DoesNotExist:
        form.add_error(None, GONE)
    return form.is_valid()


def pause(source: Source, actor: Actor) -> Done:
    """Read nothing more of it until it is resumed."""
    return _done(
        source,
        actor,
        life.pause_sources,
        "Paused",
        "Paused. It is not read until it is resumed.",
        "It was already paused.",
    )


def resume(source: Source, actor: Actor) -> Done:
    """Read it again, starting now."""
    return _done(source, actor, life.resume_sources, "Resumed", "Resumed.", "It was not paused.")


def poll_now(source: Source, actor: Actor) -> Done:
    """Make its next poll due now."""
    return _done(
        source,
        actor,
        life.poll_now,
        "Polled now",
        "Its next poll is due now.",
        "Not polled: it is paused, being polled right now, or of a kind that is not polled.",
    )


def count(source: Source, actor: Actor) -> Done:
    """Have X count what a search finds in a week, for its price; `count`: how many posts."""
    if source.kind != Source.Kind.SEARCH:
        return Done(f"{source}: X counts only what a search finds.", is_done=False)
    try:
        kept = counts.count_search(
            source, base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
        )
    except counts.NotCountedError as error:
        return Done(f"{source}: {error}", is_done=False)
    history.record(actor, [source], "Had X count its posts")
    return Done(f"{source}: X counts {kept.posts:,} posts in the last seven days.", kept.posts)


def count_before(form: SourceForm, actor: Actor) -> Done:
    """Have X count what the search of a valid form finds in a week, before it is added, for its
    price; `count`: how many posts. Asked again soon, it is the same count, and costs nothing."""
    query = form.cleaned_data["of"]
    if form.cleaned_data["kind"] != Source.Kind.SEARCH:
        return Done("X counts only what a search finds.", is_done=False)
    before = counts.remembered_count(query)
    try:
        counted = counts.count_query(
            query, base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
        )
    except counts.NotCountedError as error:
        return Done(str(error), is_done=False)
    if before is None:
        history.record_many(actor, Source, 1, f"Had X count the posts of “{short(query)}”")
    a_day = counted.posts * price_of_a_post() / _COUNTED_DAYS
    at = clock_time(counted.counted_at, now=timezone.now(), seconds=False)
    return Done(
        f"X counts {amount(counted.posts, 'post')} of this search in the seven days before {at}: "
        f"about ${a_day:,.2f} a day to read them.",
        counted.posts,
    )


def asks_to_count(source: Source) -> str:
    """The question before it, with what it costs."""
    price = counts.price_of_a_count().normalize()
    return (
        f"Have X count the posts of the last seven days that {source} finds? That is one request, "
        f"for ${price:f}."
    )


def search_archive(source: Source, actor: Actor) -> Done:
    """Have X's full archive searched for its lost gaps, once; `count`: how many gaps."""
    if why := archive.why_not(source):
        return Done(f"{source}: {why}", is_done=False)
    gaps = archive.ask_archive(source, now=timezone.now())
    life.poll_now([source.pk])
    history.record(actor, [source], "Had X's full archive searched")
    return Done(
        f"{source}: X's full archive will be searched for {amount(gaps, 'gap')}.",
        gaps,
    )


def asks_to_search_archive(source: Source) -> str:
    """The question before it, with what it may cost."""
    cost = archive.cost_of_archive(source, now=timezone.now())
    what = f"Search X's full archive for {spoken(cost.length)} of posts that {source} lacks?"
    money = "" if cost.money is None else f", for about ${cost.money:,.2f}"
    if cost.posts is None:
        many = "How many there are is unknown, since it has brought nothing lately."
    elif cost.is_counted:
        many = f"X counts {cost.posts:,} of them{money}."
    else:
        many = f"By what it brought lately that is about {amount(cost.posts, 'post')}{money}."
    return f"{what} {many} X bills each at the price of a post, and no budget is exceeded."


def count_lost(source: Source, actor: Actor) -> Done:
    """Have X count the posts of its lost gaps, for the price of each request; `count`: how many
    posts. Of long ones a part: asked again, it goes on."""
    if why := archive.why_not(source, ARCHIVE_COUNTS):
        return Done(f"{source}: {why}", is_done=False)
    before = counts.requests_to_count(source)
    try:
        counts.count_gaps(
            source, base_url=settings.X_API_BASE_URL, timeout=settings.REQUEST_TIMEOUT
        )
        reason = ""
    except counts.NotCountedError as error:
        reason = str(error)
    after, posts = counts.requests_to_count(source), counts.posts_counted(source)
    if before and after == before:
        return Done(f"{source}: {reason}", is_done=False)
    if before:
        history.record(actor, [source], "Had X count the posts that it lost")
    rest = f" The rest takes {amount(after, 'more request')}. {reason}" if after else ""
    return Done(f"{source}: X counts {amount(posts, 'post')} that it lost.{rest}".rstrip(), posts)


def asks_to_count_lost(source: Source) -> str:
    """The question before it, with what it costs."""
    requests, most = counts.requests_to_count(source), counts.MOST_REQUESTS
    if not requests:
        return f"X has counted all posts that {source} lost. Show how many?"
    asked = min(requests, most)
    money = asked * counts.price_of_a_count(of_archive=True)
    what = f"Have X count the posts that {source} lost? That is about {amount(requests, 'request')}"
    first = f", the first {most} of them now" if requests > most else ""
    return f"{what}{first}, for ${money:,.2f}."


def remove(source: Source, actor: Actor) -> Done:
    """Forget it, its gaps and what it yielded; the tweets stay tracked."""
    return _done(
        source,
        actor,
        life.remove_sources,
        "Removed",
        "Removed. Its tweets stay tracked.",
        GONE,
        flag=history.DELETION,
    )


def remove_with_tweets(source: Source, actor: Actor) -> Done:
    """Have the workers untrack the tweets that came from nowhere else, and then remove it;
    `count`: how many tweets. It takes the permission to delete tweets, too."""
    act = only_here.remove_with_tweets(source, by=actor.user.get_username())
    if act is None:
        return Done(f"{source}: It is already being removed.", is_done=False)
    history.record(actor, [source], "Removed with its tweets")
    return Done(
        f"{source}: Untracking {amount(act.tweets, 'tweet')}; then it is removed.", act.tweets
    )


def _done(
    source: Source,
    actor: Actor,
    act: Callable[[Iterable[int]], int],
    what: str,
    message: str,
    refused: str,
    *,
    flag: int = history.CHANGE,
) -> Done:
    name = str(source)
    if not act([source.pk]):
        return Done(f"{name}: {refused}", is_done=False)
    history.record(actor, [source], what, flag=flag)
    return Done(f"{name}: {message}", 1)


ACTS = {
    "poll": Act(poll_now, CHANGE),
    "pause": Act(pause, CHANGE),
    "resume": Act(resume, CHANGE),
    "count": Act(count, CHANGE, asks=asks_to_count, button="Count"),
    "count-lost": Act(count_lost, CHANGE, asks=asks_to_count_lost, button="Count"),
    "full-archive": Act(
        search_archive, CHANGE, asks=asks_to_search_archive, button="Search the full archive"
    ),
    "remove": Act(remove, DELETE, leaves=True),
}
