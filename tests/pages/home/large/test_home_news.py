"""What is told to be new is what was committed since: so nothing here is in one transaction."""

from urllib.parse import urlencode

import pytest

from tests.pages.home.homes import asked, bring, clock_of, followed, row_ids, tweet
from tests.pages.sources import words

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_bar_counts_new_and_late_tweets(staff):
    made = followed(tweet(5))
    page = staff.get("/home/")
    bring(made, tweet(6), tweet(7), tweet(2))

    told = staff.get(f"/home/?part=now&{asked(page)}").content.decode()

    assert words(told) == "3 new , 1 of them late"
    assert row_ids(staff.get("/home/")) == [tweet(7), tweet(6), tweet(5), tweet(2)]


def test_the_bar_brings_new_rows_and_marks_late_ones(staff):
    made = followed(tweet(5))
    page = staff.get("/home/")
    bring(made, tweet(6), tweet(2))

    new = staff.get(f"/home/?part=new&{asked(page)}")
    again = staff.get(f"/home/?part=now&{urlencode({'clock': clock_of(new), 'top': tweet(6)})}")

    assert row_ids(new) == [tweet(6), tweet(2)]
    assert new.content.decode().count("badge late") == 1
    assert words(again.content.decode()) == ""


def test_very_many_new_tweets_reload_the_home(staff):
    made = followed(tweet(1))
    page = staff.get("/home/")
    bring(made, *(tweet(2, n) for n in range(101)))

    text = staff.get(f"/home/?part=now&{asked(page)}").content.decode()
    new = staff.get(f"/home/?part=new&{asked(page)}")

    assert "101" in text
    assert "hx-get" not in text
    assert new.headers["HX-Redirect"] == "/home/"
