"""The secrets of OAuth 2.0, planted and new ones, are sought where they could have got to."""

import base64
import logging
import traceback

import pytest
from django.db import connection

from tests.x import consent, ends_in, look_up_with_tokens, save_credential
from tests.xapi.process.test_secrets import forms_of
from trackers.credentials.models import Credential
from trackers.credentials.renew import RenewalLease, ensure_valid
from trackers.xapi.errors import XError
from trackers.xapi.tokens import new_tokens

pytestmark = pytest.mark.django_db
PLANTED = {
    "client_id": "planted/client+id=1",
    "client_secret": "planted/client+secret=2",
    "access_token": "planted/access+token=3",
    "refresh_token": "planted/refresh+token=4",
}
BASIC = base64.b64encode(f"{PLANTED['client_id']}:{PLANTED['client_secret']}".encode()).decode()


def found_in(text, *more):
    secrets = [*PLANTED.values(), BASIC, *more]
    return [form for secret in secrets for form in forms_of(secret) if form in text]


def test_no_log_shows_a_secret_even_at_debug(fake, everything_logged):
    credential = consent(fake, client_secret=PLANTED["client_secret"])
    secrets = [value for name, value in credential.secrets.items() if name != "client_id"]
    for fault in (None, "503_json", "html", "truncated"):
        ends_in(credential, seconds=0)
        fake.fault(*([{"kind": fault, "times": 1}] if fault else []))
        try:
            look_up_with_tokens(Credential.objects.get(), [20], **fake.asking)
        except XError:
            logging.getLogger("trackers").exception("as a task would log it")
        credential.refresh_from_db()
        secrets += credential.secrets.values()
    ends_in(credential, seconds=0)
    ensure_valid(credential, **fake.asking)

    assert Credential.objects.get().state == "disabled"
    assert "new tokens until" in everything_logged.text
    assert "sign in again" in everything_logged.text
    assert found_in(everything_logged.text, *(set(secrets) - {"client-id"})) == []


@pytest.mark.parametrize("name", [*PLANTED, "basic"])
@pytest.mark.parametrize("status", ["400 No", "401 No", "503 No"])
def test_no_error_or_reason_repeats_secrets_echoed_by_a_server(peer, name, status):
    credential = save_credential("a", kind="oauth2", secrets=PLANTED)
    said = {**PLANTED, "basic": BASIC}[name].encode()
    body = b'{"error":"invalid_request","error_description":"you sent %s"}' % said
    peer.says_json(body, status=status)
    peer.says_json(body, status=status)

    with pytest.raises(XError) as raised:
        new_tokens(PLANTED, **peer.asking)
    ends_in(credential, seconds=0)
    ensure_valid(credential, **peer.asking)

    assert f"Basic {BASIC}" in peer.heard[0]
    assert "you sent" in str(raised.value)
    assert found_in("".join(traceback.format_exception(raised.value))) == []
    credential.refresh_from_db()
    assert "you sent" in credential.reason
    with connection.cursor() as cursor:
        cursor.execute("SELECT c::text FROM trackers_credential c")
        assert found_in(cursor.fetchone()[0]) == []


def test_secrets_are_in_no_address_and_no_repr(peer):
    credential = save_credential("a", kind="oauth2", secrets=PLANTED)
    peer.says_json(
        b'{"access_token":"planted/access+token=3","refresh_token":"planted/refresh+token=4"}'
    )

    tokens = new_tokens(PLANTED, **peer.asking)

    line, *_ = peer.heard[0].splitlines()
    assert line == "POST /2/oauth2/token HTTP/1.1"
    mark = RenewalLease(credential, credential.created_at, credential.created_at)
    assert found_in(repr(tokens) + repr(mark) + repr(credential)) == []


def test_a_public_client_sends_no_authorization_at_all(peer):
    public = {name: value for name, value in PLANTED.items() if name != "client_secret"}
    peer.says_json(b'{"access_token":"new","expires_in":7200}')

    new_tokens(public, **peer.asking)

    assert "authorization:" not in peer.heard[0].lower()


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b"{}", b"<html>", b'{"access_token":5}', b'{"access_token":""}',
        b'{"access_token":"a b"}', b'{"access_token":"x\\r\\ny"}', b'{"refresh_token":"x"}',
    ],
)  # fmt: skip
def test_an_answer_without_a_token_is_an_error(peer, body):
    peer.says_json(body)

    with pytest.raises(XError, match="holds none"):
        new_tokens(PLANTED, **peer.asking)


@pytest.mark.parametrize("life", [b"null", b'"7200"', b"-5", b"0", b"true", b"1.5", b"[]"])
def test_a_malformed_expires_in_is_unknown(peer, life):
    peer.says_json(b'{"access_token":"new","expires_in":%s}' % life)

    assert new_tokens(PLANTED, **peer.asking).lives is None


def test_without_a_new_refresh_token_the_old_one_stays(peer):
    credential = save_credential("a", kind="oauth2", secrets=PLANTED)
    ends_in(credential, seconds=0)
    peer.says_json(b'{"access_token":"new"}')

    ensure_valid(credential, **peer.asking)

    credential.refresh_from_db()
    assert dict(credential.secrets) == {**PLANTED, "access_token": "new"}
