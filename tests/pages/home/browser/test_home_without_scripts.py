"""Home in a browser without JavaScript: links page on, forms follow, a reload shows the new."""

import pytest
from django.contrib.auth.models import User

from tests.pages.home.homes import bring, source, tweet
from tests.pages.looking import looking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IDS = "rows => rows.map(row => Number(BigInt(row.dataset.id) >> 22n))"


def test_a_home_and_its_followed_sources_work_without_scripts(staff, live_server):
    made = source("nasa")
    there = [tweet(1, n) for n in range(60)]
    bring(made, *there)

    with looking(staff, live_server, java_script_enabled=False) as seen:
        page = seen.page

        def visible_rows():
            return page.locator("tr[data-id]").evaluate_all(IDS)

        page.goto(f"{seen.address}/home/")
        assert page.locator("[data-live], [data-theme-button]").all_inner_texts()
        assert not page.locator("[data-live]").is_visible(), "it does nothing without scripts"
        seen.follow("text=Choose sources to follow")
        seen.follow("button.follow")
        assert "from now on" in page.inner_text(".notice")

        seen.follow("nav >> text=Home")
        pages = [visible_rows()]
        while page.locator("a[rel=next]").count():
            seen.follow("a[rel=next]")
            pages.append(visible_rows())
        assert [id for ids in pages for id in ids] == [id >> 22 for id in there[::-1]]
        seen.follow("a[rel=prev]")
        assert visible_rows() == pages[0]

        seen.follow("nav >> text=Home")
        bring(made, tweet(2))
        assert visible_rows()[0] != tweet(2) >> 22
        page.reload()
        assert visible_rows()[0] == tweet(2) >> 22

        seen.follow("nav >> text=Following")
        seen.follow("button.unfollow")
        seen.follow("nav >> text=Home")
        assert "You do not follow anything yet" in page.inner_text(".empty")
    assert User.objects.get().follower.follows.count() == 0
