"""Home and columns in a real browser, while tweets arrive and are deleted."""

import pytest
from django.utils import timezone

from tests.pages.chromium import poll
from tests.pages.home.homes import bring, followed, home_of, tweet
from tests.pages.looking import looking
from tests.timelines.homes.world import configure
from trackers.dashboards.models import Column
from trackers.timelines import homes
from trackers.tweets.models import Tweet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# At once: what is waited for may be gone, since the page goes on by itself.
FURTHER = "timeline => timeline.querySelector('[data-further]')?.scrollIntoView()"
IDS = "timeline => [...timeline.querySelectorAll('tr[data-id]')].map(row => row.dataset.id)"

PRESS_AT_ONCE = """() => new MutationObserver((changes, observer) => {
    const bar = document.querySelector('a.news');
    if (!bar) return;
    observer.disconnect();
    window.isPressed = true;
    bar.click();
}).observe(document.querySelector('.news-line'), { childList: true })"""


def ids(timeline):
    found = [int(id) for id in timeline.evaluate(IDS)]
    assert found == sorted(set(found), reverse=True), "in order, and each once"
    return found


def delete(*some):
    Tweet.objects.filter(pk__in=some).update(gone_at=timezone.now())


def test_500_tweets_are_scrolled_while_50_arrive_and_20_are_deleted(staff, live_server):
    there = [tweet(1, 10 * n) for n in range(500)]
    made = followed(*there)
    young = [tweet(2, n) for n in range(40)]
    late = [tweet(1, 10 * n + 5) for n in range(3, 500, 50)]
    leaving = there[7::25]
    wanted = sorted({*there, *young, *late} - set(leaving), reverse=True)
    assert (len(young) + len(late), len(leaving)) == (50, 20)

    # A tall screen, so that few steps lead through all.
    with looking(staff, live_server, viewport={"width": 1280, "height": 2400}) as seen:
        page = seen.page
        page.goto(f"{seen.address}/home/")
        timeline = page.locator("[data-timeline]")

        for _ in range(10):
            before = len(ids(timeline))
            bring(made, *young[:4], late.pop())
            delete(*leaving[:2])
            del young[:4], leaving[:2]
            timeline.evaluate(FURTHER)
            poll(
                lambda before=before: (
                    len(ids(timeline)) > before or not page.locator("[data-further]").count()
                ),
                within=120,
                what="older rows",
            )
            if not page.locator("[data-further]").count():
                break
        bring(made, *young, *late)
        delete(*leaving)

        def end():
            timeline.evaluate(FURTHER)
            return not page.locator("[data-further]").count()

        poll(end, within=120, what="the end of the home")
        page.keyboard.press("r")
        page.locator("a.news").click(timeout=120_000)

        # What is in sight is asked after: so a person who scrolls sees none that is gone.
        height = page.evaluate("document.body.scrollHeight")
        places = iter(range(0, 100 * height, 2400))

        def as_wanted():
            page.evaluate("y => window.scrollTo(0, y)", next(places) % (height + 2400))
            page.keyboard.press("r")
            found = ids(timeline)
            assert set(wanted) <= set(found), "none is lost"
            return found == wanted

        poll(lambda: len(ids(timeline)) >= len(wanted), within=120, what="all that is new")
        poll(as_wanted, within=120, what="none that was deleted")
        assert page.locator("a.news").count() == 0


def test_a_key_shows_the_new_tweets_and_focuses_the_newest(staff, live_server):
    made = followed(tweet(1), tweet(5))
    configure(strategy="sized")

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/home/")
        assert "is being rebuilt" in page.inner_text(".notice")
        homes.rebuild(home_of())
        page.locator(".notice").wait_for(state="detached", timeout=120_000)
        bring(made, tweet(6), tweet(3))
        page.keyboard.press("r")
        page.wait_for_selector("a.news", timeout=120_000)
        assert page.inner_text("a.news") == "2 new, 1 of them late"
        page.keyboard.press(".")

        timeline = page.locator("[data-timeline]")
        wanted = [tweet(6), tweet(5), tweet(3), tweet(1)]
        poll(lambda: ids(timeline) == wanted, within=120, what="both in their places")
        poll(
            lambda: page.evaluate("document.activeElement.id") == f"tweet-{tweet(6)}",
            within=120,
            what="the newest has the focus",
        )
        assert page.locator(".badge.late").count() == 1
        page.keyboard.press("j")
        assert page.evaluate("document.activeElement.id") == f"tweet-{tweet(5)}"


def test_a_click_on_the_bar_as_soon_as_it_appears_inserts_rows(staff, live_server):
    """A press before the script knew the bar would load the page anew, and lose the place."""
    made = followed(tweet(1))

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/home/")
        page.evaluate(PRESS_AT_ONCE)
        bring(made, tweet(2))
        page.keyboard.press("r")

        timeline = page.locator("[data-timeline]")
        poll(lambda: ids(timeline) == [tweet(2), tweet(1)], within=120, what="what is new")
        assert page.evaluate("window.isPressed"), "the same page as before"


def test_going_back_to_a_home_restores_the_scroll_position(staff, live_server):
    followed(*(tweet(1, n) for n in range(80)))

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/home/")
        timeline = page.locator("[data-timeline]")
        timeline.evaluate(FURTHER)
        poll(lambda: len(ids(timeline)) == 80, within=120, what="all")
        # The second page's.
        link = page.locator(f"#tweet-{tweet(1, 15)}")
        link.scroll_into_view_if_needed()
        top = link.bounding_box()["y"]
        link.click()
        page.wait_for_url("**/tweets/**")

        page.go_back()
        poll(
            lambda: link.count() and abs(link.bounding_box()["y"] - top) < 5,
            within=120,
            what="the tweet at the same height",
        )


def test_columns_are_swiped_and_scrolled_separately(staff, live_server):
    made = followed(*(tweet(1, n) for n in range(70)))
    user = Column._meta.get_field("user").related_model.objects.get()
    Column.objects.create(user=user, position=1)
    Column.objects.create(user=user, position=2, source_id=made)
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}

    with looking(staff, live_server, **phone) as seen:
        page = seen.page
        page.goto(f"{seen.address}/columns/")
        first, second = page.locator("[data-timeline]").all()
        left = "column => column.getBoundingClientRect().left"
        start = page.locator(".column").first.evaluate(left)

        # A swipe that ends between the two: it snaps.
        page.locator(".columns").evaluate("all => all.scrollBy({left: 250})")
        poll(
            lambda: abs(page.locator(".column").nth(1).evaluate(left) - start) < 30,
            within=120,
            what="the second column at the edge",
        )
        further = second.locator("[data-further]")
        while further.count():
            before = len(ids(second))
            second.evaluate(FURTHER)
            poll(
                lambda before=before: len(ids(second)) > before or not further.count(),
                within=120,
                what="older rows",
            )
        assert len(ids(second)) == 70
        assert len(ids(first)) < 70

        bring(made, tweet(2))
        page.locator(".columns").evaluate("all => document.dispatchEvent(new CustomEvent('renew'))")
        second.locator("a.news").click(timeout=120_000)
        poll(lambda: ids(second)[0] == tweet(2), within=120, what="what is new")


def test_a_home_shows_that_the_server_is_gone_and_back(staff, live_server):
    made = followed(tweet(1))

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/home/")
        bring(made, tweet(2))
        page.keyboard.press("r")
        page.wait_for_selector("a.news", timeout=120_000)
        page.context.set_offline(True)
        page.click("a.news")
        # What was asked just before may still be answered; the next question is not.
        notice = page.locator("[data-trouble]", has_text="The server does not answer")
        notice.wait_for(timeout=120_000)
        assert page.locator("a.news").is_visible()

        page.context.set_offline(False)
        page.click("a.news")
        notice.wait_for(state="detached", timeout=120_000)
        poll(lambda: len(ids(page.locator("[data-timeline]"))) == 2, within=120, what="both")
        # The browser's and htmx's own words about each request that failed.
        told = ("console: htmx:", "console: Failed to load resource: net::ERR_INTERNET")
        seen.faults[:] = [one for one in seen.faults if not one.startswith(told)]
