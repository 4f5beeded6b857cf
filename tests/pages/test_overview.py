"""The page at `/`, which the tweets had once."""

from __future__ import annotations

import pytest

from tests.pages.sources import some_staff

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/?q=moon+landing&state=resting", "/tweets/?q=moon+landing&state=resting"),
        ("/?source=7", "/tweets/?source=7"),
        ("/?before=12", "/tweets/?before=12"),
        ("/?after=12", "/tweets/?after=12"),
        ("/rows/", "/tweets/rows/"),
        ("/rows/?q=moon", "/tweets/rows/?q=moon"),
    ],
)
def test_old_addresses_of_the_tweets_lead_there(staff, old, new):
    answer = staff.get(old)
    assert (answer.status_code, answer.headers["Location"]) == (301, new)


def test_the_overview_is_at_the_top(client):
    page = some_staff(client, "view_tweet").get("/")
    assert page.status_code == 200
    assert "<h1>Overview</h1>" in page.content.decode()
