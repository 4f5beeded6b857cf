"""What is said of posts, from plain ones."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from trackers.scores.read import Scored
from trackers.sets.figures import (
    best,
    best_times,
    distribution,
    heat_map,
    parts,
    rate_of_all,
    share_of,
    summary,
    worst,
)
from trackers.sets.periods import TimeSpan
from trackers.sets.posts import Post
from trackers.xapi.results import Figures

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)
EVER = TimeSpan(MONDAY - timedelta(days=400), MONDAY + timedelta(days=400))
HOUR = timedelta(hours=1)
UTC_ZONE = ZoneInfo("UTC")


def post(views=None, *, at=MONDAY, score=None, number=1, kind=6, **counts):
    figures = None
    if views is not None or counts:
        figures = Figures(**{**dict.fromkeys(Figures._fields, 0), "views": views, **counts})
    scored = Scored("views", views, 100.0, 12, None, score)
    return Post(number, at, 7, kind, "en", figures, scored)


def test_younger_posts_are_counted_and_their_figures_wait():
    posts = [post(100), post(300), post(None), post(9_999, at=MONDAY + 3 * HOUR)]

    made = summary(posts, TimeSpan(MONDAY - HOUR, MONDAY + HOUR), "views")

    assert (made.posts, made.old_enough, made.measured) == (4, 3, 2)
    assert made.total["views"] == 400
    assert made.median["views"] == 200


def test_an_unknown_metric_is_not_zero():
    made = summary([post(None, likes=3)], EVER, "views")

    assert (made.total["views"], made.median["views"], made.rate) == (None, None, None)
    assert made.total["likes"] == 3


@pytest.mark.parametrize(
    ("posts", "rate"),
    [
        ([post(99, likes=9)], None),
        ([post(100, likes=3)], 0.03),
        ([post(900, likes=9), post(100, retweets=1, replies=2, quotes=3, bookmarks=5)], 0.02),
        # Of a post without views nothing is known.
        ([post(1000, likes=10), post(None, likes=500)], 0.01),
        ([post(1000, likes=10), post(5000, likes=10, bookmarks=None)], 0.01),
        ([], None),
    ],
)
def test_an_rate_of_all_is_of_all_posts_together(posts, rate):
    assert rate_of_all(posts) == rate


def test_the_share_above_usual_is_of_those_with_a_score():
    scores = [2, 5.5, 1.9, -3, 1]
    posts = [post(1, score=score) for score in (*scores, None, None)]

    made = summary(posts, EVER, "views")

    assert (made.scored, made.above) == (5, 0.4)
    assert summary(posts[:4], EVER, "views").above is None


def test_best_and_worst_are_far_from_usual():
    scores = {1: 3.0, 2: 12.0, 3: -2.0, 4: 1.1, 5: -9.0, 6: None, 7: 2.0}
    posts = [post(5, number=number, score=score) for number, score in scores.items()]

    assert [one.id for one in best(posts, "views")] == [2, 1, 7]
    assert [one.id for one in worst(posts)] == [5, 3]


def test_without_scores_the_best_have_the_highest_counts():
    posts = [post(count, number=count) for count in (3, 9, 1)]

    assert [one.id for one in best(posts, "views")] == [9, 3, 1]
    assert worst(posts) == []


def test_a_distribution_has_two_classes_to_a_power_of_ten():
    made = distribution([post(views) for views in (12, 29, 30, 950, 1000, 2999)], "views")

    assert [(one.low, one.high, one.posts) for one in made] == [
        (10, 30, 2), (30, 100, 1), (100, 300, 0), (300, 1000, 1), (1000, 3000, 2),
    ]  # fmt: skip
    assert distribution([post(None)], "views") == []
    assert [one.posts for one in distribution([post(0)], "views")] == [1]


def test_a_part_has_its_own_figures_and_the_largest_is_first():
    young = MONDAY + 3 * HOUR
    posts = [post(100, kind=4), post(300, kind=4), post(50, kind=6), post(7, kind=4, at=young)]
    posts.append(post(1, kind=None))

    photos, texts = parts(
        posts, TimeSpan(MONDAY, MONDAY + HOUR), "views", lambda one: one.kind, most=9
    )

    assert (photos.key, photos.posts, photos.measured, photos.median) == (4, 3, 2, 200)
    assert (texts.key, texts.posts, texts.median) == (6, 1, 50)


def test_a_heat_map_is_by_the_clock_of_the_zone_and_says_nothing_of_four():
    """18:20 UTC on a Monday is five minutes past midnight of Tuesday in Kathmandu."""
    zone = ZoneInfo("Asia/Kathmandu")
    evening = MONDAY.replace(hour=18, minute=20)
    posts = [post(views, at=evening) for views in (10, 20, 30, 40, 500)]
    posts += [post(9_000, at=MONDAY)] * 4 + [post(None, at=MONDAY)]

    heat = heat_map(posts, zone, "views")

    assert (heat.posts[1][0], heat.medians[1][0]) == (5, 30)
    assert (heat.posts[0][17], heat.medians[0][17]) == (4, None)
    assert heat.measured == 9
    every_day, tuesday = best_times(heat, posts, zone, "views")
    assert (every_day.weekday, every_day.hour, every_day.posts) == (None, 0, 5)
    assert (tuesday.weekday, tuesday.hour, tuesday.median) == (1, 0, 30)
    assert tuesday.factor == 30 / 500


def test_the_hour_that_a_clock_has_twice_is_one_cell():
    zone = ZoneInfo("Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    posts = [post(1, at=first)] * 3 + [post(3, at=first + HOUR)] * 2

    assert heat_map(posts, zone, "views").posts[6][2] == 5


@pytest.mark.parametrize(
    ("now", "before", "change"),
    [(138, 100, 0.38), (50, 100, -0.5), (5, 0, None), (None, 5, None), (5, None, None), (0, 5, -1)],
)
def test_a_change_is_a_share_of_what_was(now, before, change):
    assert share_of(now, before) == (None if change is None else pytest.approx(change))
