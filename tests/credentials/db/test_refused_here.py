"""A 403 speaks of one endpoint: it is passed over there, tried again now and then, and shown."""

import io
from datetime import timedelta

from django.core.management import call_command
from django.utils import timezone

from tests.credentials.db.test_windows import known, let_pass
from tests.x import OAUTH1, save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential, Window
from trackers.ingest.stream.requests import payer
from trackers.xapi.endpoints import ACCOUNTS, LOOKUP_BY_IDS, SEARCH, STREAM
from trackers.xapi.errors import Forbidden


def refused(endpoint_of=SEARCH, **given):
    turn = selection.select_credential(endpoint_of, **given)
    selection.settle_failed(turn, Forbidden("403 Client Forbidden", status=403))
    return turn


def shut(endpoint_of=SEARCH, **fields):
    """Five in a row: from now on it is tried every quarter of an hour."""
    for _ in range(4):
        refused(endpoint_of, **fields)
        let_pass(901)
    turn = refused(endpoint_of, **fields)
    assert isinstance(selection.select_credential(endpoint_of, **fields), selection.NoCredential)
    return turn


def test_a_credential_refused_at_one_endpoint_serves_the_others():
    save_credential("a")
    shut()

    answer = selection.select_credential(SEARCH)

    assert isinstance(selection.select_credential(), selection.Selection)
    assert isinstance(selection.select_credential(ACCOUNTS), selection.Selection)
    assert "a: 403 Client Forbidden" in answer.why
    assert "credential enable a" in answer.why
    assert Credential.objects.get().refused == 0


def test_other_credentials_replace_a_refused_one():
    bad, _ = save_credential("bad"), save_credential("good")
    shut(only=bad.pk)

    assert selection.select_credential(SEARCH).credential.name == "good"
    assert isinstance(selection.select_credential(SEARCH), selection.NoRoom), (
        "the good one's first reply is awaited"
    )


def test_the_waits_at_an_endpoint_double_up_to_a_quarter_of_an_hour():
    save_credential("a")
    waits = []
    for _ in range(6):
        refused()
        window = Window.objects.get(endpoint=SEARCH["v2"])
        waits.append(round((window.cooldown_until - timezone.now()) / timedelta(minutes=1)))
        let_pass(60 * waits[-1] + 1)

    assert waits == [1, 2, 4, 8, 15, 15]


def test_where_requests_are_spread_a_refusal_is_the_reason_and_its_try_does_not_wait_longer():
    known("a", 400, limit=900, opens_in=890)
    refused(LOOKUP_BY_IDS)

    answer = selection.select_credential(spread=True)

    assert isinstance(answer, selection.NoCredential)
    assert "a: 403 Client Forbidden; tried again at" in answer.why
    let_pass(61)
    assert isinstance(selection.select_credential(spread=True), selection.Selection)


def test_a_refused_credential_is_probed_every_quarter_hour_and_recovers_on_an_answer():
    save_credential("a")
    shut()
    let_pass(901)

    probe = selection.select_credential(SEARCH)
    assert isinstance(selection.select_credential(SEARCH), selection.NoRoom), (
        "one finds out for all"
    )
    selection.settle_answered(probe, None)

    assert isinstance(selection.select_credential(SEARCH), selection.Selection)
    assert Window.objects.get(endpoint=SEARCH["v2"]).refused == 0


def test_manual_checks_count_as_one_refusal():
    credential = save_credential("a")

    for _ in range(5):
        refused(only=credential.pk, by_hand=True)

    assert Window.objects.get().refused == 1
    assert Credential.objects.get().state == "refused"


def test_a_user_token_and_the_bearer_token_of_its_app_are_refused_separately():
    save_credential("bearer", app="ours")
    user = save_credential("user", app="ours", kind="oauth1", secrets=OAUTH1)
    shut(only=user.pk)

    assert selection.select_credential(SEARCH).credential.name == "bearer"
    named = {one.name: one.reason for one in Credential.objects.for_lists()}
    assert named["bearer"] == ""
    assert SEARCH["v2"] in named["user"]


def test_the_list_shows_where_a_credential_is_refused_and_enabling_retries(capsys):
    save_credential("a")
    shut()

    out = io.StringIO()
    call_command("credential", "list", stdout=out)
    assert "refused at GET /2/tweets/search/recent: 403 Client Forbidden" in out.getvalue()
    call_command("credential", "enable", "a")

    assert isinstance(selection.select_credential(SEARCH), selection.Selection)


def test_the_stream_uses_a_credential_that_is_not_refused_there():
    first = save_credential("first")
    save_credential("second")
    assert payer().name == "first"

    refused(STREAM, only=first.pk)

    assert payer().name == "second"
