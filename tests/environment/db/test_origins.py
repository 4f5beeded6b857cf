"""A form from an origin that does not fit, and an unknown host: what the page and the log say."""

import html

import pytest
from django.conf import settings as current

FORM = {"username": "x", "password": "y", "csrfmiddlewaretoken": "a" * 32}
HOST = "watch.example"


@pytest.fixture
def browser(client, settings):
    settings.ALLOWED_HOSTS = [HOST]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    client.handler.enforce_csrf_checks = True
    client.cookies[current.CSRF_COOKIE_NAME] = "a" * 32
    return client


def send(browser, host, origin, proto="https"):
    headers = {"Host": host, "Origin": origin, "X-Forwarded-Proto": proto}
    answer = browser.post("/login/", FORM, headers=headers)
    return answer.status_code, html.unescape(answer.content.decode())


@pytest.mark.parametrize(
    ("host", "origin", "proto", "advice"),
    [
        (HOST, f"https://{HOST}:8443", "https", "proxy_set_header Host $http_host"),
        (HOST, f"https://{HOST}:8443", "https", f"CSRF_TRUSTED_ORIGINS=https://{HOST}:8443"),
        (HOST, "https://10.0.0.5", "https", "CSRF_TRUSTED_ORIGINS=https://10.0.0.5"),
        (HOST, f"https://{HOST}", "http", "BEHIND_PROXY=true"),
    ],
)
def test_a_form_from_another_origin_names_the_setting_and_its_value(
    browser, settings, caplog, host, origin, proto, advice
):
    settings.SECURE_SSL_REDIRECT = False

    status, page = send(browser, host, origin, proto)

    assert status == 403
    assert advice in page
    assert f"Origin checking failed - {origin} does not match any trusted origins." in page
    [line] = caplog.messages
    assert advice in line


@pytest.mark.parametrize("origin", ["null", "garbage", "https://[", "https://", "ftp://a.example"])
@pytest.mark.parametrize("header", ["Origin", "Referer"])
def test_a_page_without_a_readable_name_gets_no_setting_named(browser, header, origin):
    headers = {"Host": HOST, "X-Forwarded-Proto": "https", header: origin}

    answer = browser.post("/login/", FORM, headers=headers)

    content = html.unescape(answer.content.decode())
    assert answer.status_code == 403
    assert "The browser did not name the page that this form came from." in content
    assert "CSRF_TRUSTED_ORIGINS" not in content


def test_a_form_from_the_very_port_is_taken(db, browser):
    status, page = send(browser, f"{HOST}:8443", f"https://{HOST}:8443")

    assert status == 200
    assert "Please enter a correct username and password" in page


def test_a_form_without_its_token_says_why(browser):
    browser.cookies.clear()

    status, page = send(browser, HOST, f"https://{HOST}")

    assert (status, "CSRF cookie not set." in page, "allow" in page) == (403, True, True)


@pytest.mark.parametrize("address", ["/login/", "/api/v1/tweets"])
@pytest.mark.parametrize("host", ["10.0.0.5", "10.0.0.5:8443", "[2001:db8::1]", "evil_.example"])
def test_an_unknown_host_is_one_line_and_a_sentence(browser, caplog, host, address):
    answer = browser.get(address, headers={"Host": host, "X-Forwarded-Proto": "https"})

    name = host.removesuffix(":8443")
    assert answer.status_code == 400
    content = html.unescape(answer.content.decode("unicode-escape" if "api" in address else "utf8"))
    assert f"ALLOWED_HOSTS=…,{name}" in content
    [record] = caplog.records
    assert (name in record.getMessage(), record.exc_info) == (True, None)
