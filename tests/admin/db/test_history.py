"""What people do is in the admin's history; what lets its holder run anything is only looked at."""

import io
import json

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.urls import reverse
from django_q.models import Schedule

from tests.admin.conftest import act
from tests.events.conftest import subscriber
from tests.factories import CredentialFactory, TweetFactory
from trackers import history
from trackers.ingest.sources.models import Source
from trackers.jobs.models import Queue
from trackers.schedule.models import Interval
from trackers.timelines.models import Follow
from trackers.tweets.tags.names import get_or_create_tag


def history_rows():
    """Who did what with what, in the order in which it was done."""
    found = LogEntry.objects.select_related("user").order_by("pk")
    return [(one.user.username, one.object_repr, one.change_message) for one in found]


def source(**given):
    return Source.objects.create(**{"kind": "account", "of": "nasa", **given})


# Actions of the admin.


def test_a_confirmed_action_is_recorded_for_each_row(staff):
    first, two = get_or_create_tag("a"), get_or_create_tag("b")
    where = reverse("admin:trackers_tag_changelist")

    act(staff, where, "remove", first.pk, two.pk)
    assert history_rows() == []

    act(staff, where, "remove", first.pk, two.pk, sure="yes")
    assert sorted(history_rows()) == [
        ("ada", "a", "Removed from all tweets, in the admin."),
        ("ada", "b", "Removed from all tweets, in the admin."),
    ]


def test_an_action_on_many_rows_is_recorded_as_one_line(staff):
    ids = [get_or_create_tag(f"tag {number}").pk for number in range(history.MAX_LINES + 1)]

    act(staff, reverse("admin:trackers_tag_changelist"), "remove", *ids, sure="yes")

    assert history_rows() == [("ada", f"{len(ids)} tags", "Removed from all tweets, in the admin.")]


def test_actions_outside_lists_are_recorded(staff):
    staff.post("/admin/trackers/interval/replan/")
    staff.post("/tweets/track", {"lines": "1700000000000000000\n"})

    assert [(what, said) for _, what, said in history_rows()] == [
        (
            f"{Interval.objects.count()} intervals",
            "Re-planned the scheduled look-ups, in the admin.",
        ),
        ("1 tweet", "Pasted 1 lines: 1 tracked, 0 already, on a page."),
    ]


# Pages.


@pytest.fixture
def page(staff):
    """POST to a page; what was told of it."""

    def post(address, **given):
        before = LogEntry.objects.count()
        assert staff.post(address, given).status_code in (200, 302), address
        return [(what, said) for _, what, said in history_rows()[before:]]

    return post


def test_acts_on_pages_are_recorded(page):
    made, tweet, shop = source(), TweetFactory(), subscriber("shop")

    assert page(f"/sources/{made.pk}/pause") == [(str(made), "Paused, on a page.")]
    assert page(f"/sources/{made.pk}/pause") == [], "nothing was done"
    assert page(f"/tweets/{tweet.pk}/pause") == [(str(tweet), "Paused, on a page.")]
    assert page(f"/tweets/{tweet.pk}/untrack", sure="yes") == [
        (str(tweet), "Untracked, on a page.")
    ]
    assert LogEntry.objects.first().action_flag == DELETION
    assert page("/following/follow", source=made.pk)[0][1] == f"Followed {made}, on a page."
    assert page("/columns/add", shows=f"source:{made.pk}")[0][1] == "Added a column, on a page."
    follower = Follow.objects.get().follower_id
    assert page(f"/feeds/make/{follower}")[0][1] == "Created a new secret feed address, on a page."
    assert page(f"/subscribers/{shop.pk}/pause") == [("shop", "Paused, on a page.")]
    made_key = page(f"/subscribers/{shop.pk}/key", sure="yes")
    assert made_key[0][1] == "Created a new signing key, on a page."
    assert page(f"/sources/{made.pk}/remove") == [(str(made), "Removed, on a page.")]


def test_an_added_source_is_recorded_and_a_refused_source_is_not(page):
    given = {"kind": "account", "every": "5m", "pages": "10", "backfill": "1d", "priority": "1"}

    assert page("/sources/", of="na sa", **given) == []
    assert page("/sources/", of="nasa", **given) == [
        (str(Source.objects.get()), "Added, on a page.")
    ]


# Commands.


def test_a_command_is_recorded_under_an_account_that_cannot_log_in():
    call_command("track", "1700000000000000000", "--json", stdout=io.StringIO())
    CredentialFactory(name="main")
    call_command("credential", "disable", "main", stderr=io.StringIO())

    [tracked, disabled] = history_rows()
    assert tracked[:2] == ("manage.py", "1 tweet")
    assert tracked[2].startswith("Tracked, by manage.py, run by ")
    assert disabled[:2] == ("manage.py", "main")
    account = User.objects.get(username="manage.py")
    assert not account.is_active
    assert not account.has_usable_password()
    assert not account.is_staff


def test_secrets_of_a_command_are_not_recorded():
    call_command(
        "subscriber", "add", "shop", "--callback", "https://shop.example/planted-callback",
        "--topic", "tweets", "--header", "X-Key: planted-header", "--uuid", "planted-user",
        stdout=io.StringIO(), stderr=io.StringIO(),
    )  # fmt: skip

    assert len(history_rows()) == 1
    assert "planted" not in json.dumps(history_rows())


# Pages of the admin that are only looked at.


def test_schedules_and_tasks_are_read_only(staff):
    schedule = Schedule.objects.first()
    listed = "/admin/django_q/schedule/"
    change = reverse("admin:django_q_schedule_change", args=[schedule.pk])

    assert staff.get(listed).status_code == 200
    assert staff.get(change).status_code == 200
    assert staff.get(f"{listed}add/").status_code == 403
    assert staff.post(f"{listed}add/", {"func": "os.system"}).status_code == 403
    assert staff.post(change, {"func": "os.system"}).status_code == 403
    assert staff.post(f"{change.removesuffix('change/')}delete/").status_code == 403
    act(staff, listed, "delete_selected", schedule.pk)
    before = schedule.func
    schedule.refresh_from_db()
    assert schedule.func == before
    for name in ("success", "failure"):
        page = staff.get(f"/admin/django_q/{name}/")
        assert page.status_code == 200
        assert "resubmit" not in page.content.decode()


@pytest.fixture
def viewer(client, db):
    """Who may look at everything, and change nothing."""
    user = User.objects.create_user("eve", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(user)
    return client


def test_view_permission_opens_every_list_and_every_row(viewer):
    rows = [
        CredentialFactory(secrets={"bearer_token": "planted-secret"}),
        source(),
        Queue.objects.first(),
        Interval.objects.first(),
        Schedule.objects.first(),
    ]
    rows += [rows[0].app, rows[0].project]

    for row in rows:
        model = row._meta
        listed = viewer.get(reverse(f"admin:{model.app_label}_{model.model_name}_changelist"))
        where = reverse(f"admin:{model.app_label}_{model.model_name}_change", args=[row.pk])
        page = viewer.get(where)
        assert (listed.status_code, page.status_code) == (200, 200), where
        assert "planted-secret" not in page.content.decode()
        assert viewer.post(where, {"name": "mine"}).status_code == 403, where
