"""The curves on the screen: zoomed by mouse, by buttons and by two fingers, while news arrive."""

import pytest

from tests.pages.chromium import poll
from tests.pages.conftest import measure, watched
from tests.pages.looking import looking
from tests.pages.tweets.large.test_compare import steady

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SEEN = "() => Number(document.getElementById('chart').dataset.seconds)"
POINTS = "() => Number(document.getElementById('chart').dataset.points)"


def seconds(page):
    return page.evaluate(SEEN)


def wait_for(page, fact, what):
    poll(lambda: fact(page), within=60, what=what)


def touch(cdp, kind, *xs, y):
    points = [{"x": x, "y": y, "id": id} for id, x in enumerate(xs)]
    cdp.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_a_zoom_is_kept_while_new_measurements_arrive(staff, live_server):
    tweet = watched()
    for minute in range(8):
        measure(tweet, 60 * minute, likes=10 * minute, views=100 * minute)

    viewport = {"width": 1280, "height": 1600}
    with looking(staff, live_server, viewport=viewport, has_touch=True) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/{tweet.pk}/")
        page.wait_for_selector("#chart[data-ready] canvas")
        whole = seconds(page)
        over = page.locator("#chart .u-over")
        box = over.bounding_box()
        middle = box["y"] + box["height"] / 2
        assert not page.locator("[data-zoom=reset]").is_visible()

        # By mouse: the middle half.
        page.mouse.move(box["x"] + box["width"] / 4, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 3 / 4, middle, steps=5)
        page.mouse.up()
        page.wait_for_selector("#chart[data-zoomed]")
        half = seconds(page)
        assert half == pytest.approx(whole / 2, rel=0.05)

        points = page.evaluate(POINTS)
        measure(tweet, 520, likes=90, views=900)
        page.keyboard.press("r")
        wait_for(page, lambda page: page.evaluate(POINTS) > points, "the new measurement")
        assert seconds(page) == half
        page.keyboard.press("t")
        assert seconds(page) == half

        # By keyboard: the buttons beside it.
        page.locator("[data-zoom=in]").press("Enter")
        wait_for(page, lambda page: seconds(page) < half * 0.6, "a closer look")
        page.locator("[data-zoom=earlier]").press("Enter")
        page.locator("[data-zoom=reset]").press("Enter")
        wait_for(page, lambda page: seconds(page) > whole, "all of it, the new one too")
        assert not page.locator("[data-zoom=reset]").is_visible()
        assert page.evaluate("() => document.activeElement.dataset.zoom") == "in"
        whole = seconds(page)

        # By two fingers that part.
        cdp = page.context.new_cdp_session(page)
        left, right = box["x"] + box["width"] * 0.45, box["x"] + box["width"] * 0.55
        touch(cdp, "touchStart", left, right, y=middle)
        for step in range(1, 6):
            touch(cdp, "touchMove", left - 30 * step, right + 30 * step, y=middle)
        touch(cdp, "touchEnd", y=middle)
        wait_for(page, lambda page: seconds(page) < whole * 0.7, "what two fingers drew apart")

        page.locator(".ranges a", has_text="Log").click()
        page.wait_for_selector(".ranges a[aria-current]:has-text('Log')")
        assert "scale=log" in page.url
        for view in ("Per hour", "Per day"):
            page.locator(".ranges a", has_text=view).click()
            page.wait_for_selector(f".ranges a[aria-current]:has-text('{view}')")
            page.wait_for_selector("#chart[data-ready] canvas")
        assert "scale=log" in page.url


def test_tweets_are_compared_and_saved_as_a_picture(staff, live_server):
    ids = [steady(number, number).pk for number in range(1, 6)]

    with looking(staff, live_server, viewport={"width": 1280, "height": 1200}) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/{ids[0]}/")
        page.locator("a.act", has_text="Compare").click()
        page.wait_for_selector("#chart[data-ready] canvas")
        page.fill("#add-ids", f"https://x.com/i/status/{ids[1]} {ids[2]}")
        page.locator(".compare-form button").click()
        page.wait_for_selector("#chart[data-ready] canvas")
        assert page.locator(".compared tbody tr").count() == 5
        page.locator("[data-log]").click()
        page.wait_for_url("**scale=log**")
        picture = page.locator(".chart-files a", has_text="PNG").evaluate("link => link.href")
        file = page.context.request.get(picture)
        assert "scale=log" in picture
        assert file.body()[:8] == b"\x89PNG\r\n\x1a\n"
        # It is a permalink: the same again.
        page.reload()
        page.wait_for_selector("#chart[data-ready] canvas")
        assert page.locator(".compared tbody tr").count() == 5
        assert page.get_attribute("[data-log]", "aria-pressed") == "true"
