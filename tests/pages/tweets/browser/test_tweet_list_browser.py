"""The page of tweets in a browser: with its script, by keys alone, and without any script."""

import pytest

from tests.pages.conftest import measure, watched
from tests.pages.looking import looking
from trackers.tweets.models import Tweet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def two():
    low, high = watched(1, text="low"), watched(2, text="high", author_id=8)
    measure(high, 60, likes=5)
    measure(low, 60, likes=30)
    return low.pk, high.pk


def test_orders_filters_and_columns_are_chosen_and_saved_as_a_view(staff, live_server, two):
    low, high = two
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/")
        seen.follow("th >> text=Likes")
        page.wait_for_selector(f"#rows tr:first-child#row-{low}")
        # By keys: open the filters, and write into one.
        page.locator("details.filters summary").first.focus()
        page.keyboard.press("Enter")
        page.locator("input[name=min_likes]").focus()
        page.keyboard.type("10")
        page.keyboard.press("Tab")
        page.wait_for_selector(f"#row-{high}", state="detached")
        page.uncheck("input[name=columns][value=curve]")
        page.wait_for_selector("td.curve", state="detached")
        assert page.url.split("?")[1].startswith("min_likes=10&sort=likes&columns=score%2Cviews")
        page.fill("#view-name", "More than ten")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.wait_for_selector(".saved a[aria-current]")
        assert page.locator("#rows tr").count() == 1


def test_an_overdue_check_is_shown_in_the_past_with_scripts_too(staff, live_server):
    # Half an hour until it would be six.
    tweet = watched(due_in=-5.5 * 3600)
    with looking(staff, live_server) as seen:
        for address in ("/tweets/", f"/tweets/{tweet.pk}/"):
            seen.page.goto(f"{seen.address}{address}")
            assert "due 5 h" in seen.page.inner_text(".next"), address


def test_rows_are_ticked_by_keys_keep_their_ticks_and_are_compared(staff, live_server, two):
    low, high = two
    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/")
        page.wait_for_selector("[data-ticked]:not([hidden])")
        page.keyboard.press("j")
        page.keyboard.press("x")
        page.locator(f"#row-{low} .tick input").focus()
        page.keyboard.press("Space")
        assert page.locator("[data-ticked]").inner_text() == "2 ticked"
        # A row that was measured meanwhile is morphed.
        measure(Tweet.objects.get(pk=high), 90, likes=77)
        page.wait_for_selector(f'#row-{high} data[value="77"]')
        assert page.locator(".tick input:checked").count() == 2
        page.get_by_role("button", name="Compare ticked").focus()
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/compare/?ids={high}&ids={low}")
        assert page.locator("tr[data-place]").count() == 2


def test_without_scripts_rows_are_ticked_compared_and_tagged(staff, live_server, two):
    low, _ = two
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/")
        page.check(f"#row-{low} .tick input")
        seen.follow("role=button[name='Compare ticked']")
        assert "There is nothing to compare this tweet with" in page.locator(".notice").inner_text()
        page.go_back()
        page.check(f"#row-{low} .tick input")
        seen.follow("button:has-text('Tag or change ticked')")
        assert page.locator("h1").inner_text() == "1 tweet ticked"
        page.fill("#tag", "launch")
        seen.follow("role=button[name='Add the tag']")
        assert f"Tweet {low} tagged “launch”." in page.locator("main").inner_text()
        page.goto(f"{seen.address}/tweets/?tag=launch")
        assert page.locator("#rows tr").count() == 1


def test_without_scripts_buttons_do_the_same(staff, live_server, two):
    _, high = two
    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{seen.address}/tweets/?sort=likes")
        page.locator("details.filters summary").first.click()
        page.fill("input[name=author]", "8")
        seen.follow("role=button[name='Show']")
        assert page.locator("#rows tr").count() == 1
        assert page.locator(f"#row-{high}").count() == 1
        seen.follow("role=link[name='Likes']")
        assert "order=up" in page.url
        page.locator("#track summary").click()
        page.fill("#track textarea", "1834567890123456789")
        seen.follow("role=button[name='Track']")
        assert "1 tweet is now tracked." in page.locator("main").inner_text()


def test_the_search_box_alone_is_outlined_when_it_has_the_focus(staff, live_server, two):
    with looking(staff, live_server) as seen:
        page = seen.page
        for address, box in (("/tweets/", "#q"), ("/help/", "#help-search")):
            page.goto(f"{seen.address}{address}")
            page.locator(box).focus()
            around = page.locator(f".search:has({box})")
            assert around.evaluate("one => getComputedStyle(one).boxShadow") == "none", address
            radii = page.locator(".search > :is(input:not([type=hidden]), select)").evaluate_all(
                "all => all.map(one => getComputedStyle(one).borderRadius)"
            )
            assert set(radii) == {"9px"}, address
