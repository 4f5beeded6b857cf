"""X itself: takes a request apart and answers it, without an HTTP server.

request ─> endpoint ─> caller ─> faults ─> windows ─> body ─> bill
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from urllib.parse import parse_qsl

import orjson

from fakex.account.billing import Short
from fakex.account.callers import Caller
from fakex.account.ledger import Ledger
from fakex.account.windows import Budget, Scope, Windows
from fakex.endpoints import (
    ALL_COUNTS,
    APP_ONLY,
    CHANGE_RULES,
    CONNECTIONS,
    CREDITS,
    END_CONNECTIONS,
    LOOKUP,
    ME,
    MENTIONS,
    RULE_COUNTS,
    RULES,
    SCOPES,
    TOKEN,
    TWEET,
    TWEETS,
    USER,
    USER_TWEETS,
    USERNAME,
    USERS,
    Request,
)
from fakex.faults.bodies import fault_reply
from fakex.faults.idleness import Idleness
from fakex.faults.script import BODY_KINDS, Faults, Rule, Script
from fakex.log import Log
from fakex.settings import Settings
from fakex.streams.connections import Opening
from fakex.streams.counted import end, listed
from fakex.streams.delivery import Streams
from fakex.streams.rules import read_change
from fakex.wire import problems
from fakex.wire.auth import BAD_BEARER, NO_CREDENTIALS, Credentials
from fakex.wire.counts import CountsAsk
from fakex.wire.lists import ListAsk, list_body
from fakex.wire.lookup_v1 import Lookup, lookup_body
from fakex.wire.pages import Pages, Refused
from fakex.wire.readers import Readers, Wish
from fakex.wire.replies import Reply, problem, single, v1_problem
from fakex.wire.requests_pages import PageAsk
from fakex.wire.requests_v2 import (
    Invalid,
    LookupAsk,
    NameAsk,
    Shape,
    StreamAsk,
)
from fakex.wire.tweets_v2 import TweetWriter
from fakex.wire.usage import UsageAsk, balance, usage_body
from fakex.wire.users import users_body
from fakex.world.clock import real_ms
from fakex.world.contents import newest_of
from fakex.world.feeds import Feeds
from fakex.world.seeded import Moment, World

_SINGLE = frozenset({TWEET, USER, ME, USERNAME})
# What users are asked for by; others are lists of names.
_USERS_BY = {USERS: "ids", USER: "id", ME: "id", USERNAME: "username"}


class X:
    """The state of the fake, and everything that can be set; one per process."""

    def __init__(self, world: World, settings: Settings) -> None:
        self.settings = settings
        self.credentials = Credentials(settings.canonical_base)
        self.windows, self.script, self.log = Windows(), Script(), Log()
        self.ledger = Ledger()
        self.idleness = Idleness()
        self._readers = Readers()
        self.feeds = Feeds()
        self.pages = Pages(self.feeds, settings)
        self.streams = Streams(
            world=lambda: self.world,
            feeds=self.feeds,
            ledger=self.ledger,
            writer=lambda shape: self._writer(shape),
            host=lambda: self.settings.problem_host,
        )
        self.world = world
        self._writer = lru_cache(maxsize=8)(self._new_writer)

    def now_ms(self) -> int:
        return self.world.clock.now_ms()

    def replace_world(self, world: World) -> None:
        """Switch to another version of the world from now on."""
        old = self.world
        kept = (world.nature, world.names, world.flows, world.contents)
        if kept != (old.nature, old.names, old.flows, old.contents):
            self._writer.cache_clear()
        self.world = world

    def caller(self, request: Request, *, now_ms: int) -> Caller | Reply:
        """The caller, or the refusal, which has no rate headers, as with X."""
        if request.endpoint == TOKEN:
            return self.credentials.grants.holder(request.form, request.authorization)
        known = self.credentials.identify(
            request.authorization,
            method=request.method,
            origin=request.origin,
            path_and_query=request.target,
            form="" if request.endpoint == CHANGE_RULES else request.form,
            now_ms=now_ms,
        )
        if isinstance(known, Caller):
            return known
        if request.endpoint != LOOKUP:
            return problem(401, problems.UNAUTHORIZED)
        if known == NO_CREDENTIALS:
            return v1_problem(400, 215)
        return v1_problem(401, 89 if known == BAD_BEARER else 32)

    def read(self, request: Request) -> Wish | Invalid:
        ask = self._readers.read(request, self.settings.vocabulary)
        if self.settings.vocabulary == "post.fields" and isinstance(
            ask, LookupAsk | NameAsk | PageAsk
        ):
            # The answer's names are those, whatever was asked for.
            return replace(ask, shape=replace(ask.shape, posts=True, as_documented=True))
        return ask

    def answer(
        self,
        request: Request,
        ask: Wish | Invalid,
        caller: Caller,
        *,
        faults: Faults,
        now_ms: int,
    ) -> Reply:
        """The reply to a request of a known caller, computed for the instant `now_ms`.

        A fault comes before the windows and costs nothing, as X does not count failed requests; it
        is recorded even if the window had no room for the request.
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
        elif request.endpoint in APP_ONLY and caller.kind != "bearer":
            reply = self._user_context(caller)
        elif request.endpoint == ME and caller.kind == "bearer":
            host = self.settings.problem_host
            reply = problem(403, problems.unsupported_authentication(host))
        elif not caller.may_ask(SCOPES.get(request.endpoint, ())):
            # Without a word about scopes: seen for a user's token that lacks one.
            reply = problem(403, problems.FORBIDDEN)
        elif isinstance(ask, UsageAsk):
            reply = self._usage(ask, caller, now_ms)
        elif request.endpoint == CONNECTIONS:
            reply = listed(self.streams.of(caller.app))
        elif request.endpoint == END_CONNECTIONS:
            reply = end(self.streams, caller.app, request.form, host=self.settings.problem_host)
        elif request.endpoint == CREDITS:
            reply = balance(self.ledger.project(caller.project))
        elif isinstance(ask, StreamAsk):
            reply = self._stream(ask, caller, now_ms)
        elif request.endpoint in (RULES, CHANGE_RULES, RULE_COUNTS):
            reply = self._rules(request, caller, now_ms)
        elif request.endpoint == TOKEN:
            reply = self.credentials.grants.rotate(request.form, now_ms=now_ms)
        elif isinstance(ask, PageAsk):
            reply = self._page(ask, caller, now_ms)
        elif isinstance(ask, CountsAsk):
            reply = self._counts(ask, caller, now_ms)
        elif isinstance(ask, ListAsk):
            reply = self._list(ask, caller, now_ms)
        else:
            reply = self._answer_found(request.endpoint, ask, caller, faults, now_ms)
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

    def _answer_found(
        self,
        endpoint: str,
        ask: LookupAsk | Lookup | NameAsk,
        caller: Caller,
        faults: Faults,
        now_ms: int,
    ) -> Reply:
        world, host = self.world, self.settings.problem_host
        moment, faulted, ledger = world.moment(now_ms), faults.answers, self.ledger
        if isinstance(ask, Lookup):
            # v1.1 was never sold per post.
            body, tweets = lookup_body(ask, world=world, moment=moment, faulted=faulted)
            return Reply(200, body, answered=True, tweets=tweets, faulted=faulted)
        if endpoint in (TWEETS, TWEET):
            body, posts = self._writer(ask.shape).write(
                self._shown_for(ask.ids, world, moment),
                world=world,
                moment=moment,
                host=host,
                faulted=faulted,
            )
            tweets, users = len(posts), []
        else:
            if isinstance(ask, NameAsk):
                ask = LookupAsk([ask.username], ask.shape)
            elif endpoint == ME:
                # Tokens whose owner was never registered are those of the first author.
                ask = LookupAsk([caller.user or str(world.people[0].id)], ask.shape)
            parameter = _USERS_BY.get(endpoint, "usernames")
            body, people = users_body(ask, parameter, world=world, moment=moment, host=host)
            posts, tweets, users = [], 0, [(endpoint, user_id) for user_id in people]
        if endpoint in _SINGLE:
            body = single(body)
        reply = Reply(200, body, tweets=tweets)
        if endpoint in (TWEETS, TWEET):
            reply.answered, reply.faulted = True, faulted
        bill = ledger.charge(caller, posts=posts, users=users, now_ms=now_ms)
        if isinstance(bill, str):
            return self._unpaid(bill)
        reply.bill = bill
        return reply

    def _shown_for(self, ids: list[str], world: World, moment: Moment) -> list[str]:
        """The versions shown for the requested ids, each once."""
        if not world.contents or self.settings.old_versions == "own":
            return ids
        versions = []
        for text in ids:
            newest = world.traits(newest_of(world.contents, int(text)))
            hidden = newest is None or isinstance(world.answer(newest, moment), str)
            versions.append(text if newest is None or hidden else str(newest.id))
        return list(dict.fromkeys(versions))

    def _page(self, ask: PageAsk, caller: Caller, now_ms: int) -> Reply:
        """A page of posts; faults of single ids can only be applied here."""
        world, host = self.world, self.settings.problem_host
        moment = world.moment(now_ms)
        try:
            page = self.pages.page(ask, world, moment)
        except Invalid as invalid:
            return self._invalid(ask.endpoint, invalid)
        except Refused as refused:
            return Reply(200, orjson.dumps({"errors": [refused.problem]}))
        struck = self.script.strike_listed(ask.endpoint, page.ids, caller.name, now_ms=real_ms())
        body, posts = self._writer(ask.shape).write(
            page.ids, world=world, moment=moment, host=host, faulted=struck.answers, meta=page.meta
        )
        bill = self.ledger.charge(
            caller, posts=posts, is_owned=_is_owned(ask, caller), now_ms=now_ms
        )
        if isinstance(bill, str):
            return self._unpaid(bill)
        return Reply(
            200,
            body,
            tweets=len(posts),
            faulted=struck.answers,
            bill=bill,
            shown=posts,
            fault=struck.name,
        )

    def _counts(self, ask: CountsAsk, caller: Caller, now_ms: int) -> Reply:
        """How many posts a search finds, which costs by the request."""
        try:
            body = self.pages.counts(ask, self.world, self.world.moment(now_ms))
        except Invalid as invalid:
            return self._invalid(ask.endpoint, invalid)
        bill = self.ledger.charge(
            caller, counts="all" if ask.endpoint == ALL_COUNTS else "recent", now_ms=now_ms
        )
        return self._unpaid(bill) if isinstance(bill, str) else Reply(200, body, bill=bill)

    def _list(self, ask: ListAsk, caller: Caller, now_ms: int) -> Reply:
        moment, host = self.world.moment(now_ms), self.settings.problem_host
        posts = self.settings.vocabulary == "post.fields"
        body, is_shown = list_body(ask, world=self.world, moment=moment, host=host, posts=posts)
        lists = [int(ask.list_id)] if is_shown else []
        bill = self.ledger.charge(caller, lists=lists, now_ms=now_ms)
        return self._unpaid(bill) if isinstance(bill, str) else Reply(200, body, bill=bill)

    def _unpaid(self, short: Short) -> Reply:
        """The refusal of a project that has used up its cap or its credits."""
        host = self.settings.problem_host
        if short == "cap":
            reply = problem(429, problems.usage_capped(host))
        elif self.settings.depleted == "credits":
            reply = problem(402, problems.credits(host))
        else:
            reply = problem(402, problems.credits_depleted(host))
        reply.refused_for = short
        return reply

    def _user_context(self, caller: Caller) -> Reply:
        """The refusal of a user's token where only apps are allowed."""
        used = f"OAuth {'1.0a' if caller.kind == 'oauth1' else '2.0'} User Context"
        host, instead = self.settings.problem_host, problems.APP_CONTEXT
        body = problems.unsupported_authentication(host, used=used, instead=instead)
        return problem(403, body)

    def _stream(self, ask: StreamAsk, caller: Caller, now_ms: int) -> Reply:
        """An open stream, for an app that has rules and no other stream."""
        host, streams = self.settings.problem_host, self.streams
        if not streams.rules.of(caller.app):
            return problem(409, problems.no_rules(host))
        if not streams.has_room(caller.app):
            return problem(429, problems.too_many_connections(host))
        return Opening(200, b"", connection=streams.open(caller, ask.shape, now_ms=now_ms))

    def _rules(self, request: Request, caller: Caller, now_ms: int) -> Reply:
        rules, host = self.streams.rules, self.settings.problem_host
        params = dict(parse_qsl(request.query))
        if request.endpoint == RULES:
            ids = [rule_id for rule_id in params.get("ids", "").split(",") if rule_id]
            return rules.show(caller.app, ids, now_ms=now_ms)
        if request.endpoint == RULE_COUNTS:
            known = [one for one in self.credentials.callers() if one.project == caller.project]
            numbers = self.settings.usage_numbers
            return rules.count(caller.app, [one.app for one in known], numbers=numbers)
        is_dry, is_all = (
            params.get(name, "").lower() == "true" for name in ("dry_run", "delete_all")
        )
        change = {} if is_all and not request.form else read_change(request.form)
        if change is None:
            message = "The body is not one of add, a list of rules, and delete, with ids or values"
            return problem(400, problems.invalid_request([("body", [], message)], host))
        if isinstance(change, dict):
            return rules.delete(caller.app, change, is_dry=is_dry, now_ms=now_ms, host=host)
        reply, new = rules.add(caller.app, change, world=self.world, now_ms=now_ms, host=host)
        if is_dry:
            reply.status = 200
        else:
            rules.keep(caller.app, new)
        return reply

    def _usage(self, ask: UsageAsk, caller: Caller, now_ms: int) -> Reply:
        project, at_ms = self.ledger.project(caller.project), self.ledger.at(now_ms)
        numbers = self.settings.usage_numbers
        return Reply(200, usage_body(ask, project, at_ms=at_ms, numbers=numbers))

    def _new_writer(self, shape: Shape) -> TweetWriter:
        return TweetWriter(shape, keep=self.settings.keep)


def _is_owned(ask: PageAsk, caller: Caller) -> bool:
    """Whether X bills an owned read: "when `{id}` matches the authenticated user and that user is
    the owner of the developer app" (x-api/getting-started/pricing, 2026-08-22)."""
    is_listed = ask.endpoint in (USER_TWEETS, MENTIONS)
    return is_listed and caller.kind != "bearer" and ask.subject == caller.user
