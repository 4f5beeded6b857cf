"""Posts that appear out of order: the naive cursor loses some of them, and ours none below k.

Over 20,000 posts in three runs, one for each skew; LEAK_POSTS=60000 is as long as the bench.
"""

import os

import pytest

from tests.benchmarks.leaks.run import experiment
from tests.factories import CredentialFactory

POSTS = int(os.environ.get("LEAK_POSTS", "20100"))
SKEWS_S = (-5, 0, 5)
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(max(300, POSTS // 50)),
]


@pytest.mark.parametrize(
    "skew_s", [*(pytest.param(skew, marks=pytest.mark.more) for skew in (-5, 0)), 5]
)
def test_posts_less_than_k_late_are_never_lost_and_later_ones_are_counted_as_leaks(
    own_fakex, skew_s
):
    CredentialFactory(name="one")
    x = own_fakex(tweets=1_000)

    found = experiment(x.url, posts=POSTS // len(SKEWS_S), skew_s=skew_s)

    print("FOUND", found)
    assert sum(one.posts for one in found.outcomes) >= POSTS // len(SKEWS_S) - 2
    assert sum(one.naive_lost_below for one in found.outcomes) > 0, "it would spare anybody"
    assert sum(one.leaked for one in found.outcomes) > 0
    for one in found.outcomes:
        # Our own clock has no say: each poll knew when it had asked, by X's.
        assert one.polls_without_time == 0
        assert one.late > 0
        assert one.naive_lost > one.passed_by
        assert (one.leaked_below, one.lost) == (0, 0)
        assert one.passed_by == one.unpolled, "what polls never showed has leaked, and is told"
        assert one.beyond >= one.leaked == one.meter
        assert (one.not_leaks, one.untold) == (0, 0)
    # What is read again on the same day costs nothing.
    assert found.billed == found.booked == found.shown
