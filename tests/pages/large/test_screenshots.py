"""`make screenshots` finds the pages by itself: by their links, and in the URL conf."""

from types import SimpleNamespace

import pytest

from tests.api.conftest import end
from tests.pages.conftest import measure, watched
from tests.pages.sources import source
from tests.screenshots.pages import find_pages

pytestmark = pytest.mark.django_db
HERE = "http://testserver"


class Requests:
    """Playwright's requests, answered by the test client."""

    def __init__(self, client):
        self.client = client

    def get(self, url):
        reply = self.client.get(url.removeprefix(HERE), follow=True)
        last = reply.redirect_chain[-1][0] if reply.redirect_chain else url
        body = b"".join(reply)
        end(reply)
        return SimpleNamespace(
            ok=reply.status_code < 400,
            url=last,
            headers={"content-type": reply["Content-Type"]},
            text=lambda: body.decode(),
        )


def test_every_kind_of_page_is_found_once_without_its_parts(staff):
    tweet = watched()
    measure(tweet, 0, likes=1)
    there = source("account", "nasa", due_in=60)

    pages = find_pages(Requests(staff), HERE)

    wanted = {
        *("overview", "tweets", "home", "columns", "live", "following", "feeds", "sources"),
        *("import-file", "operations", "subscribers", "subscriber-add", "account", "admin"),
    }
    assert wanted <= set(pages)
    assert pages["tweet"] == f"/tweets/{tweet.pk}/"
    assert pages["source"] == f"/sources/{there.pk}/"
    assert not {"tweet-rows", "operations-now", "account_logout", "metrics", "answers"} & set(pages)


def test_a_preferred_page_represents_its_kind(staff):
    newer, older = watched(2), watched(1)

    pages = find_pages(Requests(staff), HERE, first=[f"/tweets/{older.pk}/"])

    assert pages["tweet"] == f"/tweets/{older.pk}/" != f"/tweets/{newer.pk}/"
