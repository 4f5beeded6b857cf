"""X itself: takes one request apart and answers it, with no HTTP server in it.

request ─> endpoint ─> caller ─> faults ─> windows ─> body
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from trackers.fakex import problems
from trackers.fakex.auth import BAD_BEARER, NO_CREDENTIALS, Caller, Credentials
from trackers.fakex.fault_replies import fault_reply
from trackers.fakex.faults import BODY_KINDS, Faults, Script
from trackers.fakex.log import Log
from trackers.fakex.replies import Reply, problem, v1_problem
from trackers.fakex.requests_v2 import USERNAME, Ask, Invalid, Reader, Shape
from trackers.fakex.settings import Settings
from trackers.fakex.windows import Budget, Windows
from trackers.fakex.wire_users import users_body
from trackers.fakex.wire_v1 import Lookup, lookup_body, read_lookup
from trackers.fakex.wire_v2 import TweetWriter
from trackers.fakex.world import World

TWEETS, USERS, USERS_BY = "GET /2/tweets", "GET /2/users", "GET /2/users/by"
LOOKUP = "GET /1.1/statuses/lookup"
ROUTES = {
    ("GET", "/2/tweets"): TWEETS,
    ("GET", "/2/users"): USERS,
    ("GET", "/2/users/by"): USERS_BY,
    ("GET", "/1.1/statuses/lookup.json"): LOOKUP,
    ("POST", "/1.1/statuses/lookup.json"): LOOKUP,
}
MOST_IDS_V1 = 100


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to X; `target` is path and query, `form` a POST's urlencoded body."""

    method: str
    endpoint: str
    target: str
    query: str
    authorization: str | None
    form: str = ""


class X:
    """Everything the fake knows and everything that can be set; one of these a process."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.settings = settings
        self.credentials = Credentials(settings.canonical_base)
        self.windows, self.script, self.log = Windows(), Script(), Log()
        self._readers = {
            TWEETS: Reader("ids"),
            USERS: Reader("ids"),
            USERS_BY: Reader("usernames", USERNAME),
        }
        self.world = world
        self._writer = lru_cache(maxsize=8)(self._new_writer)

    def replace_world(self, world: World) -> None:
        """Live in another version of the world from now on."""
        if world.nature != self.world.nature:
            self._writer.cache_clear()
        self.world = world

    def caller(self, request: Request) -> Caller | Reply:
        """Who asks, or the refusal, which like X's has no rate headers."""
        known = self.credentials.identify(
            request.authorization,
            method=request.method,
            path_and_query=request.target,
            form=request.form,
        )
        if isinstance(known, Caller):
            return known
        if request.endpoint != LOOKUP:
            return problem(401, problems.UNAUTHORIZED)
        if known == NO_CREDENTIALS:
            return v1_problem(400, 215)
        return v1_problem(401, 89 if known == BAD_BEARER else 32)

    def read(self, request: Request) -> Ask | Lookup | Invalid:
        if request.endpoint == LOOKUP:
            return _read_lookup(request)
        try:
            return self._readers[request.endpoint].read(request.query)
        except Invalid as invalid:
            return invalid

    def answer(
        self,
        request: Request,
        ask: Ask | Lookup | Invalid,
        caller: Caller,
        *,
        faults: Faults,
        now_ms: int,
    ) -> Reply:
        """The reply to a request of a known caller, computed for the instant `now_ms`.

        A fault comes before the windows and costs nothing, as X counts no failed request.
        """
        rule = faults.reply
        if rule and rule.kind in BODY_KINDS:
            return fault_reply(
                rule,
                request.endpoint,
                budget=self._budget(request, caller, now_ms, cost=0),
                now_ms=now_ms,
                host=self.settings.problem_host,
            )
        budget = self._budget(request, caller, now_ms, cost=1)
        if budget and budget.refused:
            reply = self._over_window(request.endpoint)
        elif isinstance(ask, Invalid):
            reply = self._invalid(request.endpoint, ask)
        else:
            reply = self._found(request.endpoint, ask, faults, now_ms)
        reply.budget = budget
        return reply

    def _budget(self, request: Request, caller: Caller, now_ms: int, *, cost: int) -> Budget | None:
        return self.windows.admit(
            caller,
            request.endpoint,
            now_ms=now_ms,
            clock_speed=self.world.clock.speed,
            cost=cost,
        )

    def _over_window(self, endpoint: str) -> Reply:
        self.log.totals.over_window += 1
        return v1_problem(429, 88) if endpoint == LOOKUP else problem(429, problems.TOO_MANY)

    def _invalid(self, endpoint: str, invalid: Invalid) -> Reply:
        if endpoint != LOOKUP:
            host = self.settings.problem_host
            return problem(400, problems.invalid_request(invalid.complaints, host))
        return v1_problem(403, 18) if invalid.ids else v1_problem(404, 17)

    def _found(self, endpoint: str, ask: Ask | Lookup, faults: Faults, now_ms: int) -> Reply:
        world, host = self.world, self.settings.problem_host
        moment, faulted = world.moment(now_ms), faults.answers
        if isinstance(ask, Lookup):
            body, tweets = lookup_body(ask, world=world, moment=moment, faulted=faulted)
        elif endpoint == TWEETS:
            writer = self._writer(ask.shape)
            body, tweets = writer.write(
                ask.ids, world=world, moment=moment, host=host, faulted=faulted
            )
        else:
            parameter = "ids" if endpoint == USERS else "usernames"
            body = users_body(ask, parameter, world=world, moment=moment, host=host)
            return Reply(200, body)
        return Reply(200, body, answered=True, tweets=tweets, faulted=faulted)

    def _new_writer(self, shape: Shape) -> TweetWriter:
        return TweetWriter(shape, keep=self.settings.keep)


def _read_lookup(request: Request) -> Lookup | Invalid:
    lookup = read_lookup(request.query, request.form)
    if lookup is None:
        return Invalid([])
    return Invalid([], lookup.ids) if len(lookup.ids) > MOST_IDS_V1 else lookup
