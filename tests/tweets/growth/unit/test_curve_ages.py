"""The ages at which curves are read: pure."""

from datetime import timedelta

import pytest

from trackers.tweets.growth.at_ages import ages

H = timedelta(hours=1)


@pytest.mark.parametrize("until", [timedelta(minutes=2), H, 7 * 24 * H])
@pytest.mark.parametrize("since", [timedelta(0), timedelta(minutes=90)])
def test_ages_rise_to_the_end_within_the_wanted_number(until, since):
    results = ages(until, count=48, since=since)

    assert results == sorted(set(results))
    assert len(results) <= 48
    assert all(age.microseconds == 0 for age in results)
    assert results[-1] == max(until, since)
