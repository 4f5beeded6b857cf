"""E-mails reach a real server, or say why not; none is lost, and none is sent twice needlessly."""

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from tests.alerts.conftest import rule
from tests.alerts.mail_servers import Box, free_port, hanging, listening, server
from trackers import tasks
from trackers.alerts import mail, notice
from trackers.alerts.models import AlertMail, AlertNotice
from trackers.outbox.findings import News, Observation
from trackers.tokens.models import TimeFormat
from tweetwatch.pieces import Deadline

PUBLIC = "https://watch.example"


def raised(*to, what="It broke.", state="down", name="Rocket"):
    made = rule("trouble", name=name, to=list(to or ["ada@here.example"]))
    look = Observation("queue", "x", what, "It works again.", "/operations/", rule=made.pk)
    notice.add_notice(made, [News(look, state)], now=timezone.now())
    return made


def send(to, seconds=30):
    sent = mail.send(to, public_url=PUBLIC, deadline=Deadline.after(seconds))
    return sent.sent, sent.later, sent.given_up


def rows():
    return [(one.state, one.attempts, one.error) for one in AlertMail.objects.all()]


def again():
    """As if the wait were over."""
    AlertMail.objects.update(next_at=timezone.now())


def test_an_e_mail_says_what_happened_why_it_came_and_where_to_look():
    made, box = raised("ada@here.example", "bob@here.example"), Box()
    with listening(box) as smtp:
        assert send(smtp) == (2, 0, 0)
        assert send(smtp) == (0, 0, 0)

    first, second = box.got
    assert (first["To"], second["To"]) == ("ada@here.example", "bob@here.example")
    assert first["Subject"] == "[tweetwatch] Rocket"
    assert first["From"] == "tweetwatch@here.example"
    assert first["Auto-Submitted"] == "auto-generated"
    assert first["Message-ID"] != second["Message-ID"]
    text = box.texts[0]
    assert text.startswith("It broke.\nhttps://watch.example/operations/\n")
    assert f"Change it: https://watch.example/alerts/{made.pk}/" in text
    assert [state for state, _, _ in rows()] == ["sent", "sent"]


def test_an_e_mail_has_the_time_of_its_reader():
    nepal = User.objects.create_user("ada", "Ada@here.example")
    TimeFormat.objects.create(user=nepal, zone="Asia/Kathmandu", dates="dmy", hours=12)
    gone = User.objects.create_user("eve", "eve@here.example", is_active=False)
    TimeFormat.objects.create(user=gone, zone="America/St_Johns")
    User.objects.create_user("bob", "bob@here.example")
    addresses = [f"{name}@here.example" for name in ("ada", "bob", "eve", "ops")]
    raised(*addresses)
    AlertNotice.objects.update(at=datetime(2026, 3, 14, 18, 30, tzinfo=UTC))
    box = Box()
    with listening(box) as smtp:
        send(smtp)

    told = {mail["To"]: text for mail, text in zip(box.got, box.texts, strict=True)}
    assert "Raised at 15 Mar 2026 12:15 AM UTC+5:45." in told["ada@here.example"]
    for other in addresses[1:]:
        assert "Raised at 2026-03-14 18:30 UTC." in told[other]


def test_the_subject_says_when_an_alert_has_ended():
    raised(state="back")
    with listening(Box()) as smtp:
        box = Box()
    with listening(box) as smtp:
        send(smtp)

    assert box.got[0]["Subject"] == "[tweetwatch] Rocket: over"
    assert box.texts[0].startswith("Over: It works again.")


def test_a_name_with_line_breaks_cannot_add_mail_headers():
    raised(name="Rocket\r\nBcc: eve@there.example")
    box = Box()
    with listening(box) as smtp:
        send(smtp)

    assert box.got[0]["Bcc"] is None
    assert box.got[0]["Subject"] == "[tweetwatch] Rocket Bcc: eve@there.example"


def away():
    return server(free_port())


@contextmanager
def nobody():
    yield away()


@pytest.mark.parametrize(
    ("there", "why"),
    [
        (nobody, "Nothing listens at 127.0.0.1:"),
        (hanging, "did not answer in time. The e-mail will be retried."),
        (
            lambda: listening(Box(mail="451 busy")),
            "refuses the sender tweetwatch@here.example: 451",
        ),
        (lambda: listening(Box(rcpt="450 later")), "refuses the address: 450 later."),
        (lambda: listening(Box(data="452 full")), "rejects the e-mail: 452 full."),
        (lambda: listening(Box(), password="x"), "refuses the sender"),
    ],
    ids=["away", "hangs", "busy", "greylisted", "full", "login wanted"],
)
def test_a_failed_e_mail_is_retried_and_arrives(there, why):
    raised()
    with there() as smtp:
        assert send(smtp) == (0, 1, 0)
        assert send(smtp) == (0, 0, 0)
    [(state, attempts, error)] = rows()
    assert (state, attempts) == ("waiting", 1)
    assert why in error
    [waits] = AlertMail.objects.all()
    assert timedelta(0) < waits.next_at - timezone.now() <= mail.FIRST_WAIT

    again()
    box = Box()
    with listening(box) as smtp:
        assert send(smtp) == (1, 0, 0)
    assert len(box.got) == 1
    assert rows() == [("sent", 2, "")]


def test_a_refused_address_is_given_up_at_once_and_others_are_served():
    raised("nobody@here.example")
    raised("ada@here.example")

    class Picky(Box):
        async def handle_RCPT(self, server, session, envelope, address, options):
            self.rcpt = "550 no such user" if address.startswith("nobody") else ""
            return await super().handle_RCPT(server, session, envelope, address, options)

    with listening(Picky()) as smtp:
        assert send(smtp) == (1, 0, 1)

    [(state, _, error), (other, _, _)] = rows()
    assert (state, other) == ("given_up", "sent")
    assert error == (
        "The mail server refuses the address: 550 no such user. Correct it in the rule, or in the "
        "account."
    )


def test_an_unreachable_server_is_tried_once_a_run_and_all_e_mails_wait():
    for _ in range(3):
        raised()

    assert send(away()) == (0, 1, 0)
    assert sorted(attempts for _, attempts, _ in rows()) == [0, 0, 1]


def test_an_e_mail_is_given_up_after_a_day_with_the_last_reason():
    raised()
    AlertMail.objects.update(made_at=timezone.now() - timedelta(days=1, seconds=1))

    assert send(away()) == (0, 0, 1)
    [(state, _, error)] = rows()
    assert state == "given_up"
    assert error.startswith("Given up after a day. Nothing listens at 127.0.0.1:")


def test_without_a_server_e_mails_wait_for_a_day():
    raised()
    assert send(None) == (0, 0, 0)
    assert rows() == [("waiting", 0, "")]
    AlertMail.objects.update(made_at=timezone.now() - timedelta(days=1, seconds=1))

    assert send(None) == (0, 0, 1)
    [(_, _, error)] = rows()
    assert error.startswith("Given up after a day. No mail server is set. Set EMAIL_URL")


def test_the_password_is_neither_stored_nor_logged(caplog):
    secret = "hunter2hunter2"
    raised()

    class Parrot(Box):
        async def handle_MAIL(self, server, session, envelope, address, options):
            return f"535 not {secret} \x1b[31m"

    with listening(Parrot()) as smtp:
        told = server(smtp.port, user="", password=secret)
        send(told)

    assert secret not in repr(told)
    assert secret not in caplog.text
    [(_, _, error)] = rows()
    assert "535 not … " in error
    assert "\x1b" not in error


def test_no_transaction_is_open_while_mail_is_sent():
    raised()
    box, seen = Box(), []
    inside = len(connection.savepoint_ids)
    box.meanwhile = lambda: seen.append(len(connection.savepoint_ids))
    with listening(box) as smtp:
        send(smtp)

    assert seen == [inside]


def test_an_e_mail_of_a_killed_process_is_sent_later_with_the_same_id():
    """As after kill -9 between the server's yes and what is written down about it."""
    raised()
    box = Box()
    with listening(box) as smtp:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mail, "_settle_mail", dies)
            with pytest.raises(KeyboardInterrupt):
                send(smtp)
        # Its claim holds for a minute, whoever comes.
        assert send(smtp) == (0, 0, 0)
        again()
        assert send(smtp) == (1, 0, 0)

    assert len(box.got) == 2
    assert len({one["Message-ID"] for one in box.got}) == 1
    assert rows() == [("sent", 2, "")]


def dies(*_):
    raise KeyboardInterrupt


def test_waiting_e_mails_are_sent_by_a_task_each_minute(settings):
    raised()
    box = Box()
    with listening(box) as smtp:
        settings.EMAIL_SERVER = smtp
        tasks.alert_people()
        assert box.got == []
        assert mail.waits()
        tasks.send_mail()

    assert len(box.got) == 1
    assert not mail.waits()


def test_a_claimed_e_mail_is_left_to_its_process():
    raised()
    raised()

    [first], [second] = mail.claim_mails(), mail.claim_mails()

    assert {first.pk, second.pk} == set(AlertMail.objects.values_list("pk", flat=True))
    assert mail.claim_mails() == []


def test_the_log_is_pruned_after_three_months():
    from trackers.alerts.notice import prune_notices

    raised()
    raised()
    old = AlertNotice.objects.last()
    AlertNotice.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=91))

    worked = prune_notices(now=timezone.now(), deadline=Deadline.after(30))

    assert worked.rows == 1
    assert AlertNotice.objects.count() == AlertMail.objects.count() == 1
