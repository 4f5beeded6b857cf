"""What is moving now, in a real browser before a server that streams."""

import pytest

from tests.pages.chromium import poll
from tests.pages.conftest import measure, watched
from tests.pages.looking import looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LIKES = "rows => rows.map(row => row.querySelector('.move strong')?.textContent)"


def test_rows_appear_as_tweets_move_through_a_pause_and_lost_streams(staff, live_server, settings):
    # So short that it ends, and is opened anew, while the test looks.
    settings.EVENT_STREAM_SECONDS = settings.EVENT_STREAM_SECONDS / 30
    tweet = watched(text="Liftoff")
    measure(tweet, 0, likes=3)

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/live/")
        state, rows = page.locator("[data-state]"), page.locator("[data-event]")

        def visible_rows():
            return rows.evaluate_all(LIKES)

        poll(lambda: "Live" in state.inner_text(), within=60, what="a stream")
        measure(tweet, 60, likes=5)
        poll(lambda: visible_rows() == ["5"], within=60, what="the first change")
        assert "Liftoff" in rows.first.inner_text()

        page.get_by_role("button", name="Pause").click()
        assert "Paused" in state.inner_text()
        measure(tweet, 120, likes=6)
        measure(tweet, 180, likes=7)
        page.get_by_role("button", name="Resume").click()
        poll(lambda: visible_rows() == ["7", "6", "5"], within=60, what="what came meanwhile")

        for likes in range(8, 12):
            page.wait_for_event("request", lambda asked: "events/stream" in asked.url)
            measure(tweet, 60 * likes, likes=likes)
        wanted = [str(likes) for likes in range(11, 4, -1)]
        poll(
            lambda: visible_rows() == wanted, within=60, what="each change once, the newest on top"
        )
        page.get_by_role("button", name="Pause").click()
