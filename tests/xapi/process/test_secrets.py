"""Secrets are planted, and sought in all that a person or a log could come to see."""

import base64
import copy
import logging
import pickle
import traceback
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from cryptography.fernet import Fernet
from django.core import serializers
from django.core.exceptions import FieldError
from django.db import connection

from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.models import Credential
from trackers.credentials.secrets import SecretUnreadableError
from trackers.credentials.windows import Reservation
from trackers.xapi.client import look_up
from trackers.xapi.errors import XError
from trackers.xapi.keys import Secrets
from trackers.xapi.wire.x_client import client_for

PLANTED = {
    "consumer_key": "planted/consumer+key=1",
    "consumer_secret": "planted/consumer+secret=2",
    "access_token": "planted/access+token=3",
    "access_token_secret": "planted/access+token+secret=4",
}
BEARER = {"bearer_token": "planted/bearer+token=5"}


def forms_of(secret):
    raw = secret.encode()
    coded = {base64.b64encode(raw[skip:])[4:-4].decode() for skip in range(3)}
    return {secret, quote(secret, safe=""), quote(quote(secret, safe=""), safe=""), *coded}


def found_in(text):
    planted = [*PLANTED.values(), *BEARER.values()]
    return [form for secret in planted for form in forms_of(secret) if form in text]


@pytest.fixture(params=["bearer", "oauth1", "oauth1 v1.1"])
def credential(request):
    kind, _, api = request.param.partition(" ")
    secrets = Secrets(BEARER if kind == "bearer" else PLANTED)
    return Credential(pk=9, name="planted", kind=kind, api=api or "v2", secrets=secrets)


def test_the_search_for_secrets_finds_planted_ones():
    for secret in PLANTED.values():
        assert found_in(f"x{secret}y")
        assert found_in(quote(secret, safe=""))
        assert found_in(base64.b64encode(f"Authorization: {secret} and".encode()).decode())


def test_no_log_shows_a_secret_even_at_debug(peer, credential, everything_logged):
    peer.says_json(b'{"errors":[]}')
    peer.says_json(b'{"title":"Unauthorized"}', status="401 Unauthorized")
    peer.says(None)
    for _ in range(3):
        try:
            look_up(credential, [20], **peer.asking)
        except XError:
            logging.getLogger("trackers").exception("as a task would log it")

    assert "Authorization" in peer.heard[0]
    assert everything_logged.records
    assert found_in(everything_logged.text) == []


@pytest.mark.parametrize("echo", ["title", "detail"])
def test_no_error_repeats_secrets_echoed_by_a_server(peer, credential, echo):
    for secret in credential.secrets.values():
        peer.says_json(b'{"%s":"you sent %s"}' % (echo.encode(), secret.encode()), status="401 No")

        with pytest.raises(XError) as raised:
            look_up(credential, [20], **peer.asking)

        assert "you sent" in str(raised.value)
        assert found_in("".join(traceback.format_exception(raised.value))) == []


@pytest.mark.parametrize("reply", [b"", b"no HTTP\r\n\r\n", b"HTTP/1.1 500 Oh\r\n\r\n"])
def test_no_error_contains_the_request(peer, credential, reply):
    peer.says(reply, None)

    with pytest.raises(XError) as raised:
        look_up(credential, [20], **peer.asking)

    seen, error = "", raised.value
    while error is not None:
        seen += "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(error.args)
        assert not hasattr(error, "request")
        error = error.__cause__ or error.__context__
    assert found_in(seen) == []


def test_no_object_shows_a_secret(peer, credential):
    peer.says_json(b'{"id":{},"errors":[]}')
    answer = look_up(credential, [20], **peer.asking)
    client = client_for(credential, peer.asking["base_url"], peer.asking["timeout"])
    reservation = Reservation(1, datetime(2026, 3, 1, tzinfo=UTC))

    visible = [
        repr(thing)
        for thing in (
            *(
                credential,
                credential.secrets,
                selection.Selection(credential, reservation, 1, 0.0),
                answer,
            ),
            *(client, client.tweepy, vars(client.tweepy), client.session, vars(client.session)),
        )
    ]

    assert found_in("".join((*visible, str(credential.secrets), f"{credential.secrets}"))) == []


def test_a_credential_cannot_be_put_into_a_task(credential):
    for copier in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copier(credential)


@pytest.mark.django_db
def test_the_table_stores_secrets_encrypted_and_returns_them():
    save_credential("a", kind="oauth1", secrets=PLANTED)

    with connection.cursor() as cursor:
        cursor.execute("SELECT c::text FROM trackers_credential c")
        (row,) = cursor.fetchone()

    assert found_in(row) == []
    assert dict(Credential.objects.get().secrets) == PLANTED
    assert found_in(serializers.serialize("json", Credential.objects.all())) == []


@pytest.mark.django_db
def test_a_wrong_key_is_an_error_and_never_ciphertext(settings):
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]
    save_credential("a")
    settings.FIELD_KEYS = [Fernet.generate_key().decode()]

    with pytest.raises(SecretUnreadableError, match="FIELD_KEYS"):
        Credential.objects.get()


@pytest.mark.django_db
def test_a_credential_with_a_lost_key_is_skipped_for_readable_ones(settings):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.FIELD_KEYS = [old]
    save_credential("lost")
    settings.FIELD_KEYS = [new]
    save_credential("good")

    for _ in range(3):
        turn = selection.select_credential()
        assert isinstance(turn, selection.Selection), turn
        assert turn.credential.name == "good"
        selection.settle_answer(turn, None)

    Credential.objects.filter(name="good").delete()
    answer = selection.select_credential()
    assert isinstance(answer, selection.NoCredential)
    assert "lost: A stored secret cannot be decrypted" in answer.why


@pytest.mark.django_db
def test_secrets_are_not_compared_in_sql():
    with pytest.raises(FieldError):
        Credential.objects.filter(secrets={"bearer_token": "x"}).exists()
