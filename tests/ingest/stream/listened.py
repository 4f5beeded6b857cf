"""The stream as `manage.py stream` runs it, in this process, against the fake X over HTTP."""

import threading
from datetime import timedelta

import requests

from tests.factories import CredentialFactory
from tests.flows.streaming import AT_ONCE, FREE, STREAMING
from tests.x import wait_until
from trackers.ingest.sources import life
from trackers.ingest.sources.models import Source
from trackers.ingest.stream import lease as stream_lease
from trackers.ingest.stream.lease import Lease
from trackers.ingest.stream.listeners import wanted_now
from trackers.ingest.stream.listening import Listening
from trackers.ingest.stream.requests import Asker, payer
from trackers.ingest.stream.rules import synchronise
from trackers.ingest.stream.settings import Margins, RuleAsking, Settings
from trackers.ingest.stream.synced import Synced
from tweetwatch.database import cursor

RULES_PATH = "/2/tweets/search/stream/rules"
RULES, CHANGE = f"GET {RULES_PATH}", f"POST {RULES_PATH}"
A_SECOND = timedelta(seconds=1)


class Listened:
    """Small margins, and no limits of X's."""

    def __init__(self, x):
        self.x, self.messages = x, []
        CredentialFactory(name="one")
        x.delete("projects")
        x.put("limits", dict.fromkeys(STREAMING, FREE))
        x.put("stream", {"rule_delay_s": 0, "keepalive_s": 0.05})
        asking = RuleAsking(x.url, 5 * A_SECOND, 5 * A_SECOND, rules_every=A_SECOND / 5)
        self.settings = Settings(asking, Margins(A_SECOND, A_SECOND))
        self.start()

    def start(self):
        """As a process that has just begun, and knows what the database tells it."""
        with cursor() as db:
            db.execute("UPDATE trackers_stream SET lease = NULL")
        self.listening = Listening(self.settings, log=self.messages.append)
        self.lease = stream_lease.take_lease(self.settings.lease)
        assert isinstance(self.lease, Lease)
        self.synced = Synced()

    def source(self, rule):
        made = Source(kind="stream", of=rule, late_by=A_SECOND)
        life.add_source(made)
        return made

    def sources(self):
        return list(Source.objects.order_by("pk"))

    def once(self):
        """Connect, and listen until X ends it."""
        return self.listening.once(self.lease)

    @property
    def asker(self):
        return Asker(self.settings, self.lease, payer())

    def synchronise(self):
        """Make X's rules those of the sources."""
        self.synced = synchronise(wanted_now(), self.asker, self.synced)
        return self.synced

    def rules(self):
        """X's, as it tells them: the tag of each by its value."""
        told = self.ask("GET").get("data", [])
        return {rule["value"]: rule.get("tag") for rule in told}

    def ask(self, method, **body):
        """As another program of the same app does."""
        with requests.Session() as session:
            session.trust_env = False
            reply = session.request(
                method,
                self.x.url + RULES_PATH,
                json=body or None,
                headers={"Authorization": "Bearer token-of-one"},
                timeout=10,
            )
        return reply.json()

    def when_it_heard(self, lines, act):
        """A thread that acts as soon as X has sent so many lines."""

        def wait():
            wait_until(lambda: any(one["lines"] >= lines for one in self.x.get("stream")["open"]))
            act()

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    def when_it_opened(self, act):
        """A thread that acts as soon as X has an open connection."""

        def wait():
            wait_until(lambda: self.x.get("stream")["open"])
            act()

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    def asked(self, endpoint):
        return [entry for entry in self.x.log() if entry["endpoint"] == endpoint]

    def release(self, tag, **flow):
        """Let posts appear at once."""
        known = self.x.get("authors")["authors"]
        authors = [one["id"] for one in known if one["steady"]][:5]
        given = {"authors": authors, "tags": [tag], "tagged": 1, "lag": AT_ONCE, "count": 20}
        self.x.tell("POST", "posts", {**given, **flow})
