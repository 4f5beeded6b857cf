"""Taking credentials in turn, and what their replies teach, on a real PostgreSQL."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.credentials.db.test_windows import known, let_pass
from tests.x import save_credential
from trackers.credentials import selection
from trackers.credentials.health import note_acceptance
from trackers.credentials.models import Credential
from trackers.xapi.endpoints import (
    ACCOUNT_POSTS,
    ACCOUNTS,
    LIST_POSTS,
    LOOKUP_BY_IDS,
    SEARCH,
    STREAM,
    USAGE_COUNT,
    USERNAMES,
)
from trackers.xapi.errors import Depleted, Forbidden, NotShown, Refused, Unavailable


def taken():
    turn = selection.select_credential()
    return turn.credential.name if isinstance(turn, selection.Selection) else turn


def test_a_selected_credential_can_be_used_at_once():
    save_credential("a", secrets={"bearer_token": "the token"})

    credential = selection.select_credential().credential

    assert credential.secrets["bearer_token"] == "the token"
    assert credential == Credential.objects.get(name="a")


def test_without_credentials_the_reason_says_how_to_add_one():
    answer = selection.select_credential()

    assert isinstance(answer, selection.NoCredential)
    assert "credential add" in answer.why


def test_disabled_credentials_are_skipped_and_the_last_one_is_named():
    save_credential("a").disable("Refused by X: 401 Unauthorized", now=timezone.now())

    answer = selection.select_credential()

    assert isinstance(answer, selection.NoCredential)
    assert "a: Refused by X: 401 Unauthorized" in answer.why
    assert "credential enable a" in answer.why


def refuse(turn, status=401):
    """X refuses the keys of this request; in how many minutes they are due again."""
    selection.settle_failed(turn, Refused(f"{status} Unauthorized", status=status))
    left = Credential.objects.get(pk=turn.credential.pk).retry_at - timezone.now()
    return round(left / timedelta(minutes=1))


@pytest.mark.parametrize(
    ("status", "minutes"),
    [(401, [1, 2, 4, 8, 16, 32, 60, 60]), (403, [1, 2, 4, 8, 15, 15, 15, 15])],
)
def test_refused_keys_are_tried_after_waits_that_double(status, minutes):
    save_credential("a")
    waits = []
    for _ in minutes:
        turn = selection.select_credential()
        waits.append(refuse(turn, status))
        let_pass(60 * waits[-1] - 5)
        assert isinstance(selection.select_credential(), selection.NoCredential), "not yet due"
        let_pass(6)

    assert waits == minutes
    assert Credential.objects.get().disabled_at is None


@pytest.mark.parametrize(
    "endpoint_of",
    [LOOKUP_BY_IDS, ACCOUNTS, USERNAMES, ACCOUNT_POSTS, SEARCH, LIST_POSTS, USAGE_COUNT, STREAM],
)
def test_refused_keys_are_asked_with_at_no_endpoint(endpoint_of):
    one = save_credential("a")
    refuse(selection.select_credential())

    answers = [selection.select_credential(endpoint_of, only=only) for only in (None, one.pk)]

    for answer in answers:
        assert isinstance(answer, selection.NoCredential)
        assert "a: X refused its keys: 401 Unauthorized; tried again at" in answer.why
        assert "manage.py credential enable a" in answer.why


def test_while_others_have_room_refused_keys_are_tried_only_when_due():
    known("good", 100)
    bad = save_credential("bad")
    refuse(selection.select_credential(only=bad.pk))

    names = [selection.select_credential().credential.name for _ in range(5)]
    let_pass(61)
    # Then they go first, once: they may have been accepted for long.
    names += [selection.select_credential().credential.name for _ in range(3)]

    assert names == ["good"] * 5 + ["bad"] + ["good"] * 2


def test_requests_under_way_together_are_one_refusal():
    known("a", 9)
    turns = [selection.select_credential() for _ in range(5)]

    assert [refuse(turn) for turn in turns] == [1] * 5
    assert Credential.objects.get().refused == 1


def test_an_accepted_request_ends_the_refusals():
    save_credential("a")
    refuse(selection.select_credential())
    let_pass(61)

    selection.settle_answer(selection.select_credential(), None)

    assert (Credential.objects.get().refused, Credential.objects.get().state) == (0, "ready")
    assert isinstance(selection.select_credential(), selection.Selection)


def test_an_answer_to_a_request_from_before_the_refusal_does_not_end_it():
    known("a", 9)
    early, late = selection.select_credential(), selection.select_credential()

    refuse(late)
    selection.settle_answered(early, None)

    assert Credential.objects.get().refused == 1
    assert isinstance(selection.select_credential(), selection.NoCredential)


@pytest.mark.parametrize(
    "error",
    [
        NotShown("404 Not Found"),
        Forbidden("403 Forbidden", status=403),
        Depleted("402 Payment Required"),
    ],
)
def test_a_refusal_that_knows_whose_keys_they_are_ends_those_of_the_keys(error):
    save_credential("a")
    refuse(selection.select_credential())
    let_pass(61)

    selection.settle_failed(selection.select_credential(SEARCH), error)

    assert Credential.objects.get().refused == 0


def test_a_try_that_was_not_sent_is_given_back():
    save_credential("a")
    refuse(selection.select_credential())
    let_pass(61)

    selection.cancel(selection.select_credential())

    assert isinstance(selection.select_credential(ACCOUNTS), selection.Selection)


def test_a_try_without_an_answer_is_repeated_after_a_while():
    save_credential("a")
    refuse(selection.select_credential())
    let_pass(61)

    selection.settle_failed(selection.select_credential(), Unavailable("No answer in time."))

    assert isinstance(selection.select_credential(), selection.NoCredential)
    let_pass(121)
    assert isinstance(selection.select_credential(), selection.Selection)


def test_tries_by_hand_are_allowed_and_count_as_one_refusal():
    one = save_credential("a")

    waits = [refuse(selection.select_credential(only=one.pk, by_hand=True)) for _ in range(4)]

    assert waits == [1] * 4
    assert Credential.objects.get().refused == 1


@pytest.mark.parametrize("lift", ["enable", "clear_rejections"])
def test_a_person_lets_refused_keys_be_tried_at_once(lift):
    save_credential("a")
    for _ in range(3):
        refuse(selection.select_credential())
        let_pass(3600)
    refuse(selection.select_credential())

    getattr(Credential.objects.get(), lift)()

    assert isinstance(selection.select_credential(), selection.Selection)


def test_accepting_a_healthy_credential_takes_no_query(django_assert_num_queries):
    save_credential("a")
    credential = selection.select_credential().credential

    with django_assert_num_queries(0):
        note_acceptance(credential)
