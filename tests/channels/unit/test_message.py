"""Several alerts as one message, fitted to what a service takes."""

from hypothesis import given
from hypothesis import strategies as st

from trackers.channels.message import LINES_MOST, Line, Message, fitted, joined, one_line, utf16
from trackers.channels.shapes.discord import _DISCORD_CHARACTERS, _DISCORD_MARKUP


def message(rule, count, *, more=0):
    lines = tuple(Line(f"{rule} {n}", "https://watch.example/", rule) for n in range(count))
    return Message(rule, lines, more, "https://watch.example/alerts/log/")


def test_one_message_stays_as_it_is():
    assert joined([message("Fast", 2)]) == message("Fast", 2)


def test_a_storm_is_one_message_that_counts_what_it_leaves_out():
    merged = joined([message("Fast", 13)])

    assert len(merged.lines) == LINES_MOST
    assert merged.more == 3


def test_no_rule_hides_another():
    merged = joined([message("Loud", 20, more=80), message("Quiet", 1)])

    assert [line.rule for line in merged.lines][:3] == ["Loud", "Quiet", "Loud"]
    assert merged.title == "101 alerts"
    assert len(merged.lines) + merged.more == 101


def test_a_line_break_in_a_name_begins_no_line():
    assert one_line("a\nb\u2028c\x00", 80) == "a b c"


@given(st.lists(st.text(max_size=3000), min_size=1, max_size=LINES_MOST), st.text(max_size=500))
def test_any_text_fits_and_no_alert_is_lost(sentences, title):
    lines = tuple(Line(what, "https://watch.example/tweets/20/", title) for what in sentences)
    alerts = Message(title, lines, 5, "https://watch.example/alerts/log/")
    seen = []

    def write(fewer):
        seen.append(fewer)
        return _DISCORD_MARKUP.written(fewer)

    text = fitted(alerts, write, most=_DISCORD_CHARACTERS, size=utf16)

    assert utf16(text) <= _DISCORD_CHARACTERS
    assert len(seen[-1].lines) + seen[-1].more == len(sentences) + 5
