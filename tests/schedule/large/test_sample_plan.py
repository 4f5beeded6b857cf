"""The sample of adapting tweets is found by the key, however many there are."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.large_tables import TWEETS, fill, fill_what_was_drained, reading
from trackers.schedule.adapt import Bounds
from trackers.schedule.intervals import Plan, Tier
from trackers.schedule.population import PLACES, TWEETS_A_PLACE, sample

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
PLAN = Plan((Tier(30 * DAY, DAY, bounds=Bounds(0.05, 60, 4 * 86400)),))


@pytest.mark.parametrize("filled", [fill, fill_what_was_drained])
def test_the_sample_scans_no_table(filled):
    filled(20_000)

    with reading() as read:
        found = sample(PLAN, now=datetime.now(UTC))

    assert found[0]
    assert read.walked[TWEETS] == 0
    assert 0 < read.found[TWEETS] <= PLACES * TWEETS_A_PLACE
