"""Rows that adapt, and money for a quarter: spent to the last tweet-day, and not one more."""

import pytest

from tests.flows.conftest import BEARER, wait_until

# So that pytest-django makes the database which fresh ones are copied from.
pytestmark = [pytest.mark.django_db, pytest.mark.alone, pytest.mark.more]

TWEETS, BUDGET = 1000, 250


@pytest.mark.parametrize("workers", [1, 16])
def test_a_quarter_of_the_money_is_spent_to_the_last_tweet_day(product, workers):
    x = product.x
    x.put("world", {"deleted": 0, "protected": 0, "suspended": 0})
    x.delete("projects")
    x.tell(
        "POST",
        "credentials",
        {"kind": "bearer", "bearer_token": BEARER, "project": "ours"},
    )
    product.give_credential()
    # A single row: no tweet leaves money to younger ones.
    product.call("interval", "set", "36500d=1s..5s@5%", "--yes")
    product.sql("UPDATE trackers_project SET posts_a_day = %s", BUDGET)
    ids = x.ids(TWEETS)
    product.track(ids)
    cluster = product.start_cluster(workers=workers)

    def billed():
        return list(x.get("totals")["billed"].get("ours", {}).values())

    wait_until(lambda: max(billed(), default=0) >= BUDGET, what="the money was spent")
    # What is paid for today is looked at again and again meanwhile; nothing else is.
    wait_until(lambda: product.recorded() > 4 * BUDGET, what="the paid ones were looked at again")
    assert product.stop(cluster) == 0

    # A day that ended meanwhile had a budget of its own.
    assert max(billed()) == BUDGET
    spent = product.sql("SELECT posts, posts_reserved FROM trackers_spending ORDER BY day")
    assert [posts + reserved for posts, reserved in spent] == billed()
    assert product.value("SELECT max(strikes) FROM trackers_tweetbucket") == 0
