"""Numbers, times and rules in words, for e-mails. Pure."""

from __future__ import annotations

from datetime import timedelta

from trackers.alerts.models import AlertNotice, AlertRule
from trackers.schedule.durations import spoken

_DURATION_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def lasting(length: timedelta) -> str:
    """In its one or two largest units: 48 s, 12 min, 3 h 4 min."""
    rest = max(0, int(length.total_seconds()))
    parts = []
    for size, unit in _DURATION_UNITS:
        if rest >= size:
            parts.append(f"{rest // size} {unit}")
            rest %= size
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts) or "0 s"


def _plain_number(number: float) -> str:
    """3, or 2.5."""
    return f"{number:,.1f}".removesuffix(".0")


def condition(rule: AlertRule) -> str:
    """When it raises an alert, as a clause to follow "when"."""
    kind, metric = AlertRule.Kind, rule.metric
    match rule.kind:
        case kind.VELOCITY:
            over = AlertRule._meta.get_field("minutes").choices
            window = dict(over or ()).get(rule.minutes, f"{rule.minutes} minutes")
            return (
                f"{_whose(rule)} gains {rule.at:,} {metric} an hour or more, measured over "
                f"{'an hour' if window == 'hour' else window}"
            )
        case kind.MILESTONE:
            return f"{_whose(rule)} reaches {rule.at:,} {metric}"
        case kind.USUAL:
            least = f", and at least {rule.at:,}" if rule.at else ""
            return (
                f"{_whose(rule)} has {_plain_number(rule.times)} times the {metric} that its "
                f"author's tweets usually have at that age{least}"
            )
        case kind.FELL:
            by = f"{rule.at:,} or more" if rule.at else "a tenth or more"
            return f"the {metric} of {_whose(rule)} fall by {by}"
        case kind.WAVE:
            return f"{_whose(rule)} has a second wave"
        case kind.GONE:
            return f"{_whose(rule)} is deleted, hidden or edited"
        case kind.WORDS:
            which = "any" if rule.any_word else "all"
            return f"{_whose(rule)} comes in that has {which} of: {rule.words}"
        case kind.QUIET:
            brought = "source" if rule.about == AlertRule.About.SOURCE else "author"
            return f"nothing new comes from {brought} {rule.of} for {spoken(rule.lasting)}"
        case kind.LATENESS:
            return (
                f"the most overdue tweet is more than {spoken(rule.late_by)} late for "
                f"{spoken(rule.lasting)}"
            )
        case kind.CREDENTIAL:
            return "X refuses a credential, or disables it"
        case kind.SOURCE:
            which = "a source" if rule.of is None else f"source {rule.of}"
            return f"the polls of {which} miss posts, or X hides it"
        case kind.BUDGET:
            return "a project's budget runs dry today or tomorrow"
    return "requests keep failing, tweets are isolated, or the stream is down"


def _whose(rule: AlertRule) -> str:
    match rule.about:
        case AlertRule.About.TWEET:
            return f"tweet {rule.of}"
        case AlertRule.About.AUTHOR:
            return f"a tweet of author {rule.of}"
        case AlertRule.About.SOURCE:
            return f"a tweet from source {rule.of}"
        case AlertRule.About.TAG:
            return f"a tweet with the tag {rule.of}"
        case AlertRule.About.VIEW:
            return f"a tweet of the saved view {rule.of}"
    return "a tweet"


def title(kind: str, about: str, of: str, metric: str, words: str) -> str:
    """The default name of a rule. `of`: what it is about, as a person knows it."""
    what = {
        AlertRule.Kind.VELOCITY: f"fast {metric}",
        AlertRule.Kind.MILESTONE: f"milestone of {metric}",
        AlertRule.Kind.USUAL: f"{metric} far above the usual",
        AlertRule.Kind.FELL: f"falling {metric}",
        AlertRule.Kind.WAVE: "second wave",
        AlertRule.Kind.GONE: "deleted or edited",
        AlertRule.Kind.WORDS: f"new: {words}",
        AlertRule.Kind.QUIET: "quiet",
    }.get(AlertRule.Kind(kind), str(AlertRule.Kind(kind).label))
    whose = "" if about == AlertRule.About.ANY else f", {about} {of}"
    return f"{what[:1].upper()}{what[1:]}{whose}"


def title_of(notice: AlertNotice) -> str:
    """The subject of its e-mail, and the first line of its messages."""
    kind = AlertNotice.Kind
    if notice.kind == kind.TEST:
        return f"Test: {notice.rule_name}"
    if notice.kind == kind.DIGEST:
        return notice.rule_name
    name = notice.rule_name or "Trouble"
    count = len(notice.heard) + notice.more
    if notice.heard and all(one["state"] == "back" for one in notice.heard):
        return f"{name}: over"
    return name if count == 1 else f"{name}: {count:,} alerts"
