"""EMAIL_URL is read, or refused with a sentence that has no word of the password."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from tweetwatch import environment


def read(monkeypatch, url, **given):
    for name, value in {"EMAIL_URL": url, **given}.items():
        monkeypatch.setenv(name, value)
    env = environment.Environment()
    return env.mail_server(public_url="https://watch.example", task_timeout=30)


@pytest.mark.parametrize(
    ("url", "place", "security", "password"),
    [
        ("smtp+tls://u:p%40ss%2F@mail.example", "mail.example:587", "tls", "p@ss/"),
        ("smtp+ssl://u:p@mail.example:4650", "mail.example:4650", "ssl", "p"),
        ("smtp://mail.example", "mail.example:25", "", ""),
        ("smtp://u:p@127.0.0.1:1025", "127.0.0.1:1025", "", "p"),
    ],
)
def test_the_address_of_a_mail_server_is_parsed(monkeypatch, url, place, security, password):
    found = read(monkeypatch, url)

    assert (found.place, found.security, found.password) == (place, security, password)
    assert found.sender == "tweetwatch@watch.example"
    assert read(monkeypatch, "") is None


@pytest.mark.parametrize(
    ("url", "given", "why"),
    [
        ("http://u:hunter2@mail.example", {}, "must begin with one of smtp+tls, smtp+ssl, smtp"),
        ("smtp://u:hunter2@mail.example", {}, "would send the password unencrypted"),
        ("smtp+tls://u:hunter2@mail.example:x", {}, "is not the address of a mail server"),
        ("smtp+tls://u:hunter2@mail.example/?a=b", {}, "is not the address of a mail server"),
        ("smtp+tls://hunter2@mail.example", {}, "has a user name without a password"),
        ("smtp://mail.example", {"EMAIL_FROM": "nobody"}, "EMAIL_FROM is not an e-mail address"),
        ("smtp://mail.example", {"EMAIL_TIMEOUT": "20"}, "more than half of TASK_TIMEOUT"),
    ],
)
def test_a_bad_mail_server_is_refused_without_showing_the_password(monkeypatch, url, given, why):
    with pytest.raises(ImproperlyConfigured) as refused:
        read(monkeypatch, url, **given)

    assert why in str(refused.value)
    assert "hunter2" not in str(refused.value)
