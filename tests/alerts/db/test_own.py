"""Rules of a person's own: they tell this person alone, and nobody else is told that they are."""

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests.alerts.conftest import HOUR, MINUTE, NOW, minute, moves, rule, tweet
from tests.alerts.db.test_thresholds import measure
from tests.alerts.mail_servers import Box, listening
from tests.channels.sending import channel
from tests.pages.db.test_unread import pages_of, person, told
from tests.stored_events import events_of, subscribe
from trackers import roles
from trackers.alerts import mail
from trackers.alerts.digest import make_digests
from trackers.alerts.models import AlertDigest, AlertMail, AlertNotice, AlertRule
from trackers.alerts.notice import BEYOND_LIMIT
from trackers.channels.models import ChannelMessage, OwnLimits
from trackers.happenings.models import Happening
from trackers.milestones.models import Milestone
from trackers.outbox.findings import Observation
from trackers.outbox.models import Event
from tweetwatch.pieces import Deadline

pytestmark = pytest.mark.django_db
ADD = "/alerts/add/"
FAST = {"kind": "velocity", "about": "any", "metric": "likes", "minutes": 60, "at": 1000,
        "rest": "2h", "enabled": "on", "to_owner": "on"}  # fmt: skip
PUBLIC = "https://watch.example"


@pytest.fixture
def vera():
    user = person("vera")
    user.email = "vera@here.example"
    user.save()
    return user


def own_rule(user, kind="velocity", **given):
    fields = {"name": "Rocket", "metric": "likes", "at": 1000, "to_owner": True, **given}
    return rule(kind, owner=user, by_event=False, **fields)


def own_channel(user, name="vera: phone"):
    return channel("ntfy", "https://chat.example", name, owner=user)


def limit(**fields):
    OwnLimits.objects.update_or_create(pk=1, defaults=fields)


def test_a_viewers_rule_goes_to_the_own_address_and_own_channels_alone(vera):
    page, mine = pages_of(vera), own_channel(vera)
    ours = channel("slack", "https://chat.example", "newsroom")
    other = own_channel(person("otto"), "otto: phone")
    form = page.get(f"{ADD}?kind=velocity").content.decode()
    assert "E-mail to vera@here.example" in form
    assert 'name="to"' not in form
    assert 'name="by_event"' not in form
    assert "newsroom" not in form

    for wrong in (ours, other):
        assert page.post(ADD, {**FAST, "channels": [wrong.pk]}).status_code == 400
    page.post(ADD, {**FAST, "channels": [mine.pk], "to": "eve@there.example", "by_event": "on"})

    made = AlertRule.objects.get()
    assert (made.owner, made.to, made.by_event, made.to_owner) == (vera, [], False, True)
    assert list(made.channels.all()) == [mine]
    subscribe("alerts")
    moves(tweet(1), 1500)
    assert minute() == [], "it is no news to others"
    assert AlertNotice.objects.get().owner == vera
    assert AlertMail.objects.get().to == "vera@here.example"
    assert ChannelMessage.objects.get().channel == mine
    assert events_of("alerts") == []


def test_the_e_mail_goes_to_the_address_that_the_account_has_then(vera):
    own_rule(vera)
    User.objects.filter(pk=vera.pk).update(email="vera@new.example")
    moves(tweet(1), 1500)
    minute()
    box = Box()
    with listening(box) as server:
        mail.send(server, public_url=PUBLIC, deadline=Deadline.after(30))
    assert [one["To"] for one in box.got] == ["vera@new.example"]


def test_the_database_refuses_a_rule_of_ones_own_with_other_recipients(vera):
    for wrong in ({"to": ["eve@there.example"]}, {"by_event": True}):
        with pytest.raises(IntegrityError), transaction.atomic():
            rule("trouble", **{"owner": vera, "by_event": False, **wrong})
    with pytest.raises(IntegrityError), transaction.atomic():
        rule("trouble", to_owner=True)


def test_an_own_rule_sends_nothing_to_everybodys_channel(vera):
    made = own_rule(vera)
    made.channels.add(channel("slack", "https://chat.example", "newsroom"))
    moves(tweet(1), 1500)
    minute()
    assert not ChannelMessage.objects.exists()


def test_a_person_who_may_see_alerts_no_more_gets_none(vera):
    own_rule(vera)
    moves(tweet(1), 1500)
    roles.take(vera)
    minute()
    assert not AlertNotice.objects.exists()
    vera.user_permissions.add(Permission.objects.get(codename="view_alertrule"))
    User.objects.filter(pk=vera.pk).update(is_active=False)
    minute(1)
    assert not AlertNotice.objects.exists()
    User.objects.filter(pk=vera.pk).update(is_active=True)
    minute(2)
    assert AlertNotice.objects.get().owner == vera


def test_others_neither_count_nor_read_alerts_of_ones_own_rule(vera):
    own_rule(vera)
    moves(tweet(1), 1500)
    minute()
    AlertNotice.objects.update(at=timezone.now())
    otto = pages_of(person("otto", roles.OWNER))
    assert (told(pages_of(vera)), told(otto)) == ("1", "")
    for address in ("/alerts/", "/alerts/log/", "/today/"):
        assert "Rocket" not in otto.get(address).content.decode()
        assert "Rocket" in pages_of(vera).get(address).content.decode()


def test_its_milestone_marks_nothing_and_reaches_no_subscriber(vera):
    Milestone.objects.all().delete()
    subscribe("milestones")
    tweet(1, author=8)
    measure(1, 0, 50)
    mine = own_rule(vera, "milestone", about="author", of=8, at=100)
    minute()
    assert not Milestone.objects.shared().exists()

    measure(1, 1, 110)
    minute(1)

    assert [one.lines[0]["what"] for one in AlertNotice.objects.all()] == [
        "Tweet 1 of @a8 has reached 100 likes: it has 110."
    ]
    assert not Event.objects.exists()
    assert not Happening.objects.filter(what="milestone").exists()
    staff = pages_of(person("otto", roles.OWNER))
    for address in ("/tweets/1/", "/happenings/", "/admin/trackers/milestone/"):
        shown = staff.get(address).content.decode()
        assert "100 likes" not in shown
        assert ">100<" not in shown
    mine.delete()
    minute(2)
    assert not Milestone.objects.exists(), "nobody asks for it any more"


def test_everybodys_milestone_of_the_same_figure_alerts_both_once(vera):
    Milestone.objects.all().delete()
    subscribe("milestones")
    tweet(1)
    measure(1, 0, 50)
    own_rule(vera, "milestone", at=100)
    rule("milestone", metric="likes", at=100, name="Ours")
    minute()
    measure(1, 1, 110)
    minute(1)
    assert sorted(one.rule_name for one in AlertNotice.objects.all()) == ["Ours", "Rocket"]
    assert Event.objects.filter(topic__name="milestones").count() == 1
    assert Happening.objects.get(what="milestone").figures["at"] == 100


def test_trouble_stays_in_everybodys_log_beside_a_rule_of_ones_own(vera):
    own_rule(vera, "trouble", metric="", at=0)
    look = Observation("queue", "tweet:update", "Requests fail.", "", "/operations/")
    minute(0, look)
    minute(1, look)
    assert {one.owner for one in AlertNotice.objects.all()} == {vera, None}


def test_beyond_the_limit_of_an_hour_alerts_are_for_the_log_alone(vera):
    limit(messages=3)
    made = own_rule(vera)
    made.channels.add(own_channel(vera))
    second = own_rule(vera, name="Second")
    moves(tweet(1), 1500)
    minute()
    moves(tweet(2), 1500)
    minute(1)

    sent = AlertMail.objects.filter(state="waiting").count()
    sent += ChannelMessage.objects.filter(state="waiting").count()
    assert sent == 3
    assert AlertMail.objects.filter(state="given_up", error=BEYOND_LIMIT).exists()
    assert AlertNotice.objects.filter(rule=second).count() == 2
    assert "have sent as much in an hour" in pages_of(vera).get("/alerts/log/").content.decode()

    moves(tweet(3), 1500)
    minute(62)
    assert AlertMail.objects.filter(made_at=NOW + 62 * MINUTE, state="waiting").exists()


@pytest.mark.parametrize(
    ("most", "why"),
    [(1, "You have 1 rule of your own already."), (0, "Nobody may have rules of their own here.")],
)
def test_an_owner_says_how_many_rules_a_person_may_have(vera, most, why):
    if most:
        own_rule(vera)
    owner = pages_of(person("olga", roles.OWNER))
    settings = "/admin/trackers/ownlimits/"
    assert owner.get(settings, follow=True).status_code == 200
    owner.post(f"{settings}1/change/", {"rules": most, "channels": 5, "messages": 60})
    before = AlertRule.objects.count()

    answer = pages_of(vera).post(ADD, FAST)

    assert (answer.status_code, AlertRule.objects.count()) == (400, before)
    assert why in answer.content.decode()
    assert pages_of(vera).get(f"{settings}1/change/").status_code == 302
    operator = pages_of(person("opal", roles.OPERATOR))
    assert operator.get(f"{settings}1/change/").status_code == 403


def test_a_viewer_may_do_all_to_the_own_rule_and_nothing_to_everybodys(vera):
    page, mine, ours = pages_of(vera), own_rule(vera), rule("trouble", name="Ours")
    shown = page.get(f"/alerts/{mine.pk}/").content.decode()
    assert {"act-test", "act-off", "act-edit", "act-remove"} <= set(shown.split('"'))
    assert "act-test" not in page.get(f"/alerts/{ours.pk}/").content.decode()
    for act in ("off", "on", "mute-hour", "unmute", "test"):
        assert page.post(f"/alerts/{mine.pk}/{act}").status_code == 302
        assert page.post(f"/alerts/{ours.pk}/{act}").status_code == 403
    assert page.post(f"/alerts/{ours.pk}/edit/", FAST).status_code == 403
    page.post(f"/alerts/{mine.pk}/edit/", {**FAST, "name": "Comet"})
    assert page.post(f"/alerts/{ours.pk}/remove", {"sure": "yes"}).status_code == 403
    mine.refresh_from_db()
    assert (mine.name, mine.owner) == ("Comet", vera)
    page.post(f"/alerts/{mine.pk}/remove", {"sure": "yes"})
    assert AlertRule.objects.get() == ours


def test_an_operator_chooses_whose_a_rule_is():
    opal = person("opal", roles.OPERATOR)
    User.objects.filter(pk=opal.pk).update(email="opal@here.example")
    page = pages_of(opal)
    page.post(f"{ADD}?own=yes", FAST)
    page.post(ADD, {**FAST, "to": "ops@here.example"})
    assert [one.owner for one in AlertRule.objects.order_by("pk")] == [opal, None]


def test_a_digest_has_the_persons_own_alerts_and_a_channel_gets_everybodys(vera):
    ours = channel("slack", "https://chat.example", "newsroom")
    own_rule(vera)
    rule("velocity", name="Ours", metric="likes", at=1000)
    moves(tweet(1), 1500)
    minute()
    otto = person("otto", roles.OWNER)
    User.objects.filter(pk=otto.pk).update(email="otto@here.example")
    for user in (vera, otto):
        AlertDigest.objects.create(user=user, when_quiet=True, hour=12, channels=[ours.pk])

    assert make_digests(public_url=PUBLIC, now=NOW + HOUR) == 2

    written = {one.digest.user: one.body for one in AlertNotice.objects.filter(kind="digest")}
    assert "Rocket" in written[vera]
    assert "Rocket" not in written[otto]
    assert all("Ours" in body for body in written.values())
    said = [str(one.lines) for one in ChannelMessage.objects.filter(channel=ours)]
    assert [("Rocket" in one, "Ours" in one) for one in said] == [(False, True)] * 2


def test_its_log_stays_the_persons_own_when_it_is_removed(vera):
    made = own_rule(vera)
    moves(tweet(1), 1500)
    minute()
    made.delete()
    assert "Rocket" in pages_of(vera).get("/alerts/log/").content.decode()
    assert "Rocket" not in pages_of(person("otto")).get("/alerts/log/").content.decode()
