"""Every page that links lead to, signed in: each form is sent, each filter used, with odd values.

Each field gets one, together with some others of its form; in `make test-more`, by itself. Whatever
comes, the answer is one that was meant: no 5xx, and no traceback in the log. Each request is
undone, so that the pages stay as they are, and what is sent does not depend on what was.
"""

import re
from collections import defaultdict
from html.parser import HTMLParser
from itertools import chain, count
from urllib.parse import parse_qsl, quote, quote_from_bytes, urlencode, urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT
from django.urls import Resolver404, resolve

from tests.api.conftest import end
from tests.pages.browser.test_axe import filled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pages_only_read")]

ODD = [
    ("empty", b""),
    ("blank", b" \t\r\n"),
    ("long", b"a" * 9000),
    ("wide", "é😀".encode() * 400),
    ("NUL", b"a\x00b"),
    ("not UTF-8", b"\xff\xfe\x80"),
    ("a lone surrogate", b"\xed\xa0\x80"),
    ("no date", b"2026-02-30"),
    ("the last day", b"9999-12-31T23:59:59.999999Z"),
    ("the first day", b"0001-01-01"),
    ("negative", b"-1"),
    ("beyond 32 bits", b"2147483648"),
    ("beyond 64 bits", b"9223372036854775808"),
    ("huge", b"9" * 60),
    ("beyond all", b"9" * 5000),
    ("infinite", b"1e999"),
    ("no number", b"NaN"),
    ("digits of others", "١٢٣".encode()),
    ("markup", b"\"'><script>"),
    ("a list", b"1,-1,,x"),
    ("JSON", b'[{"a":null}]'),
    ("an address", b"https://[::1:x/"),
    ("a pattern", b"(%*?\\"),
    ("far", b"999999999d"),
    ("missing", None),
    ("an array", b""),
]
# These end the session, or show the password's form, which has tests of its own.
LEFT_OUT = re.compile(r"logout|password|jsi18n")
# Of what differs in nothing but ids and choices this many addresses; of a page in all.
MOST_ALIKE, MOST_OF_A_PAGE = 2, 6


class Form:
    def __init__(self, attributes, page):
        self.method = (attributes.get("method") or "get").upper()
        self.action = urljoin(page, attributes.get("action") or page)
        self.is_multipart = "multipart" in (attributes.get("enctype") or "")
        self.fields = {}
        self.files = set()


class PageReader(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, page):
        super().__init__()
        self.page, self.links, self.forms, self.by_id = page, [], [], {}
        self.form = self.choice = None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        for name in ("href", "hx-get"):
            if tag in ("a", "link") or name == "hx-get":
                self.links += [attributes[name]] if attributes.get(name) else []
        if tag == "form":
            self.form = self.form_of(attributes.get("id"), attributes)
            self.forms.append(self.form)
        elif tag in ("input", "select", "textarea", "button") and attributes.get("name"):
            self.add_field(tag, attributes)
        elif tag == "option" and self.choice:
            form, name = self.choice
            if "selected" in attributes or not form.fields[name]:
                form.fields[name] = (attributes.get("value") or "").encode()

    def form_of(self, id, attributes):
        form = Form(attributes, self.page)
        if id and id in self.by_id:
            form.fields, form.files = self.by_id[id].fields, self.by_id[id].files
        if id:
            self.by_id[id] = form
        return form

    def add_field(self, tag, attributes):
        form = self.form
        if id := attributes.get("form"):
            # It may stand before its form.
            form = self.by_id.setdefault(id, Form({}, self.page))
        if form is None or attributes["name"] == "csrfmiddlewaretoken":
            return
        name, value = attributes["name"], (attributes.get("value") or "").encode()
        kind = attributes.get("type")
        if kind == "file":
            form.files.add(name)
        elif (
            kind not in ("checkbox", "radio") or "checked" in attributes or name not in form.fields
        ):
            if tag == "button" and name in form.fields:
                return
            form.fields[name] = value
        if tag == "select":
            self.choice = form, name

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None
        elif tag == "select":
            self.choice = None


class Crawler:
    def __init__(self, client, caplog, *, most):
        self.client, self.caplog, self.most = client, caplog, most
        self.faults, self.asked, self.alike = {}, 0, defaultdict(set)
        self.turns = count()

    def ask(self, what, method, address, body=b"", kind="application/x-www-form-urlencoded"):
        """What is answered; whatever it did is undone, and the session stays."""
        cookies = {name: one.value for name, one in self.client.cookies.items()}
        self.caplog.clear()
        self.asked += 1
        with transaction.atomic():
            answer = self.client.generic(method, address, body, content_type=kind, secure=True)
            content = b"" if answer.streaming else answer.content
            if answer.streaming:
                # As far as it goes: an error in the middle is one, too.
                content = b"".join(answer.streaming_content)
            end(answer)
            transaction.set_rollback(True)
        self.client.cookies.clear()
        self.client.cookies.load(cookies)
        # Django has a record with a traceback of what it refuses; ours leave that out.
        traces = [
            record.getMessage()
            for record in self.caplog.records
            if record.exc_info and not record.name.startswith("django.security.")
        ]
        if answer.status_code >= 500 or traces:
            self.faults[what] = (method, address[:300], body[:300], answer.status_code, traces[:1])
        return answer, content

    def walk(self, first):
        waiting = [first]
        while waiting:
            address = waiting.pop(0)
            answer, content = self.ask(f"GET {address}", "GET", address)
            if 300 <= answer.status_code < 400:
                waiting += self.news(address, [answer["Location"]])
            if not answer.get("Content-Type", "").startswith("text/html"):
                continue
            page = PageReader(address)
            page.feed(content.decode())
            waiting += self.news(address, page.links)
            for form in page.forms:
                self.send_all(form)

    def news(self, page, links):
        """Those of ours that are not like enough others, each with its filters tried."""
        for link in links:
            url = urlsplit(urljoin(f"https://testserver{page}", link))
            route = route_of(url.path)
            if url.netloc != "testserver" or LEFT_OUT.search(url.path) or route is None:
                continue
            filters = dict(parse_qsl(url.query, keep_blank_values=True))
            # The way back to a list of the admin.
            filters.pop("_changelist_filters", None)
            address = f"{url.path}?{urlencode(filters)}" if filters else url.path
            alike, of_page = self.alike[route, tuple(sorted(filters))], self.alike[route]
            is_known = address in of_page or len(of_page) >= MOST_OF_A_PAGE
            if is_known or len(alike) >= MOST_ALIKE:
                continue
            alike.add(address)
            of_page.add(address)
            yield address
            if filters and len(alike) == 1:
                form = Form({"method": "get"}, url.path)
                form.fields = {name: value.encode() for name, value in filters.items()}
                self.send_all(form)

    def send_all(self, form):
        url = urlsplit(form.action)
        if url.netloc not in ("", "testserver") or LEFT_OUT.search(url.path):
            return
        names = tuple(sorted({*form.fields, *form.files}))
        alike = self.alike[form.method, route_of(url.path), names]
        if alike:
            return
        alike.add(form.action)
        what = f"{form.method} {route_of(url.path)}"
        self.send(f"{what}, as it is", form, form.fields.items())
        groups = len(form.fields) if self.most is None else min(self.most, len(form.fields))
        for first in range(groups):
            pairs, labels = [], []
            for place, (name, value) in enumerate(form.fields.items()):
                if place % groups != first:
                    pairs.append((name, value))
                    continue
                label, values = self.odd(name)
                labels.append(f"{name}: {label}")
                pairs += values
            self.send(f"{what}, {', '.join(labels)}", form, pairs)

    def odd(self, name):
        """The odd value whose turn it is, as pairs."""
        label, value = ODD[next(self.turns) % len(ODD)]
        if label == "an array":
            return label, [(name, b"1"), (name, b"x"), (f"{name}[]", b"-1")]
        return label, [] if value is None else [(name, value)]

    def send(self, what, form, pairs):
        if form.method == "GET":
            path = urlsplit(form.action).path
            self.ask(what, "GET", f"{path}?{encoded(pairs).decode()}")
        elif form.is_multipart:
            self.ask(what, "POST", form.action, parts(pairs, form.files), MULTIPART_CONTENT)
        else:
            self.ask(what, "POST", form.action, encoded(pairs))


def route_of(path):
    try:
        return resolve(path).route
    except Resolver404:
        return None


def encoded(pairs):
    return "&".join(f"{quote(name)}={quote_from_bytes(value)}" for name, value in pairs).encode()


def parts(pairs, files):
    """A body with the fields, and a file in each place for one."""
    head = 'Content-Disposition: form-data; name="%s"%s'
    fields = [(head % (name, ""), value) for name, value in pairs]
    fields += [(head % (name, '; filename="a\\"b.csv"'), dict(ODD)["not UTF-8"]) for name in files]
    body = b"".join(
        f"--{BOUNDARY}\r\n{line}\r\n\r\n".encode() + value + b"\r\n" for line, value in fields
    )
    return body + f"--{BOUNDARY}--\r\n".encode()


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("most", [4, pytest.param(None, marks=pytest.mark.more)])
def test_no_form_and_no_filter_is_answered_with_an_error_of_ours(settings, caplog, most):
    settings.SECURE_SSL_REDIRECT = False
    user = User.objects.create_superuser("ada", "", "a password of no account")
    client = Client(raise_request_exception=False)
    client.force_login(user)
    crawler = Crawler(client, caplog, most=most)

    for first in chain(filled(user), ["/admin/", "/api/v1/docs"]):
        crawler.walk(first)

    assert crawler.faults == {}
    assert crawler.asked > 400
