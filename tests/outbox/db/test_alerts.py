"""What needs a person is told in `alerts`, by the statement that brings it about, and once."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.events.conftest import subscriber
from trackers.credentials.health import note_refusal
from trackers.credentials.models import Credential
from trackers.events.fan_out import fan_out
from trackers.events.live.watch import watch
from trackers.money import depletion
from trackers.money.models import App
from trackers.outbox.models import Event
from trackers.xapi.errors import Depleted, Refused

NOW = timezone.now()


@pytest.fixture
def credential():
    return Credential.objects.create(
        name="first", kind="bearer", app=App.objects.named("first"), secrets={"bearer_token": "t"}
    )


def alert_events():
    fan_out()
    return list(
        Event.objects.filter(topic__name="alerts").order_by("id").values_list("data", flat=True)
    )


def refuse(credential):
    if credential.refused:
        # As its reservation counts a try of refused keys.
        credential.refused += 1
        credential.save(update_fields=["refused"])
    note_refusal(credential, Refused("no", status=401))
    credential.refresh_from_db()


def test_the_fourth_refusal_of_keys_in_a_row_publishes_an_alert_once(credential):
    subscriber("ops", ["alerts"])

    for times in range(6):
        assert len(alert_events()) == (times > 3)
        refuse(credential)

    assert alert_events() == [{"credential": "first", "what": "Refused by X: no"}]
    [event] = Event.objects.all()
    assert (event.type, event.url) == ("create", "/operations/")


def test_watchers_of_the_live_events_get_the_alert(credential):
    watch(["alerts"])

    credential.disable("disabled by ada", now=NOW)

    assert alert_events() == [{"credential": "first", "what": "disabled by ada"}]


def test_a_credential_disabled_by_a_person_alerts_once(credential):
    subscriber("ops", ["alerts"])

    for reason in ("disabled by ada", "once more"):
        credential.disable(reason, now=NOW)

    assert alert_events() == [{"credential": "first", "what": "disabled by ada"}]


def test_a_depleted_project_alerts_once_until_it_has_money_again(credential):
    subscriber("ops", ["alerts"])
    app, error = credential.app_id, Depleted("Credits are used up.")

    for hours in (0, 8, 16):
        depletion.mark_depleted(app, error, now=NOW + timedelta(hours=hours))
    assert alert_events() == [
        {"project": credential.app.project.name, "what": "Credits are used up."}
    ]
    depletion.end_depletion(app)
    depletion.mark_depleted(app, error, now=NOW + timedelta(hours=24))

    assert len(alert_events()) == 2


def test_without_subscribers_no_alert_is_stored(credential):
    for _ in range(5):
        refuse(credential)
    depletion.mark_depleted(credential.app_id, Depleted("Credits are used up."), now=NOW)

    assert alert_events() == []
    assert credential.refused == 5
