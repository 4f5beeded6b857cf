"""The admin's page of how homes are laid out."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from django_q.models import Schedule

from tests.admin.conftest import messages_on
from trackers.timelines.models import Follower, HomeRebuild, HomeSettings

PAGE = "/admin/trackers/homesettings/"


def form(page, **changes):
    given = {name: "" if value is None else value for name, value in page.items()}
    return {**given, **changes}


def test_home_settings_are_one_row_with_advice_and_errors_beside_the_fields(staff):
    page = staff.get(PAGE, follow=True)
    assert "Start with" in page.content.decode()
    fields = page.context["adminform"].form.initial

    refused = staff.post(f"{PAGE}1/change/", form(fields, cache_size=60, cache_slack=61))
    assert "The slack cannot be larger than the cache." in refused.content.decode()
    refused = staff.post(f"{PAGE}1/change/", form(fields, strategy="other", fanout_limit=0))
    assert set(refused.context["adminform"].form.errors) == {"strategy", "fanout_limit"}
    assert HomeSettings.objects.get().strategy == "read"

    refused = staff.post(f"{PAGE}1/change/", form(fields, strategy="sized", embed=["text"]))
    assert "Only the capped cache can embed." in refused.content.decode()

    staff.post(f"{PAGE}1/change/", form(fields, strategy="cache", embed=["text"]))
    kept = HomeSettings.objects.get()
    assert (kept.strategy, kept.embed) == ("cache", ["text"])
    staff.post(f"{PAGE}1/change/", form(fields, strategy="cache"))
    assert HomeSettings.objects.get().embed == []


def test_the_settings_page_opens_before_anything_was_saved(staff):
    HomeSettings.objects.all().delete()

    assert "Start with" in staff.get(f"{PAGE}1/change/").content.decode()
    assert staff.get(f"{PAGE}2/change/", follow=True).context["title"] != "Change home settings"
    assert HomeSettings.objects.count() == 1


def test_the_page_shows_progress_and_rebuilds_all_homes(staff):
    looked = Follower.objects.create(user=User.objects.get(), read_at=timezone.now())
    Follower.objects.create(user=User.objects.create_user("never looked"))

    page = staff.get(PAGE, follow=True).content.decode()
    assert "0 s, 0 origins waiting" in page
    assert "<td>2, 0</td>" in page

    page = staff.post(f"{PAGE}rebuild/", follow=True)
    assert messages_on(page)[0].startswith("The workers will rebuild 1 home")
    assert list(HomeRebuild.objects.values_list("key", flat=True)) == [looked.pk]


def test_unread_homes_expire_at_the_next_run_of_the_scheduler(staff):
    scheduled = Schedule.objects.filter(
        func__in=["trackers.tasks.drop_idle_homes", "trackers.tasks.expire_timelines"]
    )
    later = timezone.now() + timedelta(hours=1)
    assert scheduled.update(next_run=later) == 2

    asked = staff.post(f"{PAGE}expire/").content.decode()
    assert "Expire now?" in asked
    assert scheduled.filter(next_run__gte=later).count() == 2
    staff.post(f"{PAGE}expire/", {"sure": "yes"})

    assert not scheduled.filter(next_run__gte=later).exists()


@pytest.mark.parametrize("act", ["rebuild", "expire"])
def test_view_permission_cannot_change_the_settings(client, act):
    bob = User.objects.create_user("bob", is_staff=True)
    bob.user_permissions.set(Permission.objects.filter(codename="view_homesettings"))
    Follower.objects.create(user=bob, read_at=timezone.now())
    client.force_login(bob)
    before = list(Schedule.objects.order_by("pk").values_list("next_run", flat=True))

    assert client.get(f"{PAGE}{act}/").status_code == 405
    assert client.post(f"{PAGE}{act}/", {"sure": "yes"}).status_code == 403

    assert not HomeRebuild.objects.exists()
    assert list(Schedule.objects.order_by("pk").values_list("next_run", flat=True)) == before
