"""A line chart as the server draws it: plain data in, SVG out."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import PROJECT
from trackers.charts.drawing import COLOURS
from trackers.charts.line_chart import Band, Line, LineChart, NamedMark
from trackers.charts.scales import (
    Scale,
    age_ticks,
    bounds,
    count_ticks,
    shortened,
    time_ticks,
)
from tweetwatch import notation
from tweetwatch.notation import Notation

BEGIN = datetime(2026, 3, 14, 22, 10, tzinfo=UTC).timestamp()
HOUR = 3600.0
SVG = "{http://www.w3.org/2000/svg}"


def chart(values=(0, 100, None, 300, 400), **changed):
    xs = [BEGIN + HOUR * place for place in range(len(values))]
    return LineChart(
        **{
            "title": "Views of <b>",
            "about": "They rose & fell.",
            "x": "time",
            "lines": [Line("Views", "views", xs, values)],
            **changed,
        }
    )


def drawn(made):
    return ElementTree.fromstring(made.svg())


def words(root):
    return [element.text for element in root.iter(f"{SVG}text")]


@pytest.fixture
def in_kathmandu():
    notation.use(Notation(ZoneInfo("Asia/Kathmandu"), "dmy", 12))
    yield
    notation.use(Notation())


@pytest.mark.parametrize(
    ("low", "high", "is_log", "names"),
    [
        (0, 0, False, ["0", "1"]),
        (0, 3, False, ["0", "1", "2", "3"]),
        (12, 341_282, False, ["0", "100K", "200K", "300K", "400K"]),
        (-30, 100, False, ["-50", "0", "50", "100"]),
        (3, 41_000, True, ["1", "10", "100", "1K", "10K", "100K"]),
        (0, 0, True, ["1", "10"]),
    ],
)
def test_an_axis_of_counts_has_round_ends_and_names(low, high, is_log, names):
    ends = bounds(low, high, is_log=is_log)

    ticks = count_ticks(*ends, is_log=is_log)

    assert [name for _, name in ticks] == names
    assert ends == (ticks[0][0], ticks[-1][0])


@pytest.mark.parametrize(
    ("value", "name"), [(0, "0"), (999, "999"), (1500, "1.5K"), (2e6, "2M"), (1.25e9, "1.25B")]
)
def test_a_count_is_shortened(value, name):
    assert shortened(value) == name


def test_times_are_named_by_the_clock_of_the_reader(in_kathmandu):
    ticks = time_ticks(BEGIN, BEGIN + 6 * HOUR, 4)

    # 22:10 UTC is 3:55 in Kathmandu.
    assert [name for _, name in ticks] == ["4:00 AM\n15 Mar 2026", "6:00 AM", "8:00 AM"]


def test_days_begin_at_midnight_although_clocks_change():
    notation.use(Notation(ZoneInfo("Europe/Berlin")))
    begin = datetime(2026, 3, 27, tzinfo=UTC)

    ticks = time_ticks(begin.timestamp(), (begin + timedelta(days=4)).timestamp(), 4)
    notation.use(Notation())

    hours = [datetime.fromtimestamp(at, ZoneInfo("Europe/Berlin")).hour for at, _ in ticks]
    assert [name for _, name in ticks][:2] == ["2026-03-28", "2026-03-29"]
    assert hours == [0] * 4


def test_ages_are_named_in_the_units_in_which_they_are_thought():
    assert [name for _, name in age_ticks(60, 5)] == ["0 min", "15 min", "30 min", "45 min", "1 h"]
    assert [name for _, name in age_ticks(1440, 5)] == [
        "0 min",
        "6 h",
        "12 h",
        "18 h",
        "1 d 0 h"[:3],
    ]


def test_zero_lies_on_the_axis_of_a_log_scale():
    assert Scale(1, 1000, 0, 300, is_log=True).place(0) == 0
    assert Scale(1, 1000, 0, 300, is_log=True).place(10) == pytest.approx(100)


def test_a_picture_has_a_title_and_a_description_to_be_read_aloud():
    root = drawn(chart())

    assert root.get("role") == "img"
    assert root.get("aria-label") == "Views of <b>"
    assert root.find(f"{SVG}title").text == "Views of <b>"
    assert root.find(f"{SVG}desc").text == "They rose & fell."
    assert "Views 400" in words(root)
    assert "UTC" in words(root), "times have a zone"


def test_a_gap_breaks_the_line_and_a_lone_measurement_is_a_dot():
    [path] = [
        one.get("d")
        for one in drawn(chart((1, 2, None, 3, None, 4, 5))).iter(f"{SVG}path")
        if one.get("class") == "views-line" and one.get("stroke-linejoin")
    ]

    assert path.count("M") == 3
    assert path.count("h0") == 1


def test_bars_reach_from_one_value_to_the_next():
    root = drawn(chart((5, -3, None, 7, 7), has_bars=True))

    [bars] = [one for one in root.iter(f"{SVG}path") if one.get("class") == "views views-line"]
    assert bars.get("d").count("z") == 3
    assert "-" in "".join(filter(None, words(root))), "a fall has an axis below zero"


def test_names_of_marks_stand_below_one_another_and_give_way_to_numbers():
    marks = [NamedMark(BEGIN + 60 * place, place, "Reached 100 views") for place in range(1, 7)]

    root = drawn(chart(marks=[*marks, NamedMark(BEGIN - 1, 9, "Before")]))

    texts = [one for one in root.iter(f"{SVG}text") if one.get("font-size") == "11"]
    rows = [one.get("y") for one in texts]
    assert [one.text for one in texts][:4] == [f"{n} Reached 100 views" for n in range(1, 5)]
    assert len(set(rows[:4])) == 4
    assert not any("Before" in (one.text or "") for one in texts)


def test_a_band_and_its_middle_lie_within_the_axes():
    xs = [BEGIN, BEGIN + HOUR, BEGIN + 90 * HOUR]
    band = Band("usual", "views", xs, [1, 2, 3], [900, 950, 9000], [5, 6, 7])

    root = drawn(chart(bands=[band], span=(BEGIN, BEGIN + 4 * HOUR)))

    area = next(one for one in root.iter(f"{SVG}path") if one.get("fill-opacity") == ".16")
    assert area.get("d").count("L") == 3, "what lies outside is left out"
    assert "1K" in words(root), "the axis reaches to the band"


@pytest.mark.parametrize("values", [(), (None,), (5,), (0, 0)])
@pytest.mark.parametrize("x", ["time", "age"])
@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize("has_bars", [True, False])
def test_nothing_and_next_to_nothing_can_be_drawn(values, x, is_log, has_bars):
    made = replace(chart(values, is_log=is_log, has_bars=has_bars), x=x)

    for width in (320, 1600):
        svg = made.svg(width=width)
        assert "nan" not in svg
        ElementTree.fromstring(svg)


def test_a_file_is_light_everywhere_and_a_page_follows_the_system():
    assert "<style" not in chart().svg()
    assert "prefers-color-scheme" in chart().svg(follows_scheme=True)


def test_its_colours_are_those_of_the_pages():
    style = (PROJECT / "trackers/static/trackers/app.css").read_text()
    for scheme, colours in COLOURS.items():
        rules = re.search(rf'\[data-theme="{scheme}"\] {{(.*?)}}', style, re.DOTALL)[1]
        of_page = dict(re.findall(r"--(?:metric-)?(\w+): (#\w+);", rules))
        assert {name: of_page[name] for name in colours} == colours, scheme


@pytest.mark.parametrize("letter", ["\x0b", "\x01", "\ufffe"])
def test_a_name_with_what_xml_does_not_allow_is_drawn_without_it(letter):
    chart = LineChart(
        title=f"Me{letter}",
        about="",
        x="time",
        lines=[Line(f"a{letter}b", "views", [0, 60], [1, 2])],
    )

    svg = chart.svg()

    ElementTree.fromstring(svg)
    assert "ab" in svg
