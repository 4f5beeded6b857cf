"""Which addresses of Apprise's a channel takes; they are judged without Apprise."""

import re

import pytest

from tests.channels.apprise_addresses import ADDRESSES
from trackers.channels.by_apprise.schemes import SCHEMES
from trackers.channels.shapes import SHAPES

APPRISE = SHAPES["apprise"]


def is_taken(address):
    return re.fullmatch(APPRISE.part("url").pattern, address) is not None


def test_all_schemes_that_are_listed_are_taken():
    assert ADDRESSES.keys() == SCHEMES.keys()
    assert all(is_taken(address) for address in ADDRESSES.values())
    assert is_taken("Gotifys://push.example/token")


@pytest.mark.parametrize(
    "address",
    [
        "dbus://", "gnome://", "syslog://", "windows://", "macosx://", "blink1://",
        "mqtt://host/topic", "irc://host/room", "xmpp://user:x@host", "smpp://u:p@host/1/2",
        "rsyslog://host", "growl://host", "mailto://u:p@host", "file:///etc/apprise.yml",
        "include://other", "json://host", "xml://host", "form://host", "apprise://host/token",
        "https://discord.com/api/webhooks/1/x", "gotify:host", "gotify://", "",
        "gotify://host/a token", "gotify://host/token, mqtt://host", "gotify://host/t\nmqtt://h",
    ],
)  # fmt: skip
def test_all_others_are_refused(address):
    assert not is_taken(address)


def test_people_see_the_scheme_alone():
    for scheme, address in ADDRESSES.items():
        assert APPRISE.shown({"url": address}) == f"{scheme}://…"
