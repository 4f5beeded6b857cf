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

    results = experiment(x.url, posts=POSTS // len(SKEWS_S), skew_s=skew_s)

    print("FOUND", results)
    assert sum(one.posts for one in results.outcomes) >= POSTS // len(SKEWS_S) - 2
    assert sum(one.naive_lost_below for one in results.outcomes) > 0, "it would spare anybody"
    assert sum(one.leaked for one in results.outcomes) > 0
    for outcome in results.outcomes:
        # Our own clock has no say: each poll knew when it had asked, by X's.
        assert outcome.polls_without_time == 0
        assert outcome.late > 0
        assert outcome.naive_lost > outcome.passed_by
        assert (outcome.leaked_below, outcome.lost) == (0, 0)
        assert outcome.passed_by == outcome.unpolled, (
            "what polls never showed has leaked, and is told"
        )
        assert outcome.beyond >= outcome.leaked == outcome.meter
        assert (outcome.not_leaks, outcome.untold) == (0, 0)
    # What is read again on the same day costs nothing.
    assert results.billed == results.booked == results.shown
