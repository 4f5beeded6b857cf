from datetime import timedelta

import pytest

from trackers.tweets.gains import update


@pytest.fixture(autouse=True)
def _of_a_year_past(monkeypatch):
    # The database's clock decides what is stale, and these measurements are of a year past.
    monkeypatch.setattr(update, "DROP_AFTER", timedelta(days=10_000))
