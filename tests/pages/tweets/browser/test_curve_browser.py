"""The curve on the screen: it survives being drawn anew, and the address has its choices."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.pages.conftest import measure, watched
from tests.pages.looking import looking
from tests.scores.posts import usual_posts
from trackers.scores.benchmarks import make_benchmarks

WIDTH = "() => document.querySelector('#chart canvas')?.width ?? 0"
SHOWN = """() => [...document.querySelectorAll('.toggle[aria-current]')].map(
    toggle => toggle.closest('li').dataset.metric)"""
BOX = "what => document.querySelector(what).getBoundingClientRect().toJSON()"
SMALL = {"width": 1280, "height": 800}
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_curve_is_redrawn_on_changes_and_keeps_its_view(staff, live_server):
    tweet, lone = watched(), watched(1)
    for minute in range(5):
        measure(tweet, 60 * minute, likes=minute, views=100 * minute)
    measure(lone, 60, likes=5)

    with looking(staff, live_server, viewport=WIDE) as seen:
        page = seen.page
        page.goto(f"{live_server.url}/tweets/{tweet.pk}/?range=24h")
        page.wait_for_selector("#chart canvas")
        # The head is one line, and the curve is whole on the first screen.
        assert page.evaluate(BOX, ".top")["height"] < 60
        assert page.evaluate(BOX, "#chart canvas")["bottom"] <= WIDE["height"]
        # On a small one too, and on a phone.
        for size in (SMALL, NARROW):
            page.set_viewport_size(size)
            page.wait_for_function(
                "width => document.querySelector('#chart canvas')?.clientWidth <= width",
                arg=size["width"],
            )
            assert page.evaluate(BOX, "#chart canvas")["bottom"] <= size["height"], size
        page.set_viewport_size(WIDE)
        newest = page.locator(".u-legend .u-series:has-text('Views') .u-value")
        assert newest.text_content() == "400"
        redraws = {
            "theme key": lambda: page.keyboard.press("t"),
            "theme button": lambda: (page.click("#person"), page.click("[data-theme-button]")),
            "back to the system's": lambda: page.keyboard.press("t"),
            "the system goes dark": lambda: page.emulate_media(color_scheme="dark"),
            "resized": lambda: page.set_viewport_size({"width": 900, "height": 800}),
            "a phone": lambda: page.set_viewport_size(NARROW),
            "rotated": lambda: page.set_viewport_size({"width": 844, "height": 390}),
        }
        widths = {}
        for what, redraw in redraws.items():
            page.evaluate("() => document.querySelector('#chart canvas').dataset.old = '1'")
            redraw()
            # Drawn anew: another canvas.
            page.wait_for_selector("#chart canvas:not([data-old])")
            widths[what] = page.evaluate(WIDTH)
        assert all(widths.values()), widths

        page.set_viewport_size(WIDE)
        page.click("#chip-likes")
        page.wait_for_selector("#chip-likes[aria-current]")
        page.click("#chip-views")
        page.wait_for_selector("#chip-views:not([aria-current])")
        page.click(".ranges a:has-text('7 d')")
        page.wait_for_selector(".ranges a[aria-current]:has-text('7 d')")
        assert page.evaluate(SHOWN) == ["likes"]
        page.reload()
        assert page.evaluate(SHOWN) == ["likes"]
        assert "range=7d" in page.url

        page.goto(f"{live_server.url}/tweets/{lone.pk}/")
        page.wait_for_selector("#chart canvas")
        span = timedelta(seconds=float(page.get_attribute("#chart", "data-seconds")))

        # No answer for the figures alone; then there is one, and nobody has to reload the page.
        page.route("**/series**", lambda route: route.abort())
        page.reload()
        page.wait_for_selector("#chart:has-text('could not be loaded')")
        page.unroute("**/series**")
        page.wait_for_selector("#chart canvas")
        assert all("ERR_FAILED" in one for one in seen.faults), seen.faults
        seen.faults.clear()
    assert timedelta(0) < span <= timedelta(minutes=2)


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_values_are_read_by_keyboard(staff, live_server):
    tweet = watched()
    for minute in (0, 1, 2, 6, 7):
        measure(tweet, 60 * minute, likes=minute, views=100 * minute)

    with looking(staff, live_server, viewport=WIDE) as seen:
        page = seen.page
        page.goto(f"{live_server.url}/tweets/{tweet.pk}/")
        page.wait_for_selector("#chart[data-ready] canvas")
        values = []
        page.locator(".zoom [data-zoom=in]").focus()
        page.keyboard.press("Tab")
        for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight", "End", "ArrowRight"):
            page.keyboard.press(key)
            assert page.evaluate("() => document.activeElement.getAttribute('role')") == "slider"
            values.append(page.get_attribute("#chart .u-over", "aria-valuetext").split(": ")[1])
        # Across the gap, and not beyond the end.
        assert values == [f"Views {views}" for views in (0, 100, 200, 600, 700, 700)]
        assert page.locator(".u-legend .u-value").last.text_content() == "700"


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_figure_at_the_cursor_is_compared_with_what_is_usual(staff, live_server):
    for place, views in ((1, 1000), (5, 4000)):
        usual_posts(7, 12, place=place, first=timedelta(days=40 + place), views=views)
    make_benchmarks([7], now=timezone.now())
    tweet = watched()
    for seconds, views in ((300, 500), (3600, 9000)):
        measure(tweet, seconds, views=views)

    with looking(staff, live_server, viewport=WIDE) as seen:
        page = seen.page
        page.goto(f"{live_server.url}/tweets/{tweet.pk}/?range=all")
        page.wait_for_selector("#chart[data-ready] canvas")
        newest = page.locator(".u-legend .u-series:has-text('Views') .u-value")
        newest.wait_for()
        assert newest.text_content() == "9,000 · usually 4,000 · 2.3×"
        page.locator("#chart .u-over").focus()
        page.keyboard.press("Home")
        page.wait_for_function(
            "() => document.querySelector('.u-legend').textContent.includes('500 · usually 1,000')"
        )
        assert newest.text_content() == "500 · usually 1,000 · −2.0×"
