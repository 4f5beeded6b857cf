"""What is done to alert rules, and to a person's own digest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from trackers import history
from trackers.acts import Act, Done, for_own
from trackers.alerts import digest, mutes
from trackers.alerts.digest_form import DigestForm
from trackers.alerts.forms import RuleForm
from trackers.alerts.models import VIEW, AlertDigest, AlertMute, AlertRule
from trackers.alerts.trial import try_out
from trackers.history import Actor
from trackers.tweets.models import Tweet
from tweetwatch.amounts import amount

ADD, CHANGE, _DELETE = (f"trackers.{verb}_alertrule" for verb in ("add", "change", "delete"))
_NO_ADDRESS = "Your account has no e-mail address. An owner can enter it in the admin, under Users."


def save(form: RuleForm, actor: Actor) -> Done:
    """Add the rule of a valid form, or change it."""
    if form.is_new:
        form.instance.made_by_id = actor.user.pk
    rule = form.save()
    if form.is_new:
        _record(rule, actor, "Added", flag=history.ADDITION)
        return Done(f"{rule}: added. Send a test to see that it reaches you.")
    _record(rule, actor, "Changed")
    return Done(f"{rule}: changed.")


def shown_address(address: str, reader: User) -> str:
    """An address of everybody's rule: whole for those who may change rules, and one's own; others
    see its first letter and where it is."""
    if reader.has_perm(CHANGE) or address == reader.email:
        return address
    name, _, place = address.rpartition("@")
    return f"{name[:1]}…@{place}"


def _record(rule: AlertRule, actor: Actor, what: str, *, flag: int = history.CHANGE) -> None:
    """Of a person's own, the history says on the account that it was, and not which."""
    if rule.owner is None:
        history.record(actor, [rule], what, flag=flag)
    else:
        history.record(actor, [rule.owner], f"An alert rule of their own: {what.lower()}")


def _test(rule: AlertRule, actor: Actor) -> Done:
    """Somebody waits for the mail server, at most EMAIL_TIMEOUT for each answer."""
    _record(rule, actor, "Tested")
    tested = try_out(
        rule, settings.EMAIL_SERVER, public_url=settings.PUBLIC_URL, now=timezone.now()
    )
    return Done(f"{rule}: {tested.sentences}", is_done=tested.is_well)


def _switch_on(rule: AlertRule, actor: Actor) -> Done:
    AlertRule.objects.filter(pk=rule.pk).update(enabled=True)
    _record(rule, actor, "Switched on")
    return Done(f"{rule}: switched on. It is checked every minute.")


def _switch_off(rule: AlertRule, actor: Actor) -> Done:
    AlertRule.objects.filter(pk=rule.pk).update(enabled=False)
    _record(rule, actor, "Switched off")
    return Done(f"{rule}: switched off. Its log is kept.")


def mute_rule(rule: AlertRule, actor: Actor, *, hours: int) -> Done:
    """Send nobody what it raises, for so long."""
    mutes.mute_rule(rule, hours=hours, now=timezone.now())
    _record(rule, actor, f"Muted for {amount(hours, 'hour')}")
    return Done(f"{rule}: muted for {amount(hours, 'hour')}. The log and events go on.")


def mute_tweet(tweet: int, actor: Actor, *, hours: int) -> Done:
    """Send nobody what any rule raises about this tweet, for so long."""
    mutes.mute_tweet(tweet, hours=hours, now=timezone.now())
    rows = list(Tweet.objects.filter(pk=tweet))
    history.record(actor, rows, f"Muted in alerts for {amount(hours, 'hour')}")
    return Done(f"Tweet {tweet}: muted for {amount(hours, 'hour')}. The log and events go on.")


def _unmute(rule: AlertRule, actor: Actor) -> Done:
    if not mutes.end_mute(rule):
        return Done(f"{rule}: It is not muted.", is_done=False)
    _record(rule, actor, "Ended the mute")
    return Done(f"{rule}: no longer muted.")


def permission_to_end(mute: AlertMute) -> str:
    """What it takes, for a person who sees the mute."""
    return CHANGE if mute.rule is None else acts_on(mute.rule)["unmute"].permission


def end_mute(mute: AlertMute, actor: Actor) -> Done:
    """Of a rule or of a tweet, before its time."""
    if mute.rule is not None:
        return _unmute(mute.rule, actor)
    tweet = mute.tweet
    mute.delete()
    history.record(actor, list(Tweet.objects.filter(pk=tweet or 0)), "Ended the mute in alerts")
    return Done(f"Tweet {tweet}: no longer muted.")


def _remove(rule: AlertRule, actor: Actor) -> Done:
    _record(rule, actor, "Removed", flag=history.DELETION)
    rule.delete()
    return Done(f"{rule}: removed. Its log is kept.")


ACTS = {
    "test": Act(_test, CHANGE),
    "on": Act(_switch_on, CHANGE),
    "off": Act(_switch_off, CHANGE),
    "mute-hour": Act(partial(mute_rule, hours=1), CHANGE),
    "mute-day": Act(partial(mute_rule, hours=24), CHANGE),
    "unmute": Act(_unmute, CHANGE),
    "remove": Act(
        _remove,
        _DELETE,
        asks=lambda rule: f"Remove the rule {rule.name}? Its log is kept.",
        button="Remove",
        leaves=True,
    ),
}


_OWN_ACTS = for_own(ACTS, VIEW)


def acts_on(rule: AlertRule) -> Mapping[str, Act]:
    """Of a rule that the person sees."""
    return _OWN_ACTS if rule.is_own else ACTS


def arrange_digest(fields: dict[str, Any], actor: Actor) -> Done:
    """Begin or change the actor's own; `fields`: those of DigestForm as they were sent."""
    user = actor.user
    assert isinstance(user, User)
    if not user.email:
        return Done(_NO_ADDRESS, is_done=False)
    form = DigestForm(user, fields, instance=AlertDigest.objects.filter(user=user).first())
    if not form.is_valid():
        faults = (str(fault) for of_field in form.errors.values() for fault in of_field)
        return Done(" ".join(faults), is_done=False)
    row = digest.arrange(user, form.cleaned_data, now=timezone.now())
    history.record(actor, [row], "Set up")
    return Done(f"{user.email} gets an e-mail {row}, {digest.notation_of(user).zone}.")


def stop_digest(user: User, actor: Actor) -> Done:
    """A person's own."""
    count = digest.stop_digest(user)
    if count:
        history.record(actor, [user], "Ended the digest")
    return Done("You will no longer get this e-mail.", count, is_done=bool(count))
