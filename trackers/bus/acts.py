"""What clients of the bus do: subscribe, leave, delete a topic; and what is done to their tokens.

A client's subscriber has the name of its tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction

from trackers import history
from trackers.acts import Done
from trackers.bus import tokens
from trackers.bus.auth import HOW_TO_AUTHENTICATE, Caller
from trackers.bus.bodies import SubscriptionIn
from trackers.bus.topics import NO_TOPIC, known_topics
from trackers.events.fan_out import fan_out_all
from trackers.events.models import Subscriber, Subscription
from trackers.events.subscribers import acts, disabling
from trackers.events.subscribers.terms import Terms, sentences
from trackers.history import Actor
from trackers.outbox.models import OUR_PUBLISHER, Topic
from trackers.tokens.models import ApiToken
from tweetwatch.http.refusals import Refused


def subscribe(caller: Caller, subscription: SubscriptionIn, actor: Actor) -> None:
    """The caller subscribes to exactly these topics; a disabled subscriber is enabled again.

    Runs under the lock of the spread, so two requests of one client take turns.
    """
    with transaction.atomic():
        fan_out_all()
        token = ApiToken.objects.select_for_update(no_key=True).filter(pk=caller.token_id).first()
        if token is None:
            raise Refused(401, f"This needs a client's token. {HOW_TO_AUTHENTICATE}")
        fields = {
            "token": token,
            "callback": subscription.callback,
            "timeout_ms": subscription.timeout,
            "max_events": subscription.max,
        }
        terms = Terms(
            {name: value for name, value in fields.items() if value is not None},
            topics=subscription.topics,
            uuid=subscription.uuid,
            may_be_idle=True,
        )
        try:
            if known := _find_subscriber(caller):
                disabling.enable(acts.change(known, terms, actor))
            else:
                acts.add(caller.name, terms, actor)
        except ValidationError as error:
            raise ValueError(" ".join(sentences(error))) from None


def _find_subscriber(caller: Caller) -> Subscriber | None:
    return Subscriber.objects.filter(name=caller.name, removed_at=None).first()


def _subscriber_of(caller: Caller) -> Subscriber:
    """Root is no subscriber."""
    known = None if caller.is_root else _find_subscriber(caller)
    if known is None:
        raise LookupError("You are not a subscriber.")
    return known


def remove_subscriber(caller: Caller, actor: Actor) -> Done:
    with transaction.atomic():
        fan_out_all()
        return acts.remove(_subscriber_of(caller), actor)


def unsubscribe(caller: Caller, topic_name: str, actor: Actor) -> Done:
    with transaction.atomic():
        fan_out_all()
        topic = Topic.objects.filter(name=topic_name).first()
        if topic is None:
            raise LookupError(NO_TOPIC)
        done = acts.leave_topic(_subscriber_of(caller), topic, actor)
        if not done.is_done:
            raise LookupError("You do not subscribe to this topic.")
        return done


def delete_topic(name: str, caller: Caller, actor: Actor) -> Done:
    """Nobody publishes or subscribes to it any more; what waits is still delivered."""
    with transaction.atomic():
        fan_out_all()
        topic = known_topics().filter(name=name).select_for_update(no_key=True).first()
        if topic is None:
            raise LookupError(NO_TOPIC)
        if topic.publisher == OUR_PUBLISHER:
            raise Refused(403, "This topic is reserved for tweetwatch itself.")
        if not caller.is_root and topic.publisher != caller.name:
            raise Refused(403, "This topic is not yours: only its publisher or root may delete it.")
        Subscription.objects.filter(topic=topic).delete()
        Topic.objects.filter(pk=topic.pk).update(publisher="", wanted=False, events=0)
        history.record(actor, [topic], "Deleted", flag=history.DELETION)
    return Done(f"{topic}: Deleted.")


def add_token(
    name: str, actor: Actor, *, token: str | None = None, scope: ApiToken.Scope = tokens.CLIENT
) -> str:
    """Return a new token, generated unless it is given: it is shown only once.

    Raises ValueError with a sentence.
    """
    row, secret = tokens.make_token(name, token, scope=scope)
    history.record(actor, [row], "Added", flag=history.ADDITION)
    return secret


def remove_tokens(chosen: Sequence[ApiToken], actor: Actor) -> Done:
    """Delete tokens of one name; with its last one its subscriber, and what waits for that."""
    name = chosen[0].name
    with transaction.atomic():
        fan_out_all()
        # Locked, so that of two tokens that are removed at once one is the last.
        rows = ApiToken.objects.filter(name=name, scope=chosen[0].scope)
        known = list(rows.order_by("pk").select_for_update())
        removed = {token.pk for token in chosen}
        left = [token for token in known if token.pk not in removed]
        for subscriber in Subscriber.objects.filter(token__in=removed):
            if left:
                Subscriber.objects.filter(pk=subscriber.pk).update(token=left[0])
            else:
                acts.remove(subscriber, actor)
        history.record(actor, chosen, "Removed", flag=history.DELETION)
        ApiToken.objects.filter(pk__in=removed).delete()
    if left:
        return Done(f"Revoked a token of {name}, which has {len(left)} more.", len(chosen))
    return Done(f"Revoked {name}'s token and removed its subscriber.", len(chosen))
