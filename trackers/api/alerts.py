"""Alert rules in the API: everybody's and one's own, and what one would have raised."""

from __future__ import annotations

from typing import Annotated, Any

from django.contrib.auth.models import User
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, WithJsonSchema

from trackers.alerts import acts
from trackers.alerts.forms import RuleForm
from trackers.alerts.models import ADDRESSES_MOST, RULES_MOST, VIEW, AlertRule
from trackers.alerts.rehearsal import rehearse
from trackers.alerts.words import condition
from trackers.api.wire.auth import (
    Bearer,
    act_on,
    acted,
    actor_of,
    require_permission,
)
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import NO_CONTENT, DigitsOut, Id, MetricName, TimeOut, UnsignedId
from trackers.channels.models import Channel
from trackers.schedule.durations import spell
from trackers.tokens.models import ADMIN_SCOPE, READ_SCOPE
from trackers.tweets.gains.models import Window
from tweetwatch.http.json_bodies import Strict

router = Router(tags=["alerts"], auth=Bearer(changes=ADMIN_SCOPE))

# With their values in place: schemas of the description are known by name, and channels have a
# Kind, too.
RuleKindName = Annotated[
    AlertRule.Kind,
    WithJsonSchema({"type": "string", "enum": AlertRule.Kind.values}, mode="validation"),
]
_CHANNELS_MOST = 200
# As the form calls them.
_IN_FORM = {"to_me": "to_owner", "event": "by_event"}
_CALLED = {field: name for name, field in _IN_FORM.items()} | {"__all__": ""}
LengthText = Annotated[StrictStr, Field(max_length=100, examples=["6h"])]


class RuleIn(Strict):
    """The fields that a rule of its kind has in the form; what is left out has its default. `of`:
    what it is about, as in the form: `@name`, a link, the name of a tag or of a view, or an id."""

    kind: RuleKindName
    about: AlertRule.About = AlertRule.About.ANY
    of: Annotated[StrictStr, Field(max_length=1000)] = ""
    metric: MetricName | None = None
    minutes: Window = Window.HOUR
    at: Annotated[StrictInt, Field(ge=0, le=10**15)] | None = None
    times: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1000)] | None = None
    words: Annotated[StrictStr, Field(max_length=200)] = ""
    any_word: StrictBool = False
    late_by: LengthText = ""
    lasting: LengthText = ""
    rest: LengthText = ""


class WhomIn(Strict):
    """Whom a rule tells. `to` and `event` are of everybody's rules alone; `to_me` of one's own: an
    e-mail to the account's address. `channels`: ids; for one's own rule of one's own channels."""

    name: Annotated[StrictStr, Field(max_length=80)] | None = None
    to: Annotated[list[StrictStr], Field(max_length=ADDRESSES_MOST)] | None = None
    to_me: StrictBool | None = None
    channels: Annotated[list[Id], Field(max_length=_CHANNELS_MOST)] | None = None
    event: StrictBool | None = None
    enabled: StrictBool | None = None


class NewRuleIn(RuleIn, WhomIn):
    """`own`: for nobody else to see, and telling nobody else."""

    own: StrictBool = False


class RuleChangeIn(WhomIn):
    """What is left out stays as it is; the kind and whose it is always do."""

    about: AlertRule.About | None = None
    of: Annotated[StrictStr, Field(max_length=1000)] | None = None
    metric: MetricName | None = None
    minutes: Window | None = None
    at: Annotated[StrictInt, Field(ge=0, le=10**15)] | None = None
    times: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1000)] | None = None
    late_by: LengthText | None = None
    lasting: LengthText | None = None
    rest: LengthText | None = None
    words: Annotated[StrictStr, Field(max_length=200)] | None = None


class RuleOut(Schema):
    """`when`: what it waits for, in words. `to`: where its e-mails go; whole for those who may
    change rules."""

    id: DigitsOut
    name: str
    own: bool
    kind: str
    about: str
    of: DigitsOut | None
    when: str
    rest: str
    to: list[str]
    channels: list[DigitsOut]
    event: bool
    enabled: bool


class RulesOut(Schema):
    rules: list[RuleOut]


class RuleTestedOut(Schema):
    """`answer`: what came of it, in sentences."""

    sent: bool
    answer: str


class FireOut(Schema):
    at: TimeOut
    what: str
    url: str


class TrialOut(Schema):
    """`since`: null where nothing stored can tell; `is_least`: there were more than what is kept
    can tell; `messages`: in a day, by its pause; `fires`: the newest twenty."""

    since: TimeOut | None
    sentence: str
    fired: int
    is_least: bool
    rest: str
    messages: int
    fires: list[FireOut]


@router.post("/rules/trial", response=TrialOut, auth=Bearer(changes=READ_SCOPE))
def try_rule(request: HttpRequest, body: RuleIn) -> dict[str, Any]:
    """What such a rule would have raised in the last day. Saves nothing."""
    user = require_permission(request, "trackers.view_alertrule")
    form = RuleForm({**_form_data(body), "by_event": True}, kind=body.kind, reader=user)
    _check(form)
    tried = rehearse(form.instance, now=timezone.now())
    return {
        "since": tried.since,
        "sentence": tried.sentence,
        "fired": tried.fired,
        "is_least": tried.is_least,
        "rest": spell(form.instance.rest),
        "messages": tried.messages,
        "fires": [{"at": one.at, "what": one.what, "url": one.url} for one in tried.shown],
    }


@router.get("/rules", response=RulesOut)
def list_rules(request: HttpRequest) -> dict[str, Any]:
    """Everybody's, and those of the token's user; by name."""
    reader = require_permission(request, VIEW)
    return {"rules": [_rule_json(rule, reader) for rule in _rules(request)[:RULES_MOST]]}


@router.post("/rules", response={201: RuleOut})
def add_rule(request: HttpRequest, body: NewRuleIn) -> Status:
    actor = actor_of(request, VIEW if body.own else acts.ADD)
    data = {"enabled": True, "by_event": False, **_form_data(body)}
    form = RuleForm(data, kind=body.kind, reader=actor.user, is_own=body.own)
    _check(form)
    acts.save(form, actor)
    return Status(201, _saved_rule(request, form.instance.pk))


@router.patch("/rules/{rule}", response=RuleOut)
def change_rule(request: HttpRequest, rule: UnsignedId, body: RuleChangeIn) -> dict[str, Any]:
    changed = _find_rule(request, rule)
    actor = actor_of(request, VIEW if changed.is_own else acts.CHANGE)
    unchanged = RuleForm(instance=changed, reader=actor.user)
    now = {name: unchanged[name].value() for name in unchanged.fields}
    form = RuleForm({**now, **_form_data(body)}, instance=changed, reader=actor.user)
    _check(form)
    acts.save(form, actor)
    return _saved_rule(request, rule)


@router.delete("/rules/{rule}", response=NO_CONTENT)
def remove_rule(request: HttpRequest, rule: UnsignedId) -> Status:
    """Its log is kept."""
    removed = _find_rule(request, rule)
    return acted(request, acts.acts_on(removed)["remove"], lambda _: removed, rule)


@router.post("/rules/{rule}/test", response=RuleTestedOut)
def test_rule(request: HttpRequest, rule: UnsignedId) -> dict[str, Any]:
    """Sends a test to all whom it tells, and waits some seconds for what they answer."""
    tested = _find_rule(request, rule)
    done = act_on(request, acts.acts_on(tested)["test"], lambda _: tested, rule)
    return {"sent": done.is_done, "answer": done.message}


def _rules(request: HttpRequest) -> QuerySet[AlertRule]:
    seen = AlertRule.objects.seen_by(require_permission(request, VIEW)).select_related("owner")
    return seen.prefetch_related(Prefetch("channels", Channel.objects.defer("address")))


def _find_rule(request: HttpRequest, id: int) -> AlertRule:
    rule = _rules(request).filter(pk=id).first()
    if rule is None:
        raise LookupError(f"There is no rule {id}.")
    return rule


def _saved_rule(request: HttpRequest, id: int) -> dict[str, Any]:
    return _rule_json(_find_rule(request, id), require_permission(request, VIEW))


def _form_data(body: Strict) -> dict[str, Any]:
    """What was sent, as the form takes it."""
    data = {
        _IN_FORM.get(name, name): value
        for name, value in body.model_dump(exclude={"own"}).items()
        if value not in (None, "")
    }
    if "to" in data:
        data["to"] = ", ".join(data["to"])
    return data


def _check(form: RuleForm) -> None:
    if not form.is_valid():
        raise refusal(
            {
                _CALLED.get(field, field): [str(fault) for fault in faults]
                for field, faults in form.errors.items()
            }
        )


def _rule_json(rule: AlertRule, reader: User) -> dict[str, Any]:
    return {
        "id": rule.pk,
        "name": rule.name,
        "own": rule.is_own,
        "kind": rule.kind,
        "about": rule.about,
        "of": rule.of,
        "when": condition(rule),
        "rest": spell(rule.rest),
        "to": [acts.shown_address(one, reader) for one in rule.addresses],
        "channels": sorted(channel.pk for channel in rule.channels.all()),
        "event": rule.by_event,
        "enabled": rule.enabled,
    }
