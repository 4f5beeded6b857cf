"""Quiet hours: alerts wait for their end, by the person's own clock, and are not lost."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from tests.alerts.conftest import rule
from tests.alerts.mail_servers import Box, listening
from tests.channels.sending import channel, due, tell
from tests.pages.db.test_unread import pages_of, person
from trackers.alerts import mail, notice
from trackers.alerts.models import AlertMail
from trackers.channels.claim import claim_channels, settle
from trackers.channels.models import ChannelMessage, QuietHours
from trackers.channels.quiet_hours import is_quiet
from trackers.channels.shapes.shape import Reading
from trackers.outbox.findings import News, Observation
from trackers.tokens.models import TimeFormat
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db
PUBLIC = "https://watch.example"
BERLIN, NEPAL = "Europe/Berlin", "Asia/Kathmandu"


def quiet_at(zone, at, begins="22:00", ends="07:00"):
    begins, ends = time.fromisoformat(begins), time.fromisoformat(ends)
    return is_quiet(begins, ends, ZoneInfo(zone), now=datetime.fromisoformat(at))


@pytest.mark.parametrize(
    ("zone", "at", "expected"),
    [
        ("UTC", "2026-03-05T21:59:59Z", False),
        ("UTC", "2026-03-05T22:00:00Z", True),
        ("UTC", "2026-03-06T06:59:59Z", True),
        ("UTC", "2026-03-06T07:00:00Z", False),
        # 22:00 in Kathmandu, which is 5:45 ahead.
        (NEPAL, "2026-03-05T16:14:59Z", False),
        (NEPAL, "2026-03-05T16:15:00Z", True),
    ],
)
def test_hours_are_those_of_the_persons_clock(zone, at, expected):
    assert quiet_at(zone, at) is expected


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        # The night to 29 March has an hour less in Berlin: 2:00 is 3:00, at 1:00 UTC.
        ("2026-03-28T20:59:59Z", False), ("2026-03-28T21:00:00Z", True),
        ("2026-03-29T04:59:59Z", True), ("2026-03-29T05:00:00Z", False),
        # The night to 25 October has one more: 3:00 is 2:00, at 1:00 UTC.
        ("2026-10-24T19:59:59Z", False), ("2026-10-24T20:00:00Z", True),
        ("2026-10-25T05:59:59Z", True), ("2026-10-25T06:00:00Z", False),
    ],
)  # fmt: skip
def test_a_night_in_which_the_clock_is_changed_ends_when_the_clock_says_so(at, expected):
    assert quiet_at(BERLIN, at) is expected


@pytest.mark.parametrize(
    ("at", "begins", "ends", "expected"),
    [
        # Until 2:30, which is skipped: it ends where the clock jumps over it.
        ("2026-03-29T00:59:59Z", "22:00", "02:30", True),
        ("2026-03-29T01:00:00Z", "22:00", "02:30", False),
        # From 2:30, which is skipped: it begins there.
        ("2026-03-29T00:59:59Z", "02:30", "07:00", False),
        ("2026-03-29T01:00:00Z", "02:30", "07:00", True),
        # Until 2:30, which comes twice: what is between is quiet again.
        ("2026-10-25T00:29:59Z", "22:00", "02:30", True),
        ("2026-10-25T00:30:00Z", "22:00", "02:30", False),
        ("2026-10-25T01:00:00Z", "22:00", "02:30", True),
        ("2026-10-25T01:30:00Z", "22:00", "02:30", False),
    ],
)
def test_an_end_in_the_hour_that_is_skipped_or_comes_twice(at, begins, ends, expected):
    assert quiet_at(BERLIN, at, begins, ends) is expected


@pytest.fixture
def vera():
    user = person("vera")
    user.email = "vera@here.example"
    user.save()
    TimeFormat.objects.create(user=user, zone=NEPAL)
    return user


def quiet_now(user, *, after=timedelta(hours=-1), length=timedelta(hours=3)):
    """Quiet hours that began an hour ago, by the person's clock."""
    begins = (timezone.now() + after).astimezone(ZoneInfo(NEPAL))
    QuietHours.objects.update_or_create(
        user=user, defaults={"begins": begins.time(), "ends": (begins + length).time()}
    )


def over(user):
    quiet_now(user, after=timedelta(hours=5))


def alert(name, what="Tweet 1 gained 5,000 likes.", *, to="vera@here.example", **given):
    made = rule("trouble", name=name, **{"to": [to], **given})
    news = [News(Observation("tweet", "1", what, "", "/tweets/1/", rule=made.pk), "down")]
    return notice.add_notice(made, news, now=timezone.now())


def sent():
    box = Box()
    with listening(box) as server:
        outcome = mail.send(server, public_url=PUBLIC, deadline=Deadline.after(30))
    return outcome, box


def test_e_mails_wait_and_come_as_one_when_it_is_over(vera):
    quiet_now(vera)
    alert("First", "Tweet 1 gained 5,000 likes.")
    alert("Second", "Tweet 2 is gone.", to="Vera@Here.example")
    alert("Second again", "Tweet 3 is gone.")
    alert("Others", to="eve@there.example")

    outcome, box = sent()
    assert [one["To"] for one in box.got] == ["eve@there.example"]
    assert outcome.sent == 1
    assert not mail.waits()

    over(vera)
    assert mail.waits()
    outcome, box = sent()

    subjects = sorted(one["Subject"] for one in box.got)
    assert subjects == ["[tweetwatch] 2 alerts in your quiet hours", "[tweetwatch] Second"]
    [joined] = [
        text for one, text in zip(box.got, box.texts, strict=True) if "2 alerts" in one["Subject"]
    ]
    for said in ("First, ", "Tweet 1 gained 5,000 likes.", "Second again, ", "Tweet 3 is gone."):
        assert said in joined
    assert f"{PUBLIC}/tweets/1/" in joined
    assert outcome.sent == 3
    assert not AlertMail.objects.exclude(state="sent").exists()


def test_a_joined_e_mail_that_fails_is_tried_again_as_one(vera):
    quiet_now(vera)
    alert("First")
    alert("Second")
    over(vera)
    [first, second] = mail.claim_mails()
    assert mail.claim_mails() == [], "another process takes none of it meanwhile"
    assert {first.attempts, second.attempts} == {1}
    AlertMail.objects.update(next_at=timezone.now())

    assert [one.pk for one in mail.claim_mails()] == [first.pk, second.pk]


def test_an_e_mail_of_the_day_goes_by_itself(vera):
    alert("By day")
    alert("By day, too")
    outcome, box = sent()
    assert (outcome.sent, len(box.got)) == (2, 2)


def claimed():
    return claim_channels(9, timedelta(minutes=1), public_url=PUBLIC)


def test_own_channels_wait_and_everybodys_do_not(vera):
    quiet_now(vera)
    mine = channel("ntfy", "https://chat.example", "vera: phone", owner=vera)
    ours = channel("slack", "https://chat.example", "newsroom")
    tell(mine, ours)
    tell(mine)

    assert [one.id for one in claimed()] == [ours.pk]
    tell(mine, is_test=True)
    [test] = claimed()
    assert (test.id, test.is_test) == (mine.pk, True), "a person waits for its answer"
    settle(test, Reading())
    assert ChannelMessage.objects.filter(channel=mine, state="waiting").count() == 2
    due()
    assert mine.pk not in [one.id for one in claimed()]

    over(vera)
    due()
    [both] = [one for one in claimed() if one.id == mine.pk]
    settle(both, Reading())
    assert not ChannelMessage.objects.filter(channel=mine).exclude(state="sent").exists()
    assert both.upto == ChannelMessage.objects.filter(channel=mine, is_test=False).last().pk


def test_a_person_sets_and_ends_quiet_hours_on_a_page(vera):
    page = pages_of(vera)
    assert "Quiet hours" in page.get("/account/").content.decode()
    for wrong, why in (
        ({"begins": "22:00"}, "Enter both, or neither."),
        ({"begins": "22:00", "ends": "22:00"}, "Quiet hours last less than a day."),
        ({"begins": "22:00", "ends": "x"}, "Enter a valid time."),
    ):
        assert why in page.post("/account/quiet/", wrong).content.decode()
    assert not QuietHours.objects.exists()
    page.post("/account/quiet/", {"begins": "22:00", "ends": "07:30"})
    assert str(QuietHours.objects.get(user=vera)) == "22:00 to 07:30"
    assert "from 22:00 to 07:30" in page.get("/account/").content.decode()
    assert 'value="22:00"' in page.get("/account/quiet/").content.decode()
    page.post("/account/quiet/", {"begins": "", "ends": ""})
    assert not QuietHours.objects.exists()


def test_without_a_chosen_zone_the_clock_is_utc():
    user = User.objects.create_user("eve")
    assert QuietHours(user=user, begins=time(1), ends=time(2)).zone == UTC
