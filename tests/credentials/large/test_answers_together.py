"""Replies that are learned together leave what they would have left one after the other."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.credentials.db.test_windows import known, seen
from tests.x import save_credential
from trackers.credentials import learning, selection
from trackers.credentials.models import Credential, Window
from trackers.credentials.windows import Reservation
from trackers.money.balances import read_balances
from trackers.money.models import Project
from trackers.xapi.results import WindowSeen
from tweetwatch.database import together

pytestmark = pytest.mark.django_db

# Seconds from now, some on the edges of what decides: two seconds between resets are the same
# window, five between Dates are overtaking.
RESETS = st.sampled_from([-30, 300, 301, 302, 303, 305, 900])
DATES = st.sampled_from([-12, -7, -6, -2, -1, 0])
SENT = [-40.000002, -40.000001, -40, -15.000001, -15, -3]
rows = st.fixed_dictionaries(
    {
        "limit": st.just(300),
        "remaining": st.integers(0, 9),
        "resets_at": RESETS,
        "seen_at": DATES,
        "learned_at": st.sampled_from([-50, -20, -10]),
        "lost": st.sampled_from([[], [-200], [-30], [-200, -30]]),
        "limited": st.sampled_from([0, 2]),
        "refused": st.sampled_from([0, 2]),
        "rejected_at": st.none() | st.sampled_from([-30, -5]),
    }
)
UNKNOWN = {
    "limit": None, "remaining": None, "resets_at": None, "seen_at": None, "learned_at": None,
    "lost": [], "limited": 0, "refused": 0, "rejected_at": None,
}  # fmt: skip
told = st.tuples(st.sampled_from([300, 450]), RESETS, DATES)
# Of two things that they may have told, so that some told the same but for what remains.
said = st.lists(
    st.none() | st.tuples(st.sampled_from([0, 1]), st.integers(0, 9)), min_size=2, max_size=3
)
TIMES = ("resets_at", "seen_at", "learned_at", "rejected_at", "cooldown_until")


class OneWindow:
    """A window whose row is set as if its time had begun now, so often as one likes."""

    def __init__(self):
        if not Window.objects.exists():
            known("a", 9)
        self.pk = Window.objects.get().pk
        self.begins = datetime.now(UTC).replace(microsecond=0)

    def at(self, seconds):
        return None if seconds is None else self.begins + timedelta(seconds=seconds)

    def set(self, row, sent):
        """The row as it is told, with requests under way that were sent then, and another one."""
        values = {name: self.at(value) if name in TIMES else value for name, value in row.items()}
        values["lost"] = [self.at(one) for one in row["lost"]]
        values["under_way"] = [self.at(one) for one in sorted([*sent, -1])]
        Window.objects.filter(pk=self.pk).update(**values)

    def reply(self, sent, seen):
        reservation = Reservation(self.pk, self.at(sent))
        if seen is None:
            return reservation, None
        (limit, resets, date), remaining = seen
        return reservation, WindowSeen(
            "GET /2/tweets", limit, remaining, self.at(resets), self.at(date)
        )

    def read(self):
        """The row, but for when exactly it was learned, which is when it was settled."""
        [row] = Window.objects.filter(pk=self.pk).values()
        row["learned_at"] = row["learned_at"] and min(row["learned_at"], self.begins)
        return {**row, "lost": sorted(row["lost"])}


def room(row):
    """What is left of the window that the row tells of."""
    return (row["remaining"] or 0) - len(row["under_way"]) - len(row["lost"])


@settings(max_examples=40)
@given(rows | st.just(UNKNOWN), st.tuples(told, told), said, st.permutations(SENT), st.booleans())
def test_settling_answers_together_equals_settling_in_some_order(
    row, kinds, sentence, sent, answered
):
    window = OneWindow()
    sent = sent[: len(sentence)]
    replies = [
        window.reply(at, seen and (kinds[seen[0]], seen[1]))
        for at, seen in zip(sent, sentence, strict=True)
    ]
    ways = []
    for order in permutations(replies):
        window.set(row, sent)
        for reply in order:
            learning.settle_all([reply], answered=answered)
        ways.append(window.read())

    window.set(row, sent)
    learning.settle_all(replies, answered=answered)

    assert window.read() in ways
    if len({seen and seen[0] for seen in sentence}) == 1:
        # All told the same: of those that are believed, the lowest count.
        assert room(window.read()) == min(map(room, ways))


def test_an_answer_without_a_date_is_learned():
    """What it tells of X's clock is what was known of it."""
    window = OneWindow()
    row = {**UNKNOWN, "limit": 300, "remaining": 9, "resets_at": 300, "seen_at": -20}
    window.set({**row, "learned_at": -10}, SENT[:2])
    kind = (300, 400, None)

    learning.settle_all(
        [window.reply(SENT[0], (kind, 7)), window.reply(SENT[1], (kind, 5))], answered=True
    )

    row = Window.objects.get()
    assert (row.remaining, row.resets_at, row.under_way) == (5, window.at(400), [window.at(-1)])
    assert row.seen_at - row.learned_at == timedelta(seconds=-10)


def test_answers_of_several_windows_are_learned_in_one_round_trip():
    known("a", 9)
    known("b", 9)
    taken = selection.select_several(14)

    with together():
        selection.settle_all_answered(
            [(turn, seen(remaining=8 - i // 2)) for i, turn in enumerate(taken)]
        )

    assert [(w.remaining, w.under_way) for w in Window.objects.order_by("pk")] == [(4, []), (2, [])]


def test_the_clock_of_x_is_that_of_its_last_reply():
    """The project's day goes by the window that was learned last."""
    credentials = [save_credential(name, app=name, project="p") for name in ("a", "b")]
    first, second = (selection.select_credential(only=one.pk) for one in credentials)

    selection.settle_all_answered(
        [(second, seen(5, clock=3600 + 20)), (first, seen(5, clock=3600))]
    )

    [balance] = read_balances()
    assert balance.ahead > timedelta(seconds=3600 + 15)


def test_answers_end_refusals_of_all_credentials_and_depletion_of_all_projects():
    both = [known(name, 1).pk for name in ("a", "b")]
    Credential.objects.update(refused=2)
    Project.objects.update(depletions=3)
    taken = [selection.select_credential(only=one) for one in both]

    selection.settle_all_answered([(turn, seen(5)) for turn in taken])

    assert {*Credential.objects.values_list("refused", flat=True)} == {0}
    assert {*Project.objects.values_list("depletions", flat=True)} == {0}
