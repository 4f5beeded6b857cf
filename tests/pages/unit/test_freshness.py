"""How everything is, in the words of the overview and of the menu."""

import pytest

from trackers.dashboards.freshness import headline


@pytest.mark.parametrize(
    ("given", "mood", "brief"),
    [
        ({"scheduled": 0}, "", "nothing to check"),
        ({}, "good", "fresh"),
        ({"overdue": 29.0, "due": 9}, "good", "fresh"),
        ({"overdue": 31.0}, "warn", "31 s late"),
        ({"overdue": 720.0}, "bad", "12 min late"),
        ({"idle": "no worker is running"}, "warn", "no worker is running"),
        # What is late already says more.
        ({"idle": "no worker is running", "overdue": 720.0}, "bad", "12 min late"),
        ({"waiting": 3}, "warn", "short of money"),
        ({"waiting": 3, "overdue": 31.0}, "warn", "31 s late"),
    ],
)
def test_the_mood_and_the_words_of_the_menu(given, mood, brief):
    of = headline(**{"scheduled": 5, "due": 0, "overdue": 0.0, **given})

    assert (of.mood, of.brief) == (mood, brief)
