"""`manage.py stream` beside the clusters, with a database of its own on the same Postgres.

What it tracks is looked up by nobody, so that the books of look-ups are what they would be without
it. A post that a rule of it matches is stored, or lies in a gap.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass

from tests.chaos.ground import ROLE, wait_until
from tests.chaos.supervised import Supervised

DATABASE, TOKEN = "streamed", "listener"
STREAM = "/2/tweets/search/stream"
RULES = f"{STREAM}/rules"
FREE = {"token": None, "app": None, "project": None, "window": 900}
LIMITS = dict.fromkeys((f"GET {STREAM}", f"GET {RULES}", f"POST {RULES}"), FREE)
AT_ONCE = {"usual_ms": 20, "late_share": 0, "very_late_share": 0}
# Posts a second, all of them for the rule.
RATE = 20
SETTINGS = {
    "STREAM_SILENCE": "3",
    "STREAM_RULES_EVERY": "2",
    "STREAM_LATE_BY": "2",
    "STREAM_ACTS_AFTER": "2",
}
GAPS = "SELECT from_id, to_id, why FROM trackers_gap"


@dataclass(frozen=True, slots=True)
class Streamed:
    """`posts`: those that appeared; `gaps`: from, to and why; `rules`: X's at the end; `exits`: of
    processes that nobody had killed; `stopped`: the exit status of the last one."""

    posts: frozenset[int]
    stored: frozenset[int]
    gaps: list[tuple[int, int, str]]
    rules: int
    exits: list[int]
    stopped: int | None

    @property
    def missing(self):
        return {
            id
            for id in self.posts - self.stored
            if not any(begins < id < ends for begins, ends, _ in self.gaps)
        }

    @property
    def figures(self):
        elsewhere = len(self.posts - self.stored) - len(self.missing)
        return {
            "posts": len(self.posts),
            "stored": len(self.stored),
            "in gaps": elsewhere,
            "gaps": len(self.gaps),
        }

    def differs(self, *, rule_was_away):
        collected = []
        if rule_was_away and not any(why == "rule" for _, _, why in self.gaps):
            collected.append("a rule was away, and no gap says so")
        if self.rules != 1:
            collected.append(f"X has {self.rules} rules at the end, not 1")
        if self.exits or self.stopped != 0:
            collected.append(f"it ended with {self.exits}, and with {self.stopped} when told")
        return collected


class Listener(Supervised):
    command = ("stream",)

    def __init__(self, ground):
        self.ground, self.x, self.exits = ground, ground.x, []
        super().__init__(ground.directory / "stream.log")

    def prepare(self):
        with self.ground.postgres.connect() as admin:
            admin.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
        self.manage("migrate", "-v", "0")
        secret = json.dumps({"bearer_token": TOKEN})
        self.manage("credential", "add", "listener", "--kind", "bearer", stdin=secret)
        self.manage("source", "add", "stream", "#moon")
        self.x.put("limits", LIMITS)
        self.x.put("stream", {"rule_delay_s": 0.5, "keepalive_s": 0.5})

    def manage(self, *arguments, stdin=""):
        self.ground.manage(*arguments, stdin=stdin, database=DATABASE)

    def start(self):
        super().start()
        wait_until(lambda: self.state() == "open", within=60, what="the stream is open")

    def environment(self):
        return self.ground.environment | self.ground.reached(DATABASE) | SETTINGS

    def release(self, seconds):
        """Let posts appear, until so many seconds from now."""
        known = self.x.get("authors")["authors"]
        authors = [one["id"] for one in known if one["steady"]][:5]
        flow = {"authors": authors, "tags": ["moon"], "tagged": 1, "lag": AT_ONCE}
        self.x.tell("POST", "posts", {**flow, "rate": RATE, "count": int(RATE * seconds)})

    def note_end(self, status):
        if self.wanted and not self.expected:
            self.exits.append(status)

    def kill(self):
        """Whether there was one."""
        process = self.process
        if process is None:
            return False
        self.expected = True
        process.kill()
        return True

    def state(self):
        found = self.ground.postgres.rows("SELECT state FROM trackers_stream", to=DATABASE)
        return found[0][0] if found else ""

    def stop(self, within, *, open_within):
        """What is left of it, once it has ended."""
        wait_until(lambda: self.state() == "open", within=open_within, what="the stream is open")
        rules = self.rules()
        with self.lock:
            process, self.wanted = self.process, False
        process.send_signal(signal.SIGTERM)
        stopped = process.wait(within)
        rows = self.ground.postgres.rows
        return Streamed(
            posts=frozenset(int(post["id"]) for post in self.x.get("visible")["posts"]),
            stored=frozenset(
                id for (id,) in rows("SELECT tweet_id FROM trackers_sourcetweet", to=DATABASE)
            ),
            gaps=rows(GAPS, to=DATABASE),
            rules=rules,
            exits=self.exits,
            stopped=stopped,
        )

    def rules(self):
        """How many X has for the app."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        reply = self.x.session.get(self.x.url + RULES, headers=headers, timeout=10)
        return len(reply.json().get("data", ()))

    def end(self):
        self.wanted = False
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
