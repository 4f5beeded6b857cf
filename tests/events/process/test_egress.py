"""Which addresses are called, and that what was looked at is what is connected to."""

import socket
import threading
from datetime import timedelta
from ipaddress import ip_address, ip_network

import pytest

from tests.authority import Authority
from tests.events.process.test_post import LOOPBACK, PATIENT, deliver, outgoing
from tests.events.receivers import Receiver, answers
from trackers.events.delivery.addresses import fault_of, refusal
from trackers.events.delivery.egress import Egress

REFUSED = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1
    169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.0.170 192.0.2.1 192.88.99.1
    192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255
    240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:10.0.0.1
    64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1:: 2001:2::1
    2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:808:808:: 3ffe::1 3fff::1 4000::1 5f00::1
    fc00::1 fd12:3456::1 fe80::1 fe80::1%1 2a00:1450:4001:827::200e%1 fec0::1 ff02::1 ff0e::1
"""
PUBLIC = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 223.255.255.255
    2001:4860:4860::8888 2606:4700::1111 2a00:1450:4001:827::200e 2003::1 2400::1
"""


def test_only_public_addresses_are_called():
    refused, public = REFUSED.split(), PUBLIC.split()

    sentence = {address: refusal(ip_address(address)) for address in (*refused, *public)}

    assert [
        address for address in refused if " is not a public address, but " not in sentence[address]
    ] == []
    assert [address for address in public if sentence[address]] == []


def test_of_private_networks_only_the_allowed_one_is_called():
    allowed = (ip_network("10.1.0.0/16"), ip_network("fd00::/8"))

    assert not refusal(ip_address("10.1.2.3"), allowed)
    assert not refusal(ip_address("fd00::7"), allowed)
    assert refusal(ip_address("10.2.0.1"), allowed)
    assert refusal(ip_address("::ffff:10.1.2.3"), allowed)


@pytest.mark.parametrize(
    "callback",
    [
        "http://a.example/",
        "ftp://a.example/",
        "//a.example/",
        "a.example",
        "https:///path",
        "https://",
        "https://a.example:port/",
        "https://a.example:0/",
        "https://[::1/",
        "https://someone:hush@a.example/",
        "https://@a.example/",
        "",
    ],
)
def test_a_malformed_address_is_refused_before_its_name_is_resolved(callback):
    assert fault_of(callback, plain_http=False)


def test_http_is_called_where_it_is_allowed():
    assert fault_of("http://a.example/", plain_http=True) == ""
    assert fault_of("https://a.example:8443/x?y=1", plain_http=False) == ""


HERE = """
    127.0.0.1 localhost 0.0.0.0 127.1 0x7f.1 2130706433 0177.0.0.1 127.0.0.1. [::1]
    [::ffff:127.0.0.1] １２７.０.０.１
"""


def test_this_machine_is_not_called_in_any_spelling():
    receiver = Receiver(answers())

    ended = deliver(
        *(outgoing(receiver.at(host)) for host in HERE.split()), egress=Egress(plain_http=True)
    )

    assert receiver.connections == 0
    assert [(one.delivered, one.status) for one in ended] == [(False, None)] * len(HERE.split())
    assert all(one.error for one in ended)


class Names:
    """What names stand for, look-up by look-up; the last answer stays."""

    def __init__(self, monkeypatch, **answers):
        self.answers = {name.replace("_", "."): [*found] for name, found in answers.items()}
        self.asked = []
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, host, port, *_, **__):
        self.asked.append(host)
        left = self.answers[host]
        addresses = left.pop(0) if len(left) > 1 else left[0]
        if callable(addresses):
            addresses()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in addresses
        ]


def test_one_refused_address_among_several_refuses_the_delivery(monkeypatch):
    receiver = Receiver(answers())
    Names(monkeypatch, a_example=[["127.0.0.1", "10.0.0.1"]])

    [one] = deliver(outgoing(receiver.at("a.example")))

    assert one.error == (
        "Its name resolves to an address that is not allowed: "
        "10.0.0.1 is not a public address, but private; EGRESS_ALLOW does not list it."
    )
    assert receiver.connections == 0


def test_the_checked_address_is_called_even_if_the_name_changes(monkeypatch):
    receiver = Receiver(answers())
    names = Names(monkeypatch, a_example=[["127.0.0.1"], ["169.254.169.254"]])

    [first] = deliver(outgoing(receiver.at("a.example")))
    [second] = deliver(outgoing(receiver.at("a.example")))

    assert first.delivered
    assert "169.254.169.254 is not a public address" in second.error
    assert names.asked == ["a.example", "a.example"]
    assert receiver.got[0].headers["host"] == f"a.example:{receiver.port}"


def test_the_certificate_is_verified_for_the_name_not_the_address(monkeypatch, tmp_path):
    authority = Authority(tmp_path)
    good = Receiver(answers(), certificate=authority.certify("a.example"))
    other = Receiver(answers(), certificate=authority.certify("b.example"))
    Names(monkeypatch, a_example=[["127.0.0.1"]])
    egress = Egress(LOOPBACK, ca_file=str(authority.file))

    there = [outgoing(one.at("a.example")) for one in (good, other)]
    taken, refused = deliver(*there, egress=egress)

    assert taken.delivered
    assert "ostname mismatch" in refused.error


def test_a_silent_name_server_delays_only_its_own_name(monkeypatch):
    receiver, release = Receiver(answers()), threading.Event()
    quiet = {f"quiet{number}_example": [release.wait] for number in range(40)}
    Names(monkeypatch, a_example=[["127.0.0.1"]], **quiet)
    many = [outgoing(receiver.at(name.replace("_", "."))) for name in quiet]

    *silent, good = deliver(*many, outgoing(receiver.at("a.example")), connect=timedelta(seconds=1))
    release.set()

    assert good.delivered
    assert not any(one.delivered for one in silent)
    assert max(one.took for one in silent) < PATIENT
