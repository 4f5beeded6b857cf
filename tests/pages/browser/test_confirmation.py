"""What cannot be undone is asked about first, with scripts in place and without them on a page."""

import html
import re

import pytest
from django.contrib.auth.models import User

from tests.alerts.conftest import rule
from tests.events.conftest import subscriber
from tests.pages.conftest import flat, watched
from tests.pages.looking import looking
from trackers.alerts.models import AlertRule
from trackers.events.models import Subscriber
from trackers.timelines.models import Follower
from trackers.tokens.models import FeedAddress
from trackers.tweets.models import Tweet

FORM = re.compile(r'<form method="post" action="([^"]+)" data-confirm="([^"]+)"')
CHANGED = (Tweet, AlertRule, FeedAddress)


def there():
    """Rows that can be removed; the pages of them."""
    user = User.objects.get()
    follower, _ = Follower.objects.get_or_create(user=user)
    FeedAddress.objects.create(
        follower=follower, user=user, digest="d", made_at="2026-01-01T00:00Z"
    )
    told, shop = rule("velocity", metric="likes", at=5), subscriber()
    return f"/tweets/{watched().pk}/", f"/alerts/{told.pk}/", f"/subscribers/{shop.pk}/", "/feeds/"


@pytest.mark.django_db
def test_the_server_asks_the_same_confirmation_as_scripts(staff):
    acts = set()

    for page in there():
        for action, question in FORM.findall(flat(staff.get(page))):
            acts.add(action.strip("/").split("/")[-1 if "feeds" not in action else 1])
            asked = staff.post(action)
            assert asked.status_code == 200
            # The key's page has more room, and says more.
            if not action.endswith("/key"):
                assert html.unescape(question) in html.unescape(asked.content.decode()), action
            assert 'name="sure"' in asked.content.decode()

    assert acts >= {"untrack", "remove", "key", "make", "revoke"}
    assert [kind.objects.count() for kind in CHANGED] == [1, 1, 1]
    assert FeedAddress.objects.get().digest == "d"
    assert Subscriber.objects.get().removed_at is None


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_without_scripts_a_page_asks_before_a_tweet_is_untracked(staff, live_server):
    tweet = watched()

    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/{tweet.pk}/")
        page.click("text=Untrack")
        page.get_by_text("remove its whole history?").wait_for()
        seen.follow("text=Go back")
        assert page.url.endswith(f"/tweets/{tweet.pk}/")
        assert Tweet.objects.count() == 1

        page.click("text=Untrack")
        page.click("button.danger")
        page.wait_for_url("**/tweets/")
        assert not Tweet.objects.exists()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_with_scripts_a_confirmation_is_asked_once(staff, live_server):
    tweet = watched()

    with looking(staff, live_server) as seen:
        asked = []
        seen.page.on("dialog", lambda one: (asked.append(one.message), one.accept()))
        seen.page.goto(f"{seen.address}/tweets/{tweet.pk}/")
        seen.page.click("text=Untrack")
        seen.page.wait_for_url("**/tweets/")

    assert asked == ["Stop tracking this tweet and remove its whole history?"]
    assert not Tweet.objects.exists()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["/", "/operations/"])
def test_the_menu_of_a_phone_marks_the_current_page(staff, live_server, address):
    with looking(staff, live_server, viewport={"width": 390, "height": 844}) as seen:
        seen.page.goto(f"{seen.address}{address}")
        item = seen.page.locator(".top nav [aria-current]")
        seen.page.wait_for_function("() => document.querySelector('time, main')")
        box = item.bounding_box()

        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
