"""Where a curve does what curves seldom do: a table of cases."""

from datetime import UTC, datetime, timedelta

import pytest

from trackers.tweets.anomalies import AnomalyKind, anomalies
from trackers.tweets.history import Run

BORN = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
WAVE, STOP, FELL = AnomalyKind.SECOND_WAVE, AnomalyKind.SUDDEN_STOP, AnomalyKind.FELL


def run(hours, *, views=None, likes=0, until=None):
    at = BORN + hours * HOUR
    end = at if until is None else BORN + until * HOUR
    return Run(1, at, end, 1, 0, 0, likes, 0, 0, views)


def growing(*gains, every=1.0):
    """Measured each hour; so many views more each time."""
    views, runs = 0, [run(0, views=0)]
    for place, gain in enumerate(gains, 1):
        views += gain
        runs.append(run(every * place, views=views))
    return runs


@pytest.mark.parametrize(
    ("runs", "holes", "expected"),
    [
        pytest.param([], (), [], id="nothing"),
        pytest.param([run(0, views=5)], (), [], id="one measurement"),
        pytest.param(growing(1000, 400, 200, 150), (), [], id="it calms down"),
        pytest.param(
            growing(1000, 400, 90, 900), (), [(WAVE, 3, 90, 900)], id="ten times as much again"
        ),
        pytest.param(
            growing(1000, 400, 100, 300), (), [(WAVE, 3, 100, 300)], id="exactly a tenth, thrice"
        ),
        pytest.param(growing(1000, 400, 101, 900), (), [], id="it had not fallen to a tenth"),
        pytest.param(growing(1000, 400, 90, 260), (), [], id="not three times as much"),
        pytest.param(growing(900, 400, 30, 95), (), [], id="less than the minimum"),
        pytest.param(growing(90, 30, 9, 90), (), [], id="a best hour below the minimum"),
        pytest.param(
            growing(1000, 300, 50, 900, 300, 80, 700),
            (),
            [(WAVE, 3, 50, 900), (WAVE, 6, 80, 700)],
            id="two waves",
        ),
        pytest.param(
            growing(1000, 300, 50, 900, 2700, 2000), (), [(WAVE, 3, 50, 900)], id="one wave, once"
        ),
        pytest.param(growing(1000, 400, 90, 900), (4,), [], id="nobody measured when it came"),
        pytest.param(
            growing(1000, 100), (), [(STOP, 1, 1000, 100)], id="exactly a tenth of the hour before"
        ),
        pytest.param(growing(1000, 101), (), [], id="more than a tenth"),
        pytest.param(growing(990, 9), (), [], id="too little to stop"),
        pytest.param(growing(1000, 0), (2,), [], id="nobody measured whether it stopped"),
        pytest.param(
            [run(0, views=0), run(1, views=2000, until=3)],
            (),
            [(STOP, 1, 2000, 0)],
            id="measured unchanged",
        ),
        pytest.param(
            growing(500, 500, 200, 200, 45, 45, 450, 450, every=0.5),
            (),
            [(WAVE, 3, 90, 900)],
            id="measured every half an hour",
        ),
        pytest.param(
            [run(0, likes=100, views=1), run(0.5, likes=90, views=1)],
            (),
            [(FELL, 0.5, 100, 90)],
            id="likes fell by a tenth",
        ),
        pytest.param([run(0, likes=100), run(1, likes=91)], (), [], id="by less than a tenth"),
        pytest.param([run(0, likes=20), run(1, likes=11)], (), [], id="by less than ten"),
        pytest.param([run(0, likes=50), run(1, views=9, likes=50)], (), [], id="views came later"),
        pytest.param(
            [run(0), run(1, likes=200), run(2, likes=220), run(3, likes=222), run(4, likes=300)],
            (),
            [(STOP, 1, 200, 20), (WAVE, 3, 2, 78)],
            id="by likes, where views are not known",
        ),
    ],
)
def test_anomalies_differ_from_usual_growth(runs, holes, expected):
    found = anomalies(runs, frozenset(holes))

    assert [(one.kind, (one.at - BORN) / HOUR, one.before, one.after) for one in found] == expected


def test_a_year_of_measurements_takes_no_longer_than_its_length():
    runs = [run(place / 4, views=place) for place in range(4 * 24 * 365)]

    assert anomalies(runs, frozenset()) == []
