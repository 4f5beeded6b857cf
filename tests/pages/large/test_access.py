"""Who may look at which page, what those are told who may not, and what is kept of it."""

import html
import sys
from types import ModuleType

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.urls import URLPattern, get_resolver, path

from tests.api.conftest import end
from tests.factories import CredentialFactory, TweetUpdateFactory
from tests.pages.conftest import measure, watched
from tests.pages.sources import some_staff, source
from trackers import roles
from trackers.credentials.models import Credential
from trackers.dashboards import urls
from trackers.dashboards.account import urls as account
from trackers.events.subscribers.acts import add
from trackers.events.subscribers.terms import Terms
from trackers.history import by_command
from trackers.outbox.models import ALERTS_TOPIC, SOURCES_TOPIC
from trackers.tweets.models import Tweet

pytestmark = pytest.mark.django_db

# Whoever brings the key of the scraper, or the secret of a feed, needs no account.
OPEN = {
    # By a signed link; what it does beyond that, each asks about itself.
    *("alert-mute", "alert-digest-end"),
    "answers",
    *(page.name for page in account.urlpatterns),
    "metrics",
    "feed-home-atom",
    "feed-home-json",
    "feed-source-atom",
    "feed-view-atom",
    "share-public",
    "share-embed",
    "share-picture",
    None,
}
PAGES = {
    "/": "view_tweet",
    "/tweets/": "view_tweet",
    "/tweets/?part=rows": "view_tweet",
    "/tweets/views/": "view_tweet",
    "/compare/": "view_tweet",
    "/home/": "view_tweet",
    "/columns/": "view_tweet",
    "/live/": "view_tweet",
    "/notes/": "view_note",
    "/shares/": "view_share",
    "/leaderboards/": "view_tweet",
    "/sets/all/all/": "view_tweet",
    "/compare/sets/": "view_tweet",
    "/happenings/": "view_tweet",
    "/help/": "view_tweet",
    "/search/": "view_tweet",
    "/search/?part=found&q=ada": "view_tweet",
    "/help/alerts/": "view_tweet",
    "/following/": "view_source",
    "/following/follows.csv": "view_source",
    "/feeds/": "view_source",
    "/sources/": "view_source",
    "/sources/?part=list": "view_source",
    "/sources/import/": "add_source",
    "/subscribers/": "view_subscriber",
    "/operations/": "view_queue",
    "/operations/?part=figures": "view_queue",
    "/operations/paused/": "view_tweet",
    "/operations/pause/": "change_queue",
    "/tweets/many/": "change_tweet",
}


def test_every_page_declares_its_permission():
    without = [
        one.name
        for one in urls.urlpatterns
        if not hasattr(one.callback, "permission") and one.name not in OPEN
    ]

    assert without == []


@pytest.fixture
def new_view(settings):
    """A view that says nothing of who may look, among the others: an account is enough."""
    module = ModuleType("tests.pages.with_a_new_view")
    module.urlpatterns = [
        *get_resolver("tweetwatch.urls").url_patterns,
        path("new/", lambda request: HttpResponse("what nobody else should see")),
    ]
    sys.modules[module.__name__] = module
    settings.ROOT_URLCONF = module.__name__
    yield "/new/"
    del sys.modules[module.__name__]


def test_a_new_view_is_closed_until_it_declares_a_permission(client, new_view):
    assert client.get(new_view).headers["Location"] == f"/login/?next={new_view}"

    client.force_login(User.objects.create_user("eve"))
    assert client.get(new_view).status_code == 200


@pytest.mark.parametrize("address", PAGES)
def test_a_refusal_names_the_missing_permission_and_who_grants_it(client, address):
    User.objects.create_superuser("root")
    eve = User.objects.create_user("eve")
    client.force_login(eve)

    answer = client.get(address)

    text = html.unescape(answer.content.decode())
    assert answer.status_code == 403
    assert f"(trackers.{PAGES[address]})" in text
    role = "viewer" if PAGES[address].startswith("view_") else "operator"
    assert f"which the role {role} has" in text
    assert "root can give it to you" in text
    eve.delete()
    allowed = some_staff(client, PAGES[address]).get(address)
    end(allowed)
    assert allowed.status_code == 200


def test_series_and_samples_need_the_permission(client):
    tweet = watched()
    series, samples = f"/tweets/{tweet.id}/series.json", f"/tweets/{tweet.id}/samples.csv"
    some_staff(client)

    answer = client.get(series)
    assert answer.status_code == 403
    assert "trackers.view_tweet" in answer.json()["error"]
    assert client.get(samples).status_code == 403


LINKS = {
    "view_tweet": {"/", "/tweets/", "/home/", "/columns/", "/live/"},
    "view_source": {"/sources/"},
    "view_queue": {"/operations/"},
}


@pytest.mark.parametrize("permission", LINKS)
def test_the_menu_links_only_to_permitted_pages(client, permission):
    page = some_staff(client, permission).get(sorted(LINKS[permission])[0]).content.decode()
    menu = page[page.index('aria-label="Pages"') : page.index("</header>")]

    shown = {address for address in set().union(*LINKS.values()) if f'href="{address}"' in menu}
    assert shown == LINKS[permission]


def test_a_refusal_links_only_to_permitted_pages(client):
    some_staff(client, "view_source")

    page = client.get("/operations/").content.decode()

    assert 'href="/sources/"' in page
    assert 'href="/operations/"' not in page
    assert 'href="/"' not in page


def test_operations_show_money_and_credentials_only_with_permission(client):
    some_staff(client, "view_queue")
    for tab in ("now", "workers"):
        page = client.get(f"/operations/?tab={tab}").content.decode()
        for title in ("money-title", "keys-title", "workers-title"):
            assert title not in page

    User.objects.all().delete()
    given = ("view_queue", "view_project", "view_credential", "view_worker")
    some_staff(client, *given)
    page = client.get("/operations/").content.decode()
    for title in ("money-title", "keys-title"):
        assert title in page
    assert "workers-title" in client.get("/operations/?tab=workers").content.decode()


def test_live_events_leave_out_topics_without_permission(client):
    page = some_staff(client, "view_tweet").get("/live/").content.decode()
    assert SOURCES_TOPIC not in page[page.index("data-stream") : page.index("data-rows")]
    assert client.get("/live/?show=sources").status_code == 403
    stream = "/api/v1/events/stream?topics="
    assert client.get(f"{stream}{ALERTS_TOPIC}").status_code == 403

    User.objects.all().delete()
    some_staff(client, "view_source")
    assert client.get(f"{stream}tweets").status_code == 401, "by the cookie of a page"


@pytest.mark.parametrize(
    "address", ["/", "/tweets/", "/sources/", "/operations/", "/operations/?part=figures"]
)
def test_pages_of_a_session_are_not_cached_by_proxies(staff, address):
    assert staff.get(address).headers["Cache-Control"] == "private, no-cache"


def test_exports_are_not_cached(staff):
    tweet = watched()
    measure(tweet, 0, likes=1)
    for name in ("samples.csv", "series.json"):
        figures = staff.get(f"/tweets/{tweet.id}/{name}")
        end(figures)
        assert "no-store" in figures.headers["Cache-Control"]
    follows = staff.get("/following/follows.csv")
    end(follows)
    assert "no-store" in follows.headers["Cache-Control"]


HUGE = 99999999999999999999


def test_an_impossible_id_is_404(staff):
    """Whatever the page: neither an answer about nothing, nor a fault of ours."""
    addresses = [
        "/" + str(one.pattern).replace("<int:id>", str(HUGE)).replace("<int:team>", str(HUGE))
        for one in urls.urlpatterns
        if isinstance(one, URLPattern) and "<int:" in str(one.pattern)
    ]
    asked = [one for one in addresses if "<" not in one]

    assert len(asked) > 15
    assert {one: staff.get(one).status_code for one in asked} == {
        one: 405 if one.endswith(("/ask", "/remove", "/tag", "/untag", "/stop", "/end")) else 404
        for one in asked
    } | {one: 302 for one in asked if one.endswith("/key")}


def test_permissions_on_sources_and_tweets_are_independent(client):
    made = source()
    some_staff(client, "view_source")
    page = client.get(f"/sources/{made.pk}/").content.decode()
    assert 'id="tweets"' not in page
    assert client.get(f"/sources/{made.pk}/?part=rows").status_code == 403


def test_the_menu_links_to_subscribers_without_the_permission_on_queues(client):
    add("shop", Terms({"callback": "https://shop.example/in"}, topics=["tweets"]), by_command())
    page = some_staff(client, "view_subscriber").get("/subscribers/").content.decode()
    assert '<a href="/subscribers/" data-key="b">Subscribers</a>' in page


def test_links_into_the_admin_are_shown_only_to_staff(client):
    CredentialFactory()
    made = source()
    tweet = watched()
    TweetUpdateFactory(due_at=tweet.tracked_at, strikes=4)
    User.objects.create_user("eve")
    roles.give(User.objects.get(username="eve"), roles.VIEWER)
    client.force_login(User.objects.get(username="eve"))

    for address in (
        "/", "/tweets/", "/tweets/?q=nobodywrotethis", f"/tweets/{tweet.pk}/", "/sources/",
        f"/sources/{made.pk}/", "/operations/", "/account/", "/live/",
    ):  # fmt: skip
        page = client.get(address)
        assert page.status_code == 200, address
        assert 'href="/admin' not in page.content.decode(), address

    Credential.objects.all().delete()
    Tweet.objects.all().delete()
    for address in ("/", "/tweets/", "/operations/"):
        assert 'href="/admin' not in client.get(address).content.decode(), address
