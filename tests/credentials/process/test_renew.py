"""Tokens of OAuth 2.0 against the fake X, which gives new ones for each refresh token once."""

import hashlib
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.x import consent, ends_in, look_up_with_tokens
from trackers.credentials import renew, selection
from trackers.credentials.models import Credential
from trackers.credentials.renew import NotRenewed, ensure_valid, lapse, tokens_of
from trackers.xapi.client import look_up_accounts
from trackers.xapi.errors import NotReady, Refused
from trackers.xapi.keys import Secrets
from trackers.xapi.tokens import new_tokens

pytestmark = pytest.mark.django_db

TWEETS, TOKEN = "GET /2/tweets", "POST /2/oauth2/token"
CLIENTS = [
    pytest.param(None, id="public"),
    pytest.param("client-secret", id="confidential"),
]


def fingerprint(secret):
    return hashlib.sha256(secret.encode()).hexdigest()[:8]


def known_to_x(fake):
    [grant] = fake.tell("GET", "credentials")["registered"]
    return grant


def ask(fake, credential):
    """Look up a tweet with the credential as a worker takes it."""
    taken = Credential.objects.get(pk=credential.pk)
    look_up_with_tokens(taken, fake.ids(1), **fake.asking)
    selection.note_acceptance(taken)


def refuse(fake, kind="401", endpoint=TWEETS, **rule):
    fake.fault({"kind": kind, "match": {"endpoint": endpoint}, **rule})


@pytest.mark.parametrize("client_secret", CLIENTS)
def test_an_expiring_token_is_renewed_before_use(fake, client_secret):
    credential = consent(fake, client_secret=client_secret)
    before = dict(credential.secrets)
    ends_in(credential, seconds=59)

    ask(fake, credential)

    assert fake.log() == [(TOKEN, 200), (TWEETS, 200)]
    credential.refresh_from_db()
    grant = known_to_x(fake)
    assert grant["rotations"] == 1
    for name in ("access_token", "refresh_token"):
        assert fingerprint(credential.secrets[name]) == grant[name]
        assert credential.secrets[name] != before[name]
    assert credential.secrets["client_id"] == before["client_id"]
    assert credential.secrets.get("client_secret") == client_secret
    lives = credential.expires_at - timezone.now()
    assert timedelta(minutes=119) < lives <= timedelta(hours=2)
    assert (credential.refreshing_until, credential.renewal_problem) == (None, "")


def test_a_renewal_brings_the_scopes_of_an_old_sign_in(fake):
    credential = consent(fake, scope="tweet.read users.read offline.access")
    ends_in(credential, seconds=59)
    assert credential.not_allowed == ""

    ask(fake, credential)

    credential.refresh_from_db()
    assert credential.scopes == ["tweet.read", "users.read", "offline.access"]
    assert credential.not_allowed.startswith("list.read was not allowed at sign-in")


@pytest.mark.parametrize("left", [timedelta(seconds=70), None])
def test_a_token_with_time_left_or_unknown_expiry_is_used_as_it_is(fake, left):
    credential = consent(fake)
    if left:
        ends_in(credential, seconds=left.total_seconds())

    ask(fake, credential)

    assert fake.log() == [(TWEETS, 200)]


def test_accounts_are_looked_up_with_new_tokens_too(fake):
    credential = consent(fake)
    ends_in(credential, seconds=0)

    with tokens_of(credential, **fake.asking) as keys:
        look_up_accounts(keys, [12], **fake.asking)

    assert fake.log() == [(TOKEN, 200), ("GET /2/users", 200)]


def test_each_renewal_spends_the_newest_refresh_token(fake):
    credential = consent(fake)

    for _ in range(4):
        ends_in(credential, seconds=0)
        ask(fake, credential)

    assert fake.log() == [(TOKEN, 200), (TWEETS, 200)] * 4
    assert known_to_x(fake)["rotations"] == 4


def test_a_token_that_x_refuses_is_renewed_with_the_next_use(fake):
    credential = consent(fake, access_token="another")

    with pytest.raises(NotReady, match="has expired") as ended:
        ask(fake, credential)
    ask(fake, credential)

    assert ended.value.sent
    assert fake.log() == [(TWEETS, 401), (TOKEN, 200), (TWEETS, 200)]


def test_a_refusal_of_an_already_renewed_token_renews_nothing(fake):
    credential = consent(fake)
    ends_in(credential, seconds=0)
    ask(fake, credential)

    late = Refused("401 Unauthorized", status=401)

    assert lapse(credential, late)
    ask(fake, credential)
    assert fake.log() == [(TOKEN, 200), (TWEETS, 200), (TWEETS, 200)]


def test_new_tokens_that_x_refuses_too_are_not_renewed_again(fake):
    credential = consent(fake)
    refuse(fake, "401")

    with pytest.raises(NotReady):
        ask(fake, credential)
    for _ in range(3):
        with pytest.raises(Refused):
            ask(fake, credential)

    assert [asked for asked in fake.log() if asked[0] == TOKEN] == [(TOKEN, 200)]
    fake.fault()
    ask(fake, credential)
    credential.refresh_from_db()
    assert (credential.refused, credential.state) == (0, "ready")


def test_a_refusal_of_another_kind_renews_nothing(fake):
    credential = consent(fake)
    refuse(fake, "403")

    with pytest.raises(Refused):
        ask(fake, credential)

    credential.refresh_from_db()
    assert credential.expires_at is None


def test_a_spent_refresh_token_means_that_a_person_signs_in_again(fake):
    credential = consent(fake, refresh_token="another")
    ends_in(credential, seconds=0)

    with pytest.raises(NotReady, match="sign in again") as gone:
        ask(fake, credential)

    assert not gone.value.sent
    credential.refresh_from_db()
    assert credential.state == "disabled"
    assert credential.reason.startswith("sign in again: ")
    assert "400 invalid_request: Value passed for the token was invalid." in credential.reason
    assert credential.refreshing_until is None
    assert isinstance(selection.select_credential(), selection.NoCredential)
    assert "sign in again" in selection.select_credential().why


def test_a_lost_renewal_answer_means_that_a_person_signs_in_again(fake):
    credential = consent(fake)
    ends_in(credential, seconds=0)
    refuse(fake, "lose_answer", TOKEN, times=1)

    with pytest.raises(NotReady, match="broke off"):
        ask(fake, credential)
    credential.refresh_from_db()
    assert (credential.state, known_to_x(fake)["rotations"]) == ("ready", 1)

    ends_in(credential, seconds=0)
    with pytest.raises(NotReady, match="sign in again"):
        ask(fake, credential)
    credential.refresh_from_db()
    assert credential.state == "disabled"


@pytest.mark.parametrize(
    "kind", ["503_json", "503_text", "500", "429", "html", "garbage_list", "reset", "401", "403"]
)
def test_no_single_failure_of_x_disables_a_credential(fake, kind):
    credential = consent(fake)
    ends_in(credential, seconds=30)
    refuse(fake, kind, TOKEN, times=1, params={"reset_in": 20} if kind == "429" else {})

    with pytest.raises(NotReady, match="X sent no new tokens: ") as failed:
        ask(fake, credential)

    credential.refresh_from_db()
    assert (credential.disabled_at, credential.renewals_failed) == (None, 1)
    assert credential.reason == failed.value.reason
    wait = credential.refreshing_until - timezone.now()
    assert (wait > timedelta(seconds=15)) == (kind == "429")
    # Until then it is left alone, with the reason; after it, all is well.
    with pytest.raises(NotReady, match="X sent no new tokens: "):
        ask(fake, credential)
    ends_in(credential, seconds=30)
    ask(fake, credential)
    assert [status for asked, status in fake.log() if asked == TOKEN][1:] == [200]
    credential.refresh_from_db()
    assert (credential.reason, credential.renewals_failed) == ("", 0)


def test_without_a_network_renewals_back_off_and_never_disable(fake):
    credential = consent(fake)
    nowhere = {**fake.asking, "base_url": "http://127.0.0.1:1"}
    waits = []

    for _ in range(12):
        ends_in(credential, seconds=0)
        refusal = ensure_valid(credential, **nowhere)
        assert isinstance(refusal, NotRenewed)
        assert "Connection refused" in refusal.why
        assert not refusal.refused
        credential.refresh_from_db()
        waits.append((credential.refreshing_until - timezone.now()).total_seconds())

    assert (credential.state, credential.renewals_failed) == ("ready", 12)
    for tries, wait in enumerate(waits):
        assert wait == pytest.approx(min(2 * 2**tries, 300), rel=0.25, abs=0.5)


def test_retry_after_of_the_token_endpoint_is_obeyed(fake):
    credential = consent(fake)
    ends_in(credential, seconds=0)
    refuse(fake, "503_json", TOKEN, params={"retry_after": 90})

    with pytest.raises(NotReady):
        ask(fake, credential)

    credential.refresh_from_db()
    assert credential.refreshing_until - timezone.now() > timedelta(seconds=85)


def test_an_unknown_client_is_tried_ever_more_rarely(fake):
    credential = consent(fake, client_secret="wrong", **{"client_id": "client-id"})
    fake.tell("DELETE", "credentials")
    right = {**credential.secrets, "client_secret": "right"}
    fake.tell("POST", "credentials", kind="oauth2", name="user", **right)

    for tries in range(3):
        ends_in(credential, seconds=0)
        # As its reservation counts a try of refused keys.
        Credential.objects.filter(refused__gt=0).update(refused=tries + 1)
        with pytest.raises(NotReady, match="401 unauthorized_client"):
            ask(fake, credential)

    credential.refresh_from_db()
    assert (credential.state, credential.refused) == ("refused", 3)
    assert "unauthorized_client" in credential.reason
    assert credential.retry_at - timezone.now() > timedelta(minutes=3)


def test_tokens_entered_by_a_person_during_a_renewal_stay(fake):
    credential = consent(fake)
    ends_in(credential, seconds=0)
    entered = {"client_id": "client-id", "access_token": "pasted", "refresh_token": "pasted too"}

    lease = renew.take_lease(credential, lasts=timedelta(minutes=1))
    tokens = new_tokens(lease.credential.secrets, **fake.asking)
    credential.secrets = Secrets(entered)
    credential.clear_renewals()
    credential.save()
    kept = renew.store_renewed(lease, tokens)

    assert dict(kept.secrets) == entered
    credential.refresh_from_db()
    assert (dict(credential.secrets), credential.expires_at) == (entered, None)


def test_other_kinds_of_credentials_take_no_statement(fake, bearer, django_assert_num_queries):
    with django_assert_num_queries(0):
        look_up_with_tokens(bearer, fake.ids(1), **fake.asking)


def test_a_credential_with_lasting_tokens_takes_one_statement(fake, django_assert_num_queries):
    credential = consent(fake)
    ends_in(credential, hours=2)

    # Its row as it is now.
    with django_assert_num_queries(1):
        look_up_with_tokens(credential, fake.ids(1), **fake.asking)
