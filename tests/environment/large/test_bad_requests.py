"""What no server can read is 400 with a sentence, and never a fault of ours."""

import html

import pytest
from django.contrib.auth.models import User

from tests.pages.sources import source
from tweetwatch.http import bad_requests

URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
BODY = b'--x\r\nContent-Disposition: form-data; name="username"\r\n\r\n\xff\r\n--x--\r\n'


@pytest.fixture
def root(client, db, settings):
    settings.SECURE_SSL_REDIRECT = False
    client.force_login(User.objects.create_superuser("root"))
    client.raise_request_exception = False
    return client


def text_of(answer):
    return html.unescape(answer.content.decode())


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize(
    ("kind", "charset"),
    [(URLENCODED, "latin-1"), (MULTIPART, "idna"), (MULTIPART, "zip"), (URLENCODED, "utf-7")],
)
@pytest.mark.parametrize("address", ["/login/", "/sources/", "/sources/import/", "/metrics"])
def test_a_body_in_another_charset_is_refused_with_a_sentence(
    root, address, kind, charset, checked
):
    root.handler.enforce_csrf_checks = checked

    answer = root.generic("POST", address, BODY, content_type=f"{kind}; charset={charset}")

    assert answer.status_code == 400
    assert bad_requests.CHARSET in text_of(answer)


@pytest.mark.parametrize("name", ["root", "anybody"])
@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        ("multipart/form-data", BODY, bad_requests.FORM),
        ("multipart/form-data; boundary=\u00e9", BODY, bad_requests.FORM),
        (URLENCODED, b"&".join([b"a=1"] * 5000), bad_requests.TOO_LARGE),
    ],
)
@pytest.mark.parametrize("address", ["/login/", "/tweets/", "/nothing/", "/tweets/x/"])
def test_an_unreadable_form_is_refused_with_a_sentence(
    root, caplog, address, kind, body, sentence, name
):
    # With the cookie of the check for forgery, which anybody may get, the form is read.
    if name == "anybody":
        root.logout()
        root.get("/login/")
    root.get("/account/")
    root.handler.enforce_csrf_checks = True
    caplog.clear()

    answer = root.generic("POST", address, body, content_type=kind)

    assert (answer.status_code, sentence in text_of(answer)) == (400, True)
    assert not [one for one in caplog.records if one.exc_info]


def test_the_api_refuses_bad_charsets_in_json(root):
    kind = "application/json; charset=utf-16"

    answer = root.generic("POST", "/api/v1/timelines/append", b"{}", content_type=kind)

    assert (answer.status_code, answer.json()["detail"]) == (400, bad_requests.CHARSET)


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", '"utf-8"'])
def test_every_spelling_of_utf_8_is_accepted(root, charset):
    body = b"kind=account&of=na+sa"

    answer = root.generic(
        "POST", "/sources/", body, content_type=f"{URLENCODED}; charset={charset}"
    )

    assert answer.status_code == 200
    assert "is not a username" in text_of(answer)


@pytest.mark.django_db(transaction=True)
def test_a_request_that_django_cannot_parse_is_refused():
    """With this charset it fails on the query, outside of every middleware."""
    from tweetwatch.wsgi import application

    collected = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "QUERY_STRING": "a=%ff",
        "CONTENT_TYPE": f"{MULTIPART}; charset=idna",
    }
    body = b"".join(application(environ, lambda status, headers: collected.append(status)))

    assert collected == ["400 Bad Request"]
    assert body.decode().strip() == bad_requests.CHARSET


@pytest.mark.parametrize(
    "address",
    [
        "/admin/trackers/source/?owner=%00",
        "/admin/trackers/source/?q=%00",
        "/admin/auth/user/?username=%00",
    ],
)
def test_a_nul_in_a_filter_is_no_500(root, address):
    source(owner="desk")

    assert root.get(address).status_code in (200, 302, 400)
    if "owner" in address:
        assert bad_requests.NUL in text_of(root.get(address))


@pytest.mark.parametrize("chosen", ["x", "", "1e3", "99999999999999999999", "\0", "1,2"])
def test_chosen_rows_with_malformed_ids_are_refused(root, chosen):
    made = User.objects.get(username="root")

    answer = root.post(
        "/admin/auth/user/",
        {"action": "delete_selected", "_selected_action": [str(made.pk), chosen]},
    )

    assert answer.status_code == 400
    assert bad_requests.CHOSEN in text_of(answer)
    assert User.objects.filter(pk=made.pk).exists()


@pytest.mark.parametrize(
    "crafted",
    [
        "trackers/worker/?kind__range=x",
        "trackers/interval/?every=soon",
        "trackers/interval/?younger_than__gte=99999999999999999999",
        "trackers/alertnotice/?at__year=99999999999999999999",
        "trackers/credential/?refreshing_until__iso_year=0",
        "trackers/credential/?scopes=%28",
        "trackers/credential/?name__regex=%28",
        "auth/user/?date_joined__year=-1",
        "auth/user/?username__range=a,b,c",
    ],
)
def test_a_crafted_filter_of_the_admin_is_no_500(root, crafted):
    assert root.get(f"/admin/{crafted}").status_code in (200, 302, 400)


@pytest.mark.parametrize(
    ("broken", "value", "address"),
    [
        # While the list is made, and while a row is shown.
        ("subscribers._MAX_SUBSCRIBERS_LISTED", "many", "trackers/loggedattempt/?outcome__exact=x"),
        ("people.ROLES", None, "auth/user/?is_active__exact=1"),
    ],
)
def test_a_fault_of_ours_in_a_filtered_list_is_not_taken_for_a_filter(
    root, monkeypatch, broken, value, address
):
    assert root.get(f"/admin/{address}").status_code == 200
    monkeypatch.setattr(f"trackers.admin.{broken}", value)

    assert root.get(f"/admin/{address}").status_code == 500


@pytest.mark.parametrize("chosen", ["x", "\0", "99999999999999999999", "1,2", "[]"])
def test_a_forged_choice_in_a_form_of_the_admin_is_refused(root, chosen):
    form = "/admin/trackers/follower/add/"

    for answer in (root.post(form, {"user": chosen}), root.get(form, {"team": chosen})):
        assert answer.status_code == 400
        assert bad_requests.CHOSEN in text_of(answer)
    assert root.post(form, {"user": "", "team": ""}).status_code == 200


def test_a_view_that_checks_for_forgery_itself_leaves_no_traceback_either(root, caplog):
    root.get("/account/")
    root.handler.enforce_csrf_checks = True
    caplog.clear()

    answer = root.generic("POST", "/sources/import/", BODY, content_type="multipart/form-data")

    assert (answer.status_code, bad_requests.FORM in text_of(answer)) == (400, True)
    assert not [one for one in caplog.records if one.exc_info]


def test_a_page_that_refuses_a_person_reads_no_form(client, db, settings):
    settings.SECURE_SSL_REDIRECT = False
    client.force_login(User.objects.create_user("somebody"))
    client.get("/account/")
    client.raise_request_exception = False
    client.handler.enforce_csrf_checks = True

    # This view checks the form itself.
    answer = client.generic("POST", "/sources/import/", BODY, content_type="multipart/form-data")

    assert answer.status_code == 400
    assert bad_requests.FORM in text_of(answer)
