"""Rules about what lasts: told when it begins, and when it is over."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, rule
from tests.factories import CredentialFactory, TweetUpdateFactory
from trackers.alerts import conditions
from trackers.alerts.conditions import allowed_tomorrow, dry
from trackers.alerts.models import AlertNotice
from trackers.credentials.models import Credential
from trackers.forecasts.models import ForecastDay, ForecastOfProject
from trackers.ingest.sources.models import Source, SourceDay
from trackers.jobs.models import Queue
from trackers.money.models import Project
from trackers.money.summary import MoneySummary, Spent
from trackers.outbox.findings import Observation


def test_brief_lateness_does_not_alert():
    rule("lateness", late_by=5 * MINUTE, lasting=2 * MINUTE)
    job = TweetUpdateFactory(due_at=timezone.now() - timedelta(minutes=7, seconds=30))

    assert minute() == minute(1) == []
    [(state, what)] = minute(2)
    assert state == "down"
    assert what.startswith("The most overdue tweet should have been checked 7 min ")
    assert minute(3) == []

    type(job).objects.all().delete()
    type(job).bucket.objects.all().delete()
    assert minute(4) == [("back", "No tweet is more than 5 minutes late any more.")]


def test_a_paused_queue_does_not_alert_as_late():
    rule("lateness", late_by=5 * MINUTE, lasting=timedelta(0))
    TweetUpdateFactory(due_at=timezone.now() - HOUR)
    Queue.objects.filter(name="tweet:update").update(paused=True)

    assert minute() == []


def test_a_refused_credential_alerts_and_its_recovery_too():
    rule("credential")
    credential = CredentialFactory(name="main")
    CredentialFactory(name="by hand", disabled_at=NOW)
    assert minute() == []
    Credential.objects.filter(pk=credential.pk).update(refused=2, refused_reason="401 Unauthorized")

    [(state, what)] = minute(1)
    assert (state, what) == (
        "down",
        "The credential main fails: X refused its keys 2 times in a row: 401 Unauthorized. "
        "Correct them in the admin.",
    )
    Credential.objects.update(refused=0)
    assert minute(2) == [("back", "X accepts it again.")]
    # Within the pause it is not told again, and neither is that it is over.
    Credential.objects.filter(pk=credential.pk).update(refused=3)
    assert minute(3) == []
    Credential.objects.update(refused=0)
    assert minute(4) == []


def test_hidden_and_leaking_sources_alert():
    nasa, esa = (Source.objects.create(kind="account", of=name) for name in ("nasa", "esa"))
    rule("source", name="all")
    rule("source", name="nasa", about="source", of=nasa.pk)
    assert minute() == []
    Source.objects.filter(pk=esa.pk).update(hidden_reason="protected")
    SourceDay.objects.create(source=nasa, day=NOW.date(), late=3)

    minute(1)
    assert minute(2) == []

    collected = {
        one.rule_name: [line["what"] for line in one.lines] for one in AlertNotice.objects.all()
    }
    leak = "3 posts were missed by the polls of @nasa's posts today, and found later."
    hidden = "X does not show the source @esa's posts: protected."
    assert {name: sorted(said) for name, said in collected.items()} == {
        "all": [leak, hidden], "nasa": [leak],
    }  # fmt: skip

    # A reason that is a sentence already gets no second full stop.
    unknown = "X has no account with this name."
    Source.objects.filter(pk=esa.pk).update(hidden_reason="not_found", problem=unknown)
    esa.refresh_from_db()
    assert list(conditions.source_faults(esa, 0)) == [
        ("hidden", f"X does not show the source @esa's posts: {unknown}")
    ]


def test_a_source_named_by_a_rule_alerts_among_many_leaking_sources(monkeypatch):
    monkeypatch.setattr(conditions, "SOURCES_MOST", 1)
    for name, late in (("esa", 9), ("jaxa", 5), ("nasa", 1)):
        source = Source.objects.create(kind="account", of=name)
        SourceDay.objects.create(source=source, day=NOW.date(), late=late)
    rule("source", name="all")
    rule("source", name="nasa", about="source", of=source.pk)

    minute()

    found = {one.rule_name: len(one.lines) for one in AlertNotice.objects.all()}
    # Those that leak most, and the one that is looked at anyway.
    assert found == {"all": 2, "nasa": 1}


TODAY = NOW.date()


def books(*, needs=1000, waiting=0, today=500, month=5000, left=10_000, day=TODAY, **project):
    given = {"name": "p", "rationed_at": NOW, "needs": needs, "waiting": waiting, **project}
    return MoneySummary(
        Project(**given), day, left,
        Spent(posts_today=today, posts_month=month, money_month=month * Decimal("0.005")),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"posts_a_day": 2000}, ""),
        ({"posts_a_day": 1400}, "runs dry tomorrow: by the forecast it needs 1,500 tweet-days, and"
         " has 1,400 left."),
        ({"posts_a_day": 1400, "needed": 1399.6}, ""),
        ({"posts_a_day": 1400, "needed": None}, ""),
        ({"posts_a_day": 1500, "waiting": 7, "runs_dry_at": NOW + HOUR}, "runs dry at 13:00"),
        ({"posts_a_day": 1400, "rationed_at": NOW - HOUR}, ""),
        # For the day before, in the first minute of a new one.
        ({"posts_a_day": 1500, "waiting": 7, "day": date(2026, 3, 6)}, ""),
        ({"posts_a_day": 1400, "needs": None}, ""),
        ({"left": None}, ""),
        ({"depleted_until": NOW + HOUR}, "has used up its credits"),
    ],
)  # fmt: skip
def test_a_budget_alerts_when_it_will_run_dry_before_tomorrow(given, sentence):
    needed = given.get("needed", 1500.2)
    summary = books(**{name: value for name, value in given.items() if name != "needed"})
    found = dry(summary, needed, now=NOW)

    assert sentence in found
    assert bool(sentence) == bool(found)


def test_tomorrow_gets_its_share_of_the_month_and_a_new_month_all_of_it():
    # 26 days are left after today, of 30,000 - 5,000 - 1,000.
    assert allowed_tomorrow(books(posts_a_month=30_000)) == 924
    last = books(posts_a_month=31_000, month=30_900)
    ending = MoneySummary(last.project, date(2026, 3, 31), 100, last.spent)
    # April has thirty days.
    assert allowed_tomorrow(ending) == 1034
    assert allowed_tomorrow(books(money_a_day=Decimal("5"))) == 1000
    assert allowed_tomorrow(books()) is None


def test_a_budget_is_judged_by_the_forecast_of_tomorrow_as_if_it_had_room_for_all():
    """What is expected within the budget never exceeds it, and today need not be like tomorrow."""
    project, now = CredentialFactory().app.project, timezone.now()
    of_budget = rule("budget")
    Project.objects.update(posts_a_day=1400, needs=0, rationed_at=now)
    ForecastDay.objects.create(day=now.date(), counted_at=now, expected_at=now)
    tomorrow = {"day": now.date() + timedelta(days=1), "project": project, "expected": 1400.0}
    ForecastOfProject.objects.create(**tomorrow, unlimited=1400.0)

    def wrong(now=now):
        [observation], _ = conditions.lasting_findings([of_budget], now=now)
        return observation.wrong

    assert wrong() == ""
    ForecastOfProject.objects.update(unlimited=2600.0)
    assert "tomorrow: by the forecast it needs 2,600 tweet-days, and has 1,400 left" in wrong()
    # An old forecast says nothing.
    ForecastDay.objects.update(counted_at=now - HOUR)
    assert wrong() == ""


def test_findings_without_a_rule_are_logged_and_sent_to_subscribers():
    look = Observation("queue", "x", "It broke.", "It works again.", "/operations/")
    minute(0, look)
    assert minute(1, look) == [("down", "It broke.")]
    assert [one.rule for one in AlertNotice.objects.all()] == [None]
    listening = rule("trouble", to=["ada@here.example"])

    over = Observation("queue", "x", "", "It works again.", "/operations/")
    assert minute(2, over) == [("back", "It works again.")]

    assert AlertNotice.objects.first().rule == listening
    assert [one.to for one in AlertNotice.objects.first().mails.all()] == ["ada@here.example"]


def test_a_failing_condition_does_not_stop_the_others(monkeypatch, caplog):
    from trackers.alerts import judge

    rule("velocity", metric="likes", at=1)
    rule("credential")
    CredentialFactory(name="main", refused=2)
    monkeypatch.setattr(judge, "velocity_findings", lambda *_, **__: 1 / 0)

    assert len(minute()) == 1
    assert "velocity could not be judged" in caplog.text
