"""X's full archive: for apps only, once in a second, and not where the plan lacks it."""

import pytest

from tests.credentials.db.test_windows import let_pass, seen
from tests.x import OAUTH1, save_credential
from trackers.credentials import acts, selection
from trackers.credentials.describe import describe
from trackers.credentials.models import Credential, Window
from trackers.history import by_command
from trackers.xapi.endpoints import ARCHIVE, SEARCH
from trackers.xapi.errors import Forbidden

pytestmark = pytest.mark.django_db


def select(endpoint_of=ARCHIVE, **given):
    return selection.select_credential(endpoint_of, **given)


def refuse(turn):
    selection.settle_failed(turn, Forbidden("403 Client Forbidden", status=403))


def test_only_the_token_of_an_app_asks():
    user = save_credential("user", kind="oauth1", secrets=OAUTH1)

    assert "only bearer tokens" in select().why
    assert select(SEARCH).credential == user

    save_credential("app")
    assert select().credential.name == "app"
    assert not Window.objects.filter(credential=user, endpoint=ARCHIVE["v2"]).exists()


def test_the_next_request_waits_for_the_reply_and_a_second_more():
    save_credential("app")
    first = select()
    selection.settle_answered(first, seen(299, limit=300, endpoint=ARCHIVE["v2"]))

    early = select()
    let_pass(1)
    second = select()
    let_pass(5)
    under_way = select()

    assert isinstance(early, selection.NoRoom)
    assert early.why == "X answers one such request in a second."
    assert isinstance(second, selection.Selection)
    assert isinstance(under_way, selection.NoRoom), "the second one's reply is awaited"
    assert isinstance(select(SEARCH), selection.Selection)


def test_a_cancelled_request_leaves_its_second_to_the_next():
    save_credential("app")
    selection.settle_answered(select(), seen(299, limit=300, endpoint=ARCHIVE["v2"]))
    let_pass(1)

    selection.cancel(select())

    assert isinstance(select(), selection.Selection)


def test_a_refusal_is_remembered_until_the_credential_changes():
    credential = save_credential("app")
    refuse(select())

    let_pass(30 * 86_400)

    why = select().why
    assert "app: X refused GET /2/tweets/search/all, which not every plan has" in why
    assert "credential enable app" in why
    row = describe(Credential.objects.for_lists().get())
    assert (row["state"], row["reason"]) == ("ready", why)
    assert isinstance(select(SEARCH), selection.Selection)

    acts.enable([Credential.objects.get(pk=credential.pk)], by_command())
    assert isinstance(select(), selection.Selection)


def test_another_app_whose_plan_may_have_it_is_asked():
    save_credential("basic")
    refuse(select())

    save_credential("other", app="other")

    assert select().credential.name == "other"
