"""X itself: takes one request apart and answers it, with no HTTP server in it.

request ─> endpoint ─> caller ─> faults ─> windows ─> body ─> bill
"""

from __future__ import annotations

from functools import lru_cache

from trackers.fakex import problems
from trackers.fakex.auth import BAD_BEARER, NO_CREDENTIALS, Credentials
from trackers.fakex.billing import Short
from trackers.fakex.callers import Caller
from trackers.fakex.endpoints import (
    LOOKUP,
    TOKEN,
    TWEETS,
    USAGE,
    USERS,
    USERS_BY,
    Request,
)
from trackers.fakex.fault_replies import fault_reply
from trackers.fakex.faults import BODY_KINDS, Faults, Rule, Script
from trackers.fakex.ledger import Ledger
from trackers.fakex.log import Log
from trackers.fakex.replies import Reply, problem, v1_problem
from trackers.fakex.requests_v2 import USERNAME, Ask, Invalid, Reader, Shape
from trackers.fakex.settings import Settings
from trackers.fakex.usage import UsageAsk, read_usage, usage_body
from trackers.fakex.windows import Budget, Scope, Windows
from trackers.fakex.wire_users import users_body
from trackers.fakex.wire_v1 import Lookup, lookup_body, read_lookup
from trackers.fakex.wire_v2 import TweetWriter
from trackers.fakex.world import World

MOST_IDS_V1 = 100
NOTHING = Ask([], Shape())


class X:
    """Everything the fake knows and everything that can be set; one of these a process."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.settings = settings
        self.credentials = Credentials(settings.canonical_base)
        self.windows, self.script, self.log = Windows(), Script(), Log()
        self.ledger = Ledger()
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

    def caller(self, request: Request, *, now_ms: int) -> Caller | Reply:
        """Who asks, or the refusal, which like X's has no rate headers."""
        if request.endpoint == TOKEN:
            return self.credentials.grants.holder(request.form, request.authorization)
        known = self.credentials.identify(
            request.authorization,
            method=request.method,
            path_and_query=request.target,
            form=request.form,
            now_ms=now_ms,
        )
        if isinstance(known, Caller):
            return known
        if request.endpoint != LOOKUP:
            return problem(401, problems.UNAUTHORIZED)
        if known == NO_CREDENTIALS:
            return v1_problem(400, 215)
        return v1_problem(401, 89 if known == BAD_BEARER else 32)

    def read(self, request: Request) -> Ask | Lookup | UsageAsk | Invalid:
        if request.endpoint == LOOKUP:
            return _read_lookup(request)
        if request.endpoint == TOKEN:
            return NOTHING
        try:
            if request.endpoint == USAGE:
                return read_usage(request.query)
            return self._readers[request.endpoint].read(request.query)
        except Invalid as invalid:
            return invalid

    def answer(
        self,
        request: Request,
        ask: Ask | Lookup | UsageAsk | Invalid,
        caller: Caller,
        *,
        faults: Faults,
        now_ms: int,
    ) -> Reply:
        """The reply to a request of a known caller, computed for the instant `now_ms`.

        A fault comes before the windows and costs nothing, as X counts no failed request; it is
        still noted when the window had no room for the request.
        """
        rule = faults.reply
        if rule and rule.kind in BODY_KINDS:
            return self._failed(rule, request.endpoint, caller, now_ms)
        budget = self._budget(request.endpoint, caller, now_ms, cost=1)
        if budget and budget.full:
            reply = self._over_window(request.endpoint, budget.full)
        elif rule and rule.kind == "reset":
            reply = Reply(0, b"")
        elif isinstance(ask, Invalid):
            reply = self._invalid(request.endpoint, ask)
        elif isinstance(ask, UsageAsk):
            reply = self._usage(ask, caller, now_ms)
        elif request.endpoint == TOKEN:
            reply = self.credentials.grants.rotate(request.form, now_ms=now_ms)
        else:
            reply = self._found(request.endpoint, ask, caller, faults, now_ms)
        reply.budget = budget
        return reply

    def _failed(self, rule: Rule, endpoint: str, caller: Caller, now_ms: int) -> Reply:
        budget = self._budget(endpoint, caller, now_ms, cost=0)
        if budget and budget.full:
            self.log.totals.over_window[budget.full] += 1
        host = self.settings.problem_host
        return fault_reply(rule, endpoint, budget=budget, now_ms=now_ms, host=host)

    def _budget(self, endpoint: str, caller: Caller, now_ms: int, *, cost: int) -> Budget | None:
        speed = self.world.clock.speed
        return self.windows.admit(caller, endpoint, now_ms=now_ms, clock_speed=speed, cost=cost)

    def _over_window(self, endpoint: str, full: Scope) -> Reply:
        self.log.totals.over_window[full] += 1
        is_old = endpoint == LOOKUP
        reply = v1_problem(429, 88) if is_old else problem(429, problems.TOO_MANY)
        reply.refused_for = full
        return reply

    def _invalid(self, endpoint: str, invalid: Invalid) -> Reply:
        if endpoint != LOOKUP:
            host = self.settings.problem_host
            return problem(400, problems.invalid_request(invalid.complaints, host))
        return v1_problem(403, 18) if invalid.ids else v1_problem(404, 17)

    def _found(
        self, endpoint: str, ask: Ask | Lookup, caller: Caller, faults: Faults, now_ms: int
    ) -> Reply:
        world, host = self.world, self.settings.problem_host
        moment, faulted, ledger = world.moment(now_ms), faults.answers, self.ledger
        if isinstance(ask, Lookup):
            # v1.1 was never sold by the post.
            body, tweets = lookup_body(ask, world=world, moment=moment, faulted=faulted)
            return Reply(200, body, answered=True, tweets=tweets, faulted=faulted)
        if endpoint == TWEETS:
            body, posts = self._writer(ask.shape).write(
                ask.ids, world=world, moment=moment, host=host, faulted=faulted
            )
            reply = Reply(200, body, answered=True, tweets=len(posts), faulted=faulted)
            bill = ledger.charge(caller, posts=posts, now_ms=now_ms)
        else:
            parameter = "ids" if endpoint == USERS else "usernames"
            body, people = users_body(ask, parameter, world=world, moment=moment, host=host)
            reply = Reply(200, body)
            users = [(endpoint, user_id) for user_id in people]
            bill = ledger.charge(caller, users=users, now_ms=now_ms)
        if isinstance(bill, str):
            return self._unpaid(bill)
        reply.bill = bill
        return reply

    def _unpaid(self, short: Short) -> Reply:
        """The refusal of a project that is short of its cap or of credits."""
        host = self.settings.problem_host
        if short == "cap":
            reply = problem(429, problems.usage_capped(host))
        elif self.settings.depleted == "credits":
            reply = problem(402, problems.credits(host))
        else:
            reply = problem(402, problems.credits_depleted(host))
        reply.refused_for = short
        return reply

    def _usage(self, ask: UsageAsk, caller: Caller, now_ms: int) -> Reply:
        if caller.kind != "bearer":
            used = f"OAuth {'1.0a' if caller.kind == 'oauth1' else '2.0'} User Context"
            host, instead = self.settings.problem_host, problems.APP_ONLY
            body = problems.unsupported_authentication(host, used=used, instead=instead)
            return problem(403, body)
        project, at_ms = self.ledger.project(caller.project), self.ledger.at(now_ms)
        numbers = self.settings.usage_numbers
        return Reply(200, usage_body(ask, project, at_ms=at_ms, numbers=numbers))

    def _new_writer(self, shape: Shape) -> TweetWriter:
        return TweetWriter(shape, keep=self.settings.keep)


def _read_lookup(request: Request) -> Lookup | Invalid:
    lookup = read_lookup(request.query, request.form)
    if lookup is None:
        return Invalid([])
    return Invalid([], lookup.ids) if len(lookup.ids) > MOST_IDS_V1 else lookup
