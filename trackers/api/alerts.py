"""Alert rules in the API: what one would have raised."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, WithJsonSchema

from trackers.alerts.forms import RuleForm
from trackers.alerts.models import AlertRule
from trackers.alerts.rehearsal import rehearse
from trackers.api.wire.auth import Bearer, require_permission
from trackers.api.wire.errors import refusal
from trackers.api.wire.fields import MetricName, TimeOut
from trackers.schedule.durations import spell
from trackers.tokens.models import READ_SCOPE
from trackers.tweets.gains.models import Window
from tweetwatch.http.json_bodies import Strict

router = Router(tags=["alerts"])

# With their values in place: schemas of the description are known by name, and channels have a
# Kind, too.
RuleKindName = Annotated[
    AlertRule.Kind,
    WithJsonSchema({"type": "string", "enum": AlertRule.Kind.values}, mode="validation"),
]
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
    given = {name: value for name, value in body.model_dump().items() if value not in (None, "")}
    form = RuleForm({**given, "by_event": "on"}, kind=body.kind, reader=user)
    if not form.is_valid():
        raise refusal(
            {
                "" if field == "__all__" else field: [str(fault) for fault in faults]
                for field, faults in form.errors.items()
            }
        )
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
