import io
import json
from datetime import timedelta
from html import escape

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from tests.admin.conftest import messages_on
from tests.factories import TweetFactory
from tests.jobs.ordinary import enqueued, run_all
from trackers.forecasts.cost_words import ASSUMPTION
from trackers.schedule.models import Interval, Replanning
from trackers.updater.models import TweetUpdate

LIST = "/admin/trackers/interval/"


def rows():
    return [(i.younger_than, i.every, i.jitter, i.enabled) for i in Interval.objects.all()]


def save(staff, **changed):
    """The list as the page has it, with fields changed: `every_0="30s"`."""
    formset = staff.get(LIST).context["cl"].formset
    fields = {"_save": "Save"}
    for field in formset.management_form:
        fields[field.html_name] = field.value()
    for form in formset.forms:
        for field in form:
            value = field.value()
            if value is None or (field.name == "enabled" and not value):
                continue
            fields[field.html_name] = "on" if field.name == "enabled" else value
    for name in ("_save", "sure"):
        if name in changed:
            fields[name] = changed.pop(name)
    for name, value in changed.items():
        field, _, place = name.rpartition("_")
        fields[f"form-{place}-{field}"] = value
        if value is None:
            del fields[f"form-{place}-{field}"]
    return staff.post(LIST, fields, follow=True)


def test_a_person_changes_sixty_seconds_to_thirty(staff):
    before = rows()

    page = save(staff, every_0="30s")

    assert page.status_code == 200
    assert rows() == [(timedelta(minutes=18), timedelta(seconds=30), 0.05, True), *before[1:]]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"every_0": "0s"}, "Younger than 18m: every 0s is too often. Once a second is the limit."),
        ({"every_0": "2h"}, "is longer than the age itself"),
        ({"younger_than_1": "10m"}, "the ages must increase"),
        ({"every_1": "soon"}, "“soon” is not a duration"),
        ({"accuracy_0": "five"}, "“five” is not a percentage. Write it as 5%."),
        ({"accuracy_0": "0"}, "An accuracy must be from 0.1% to 50%, not 0%."),
        ({"accuracy_0": "5%"}, "An accuracy needs “at most every”, such as 20s."),
        ({"at_most_0": "20s"}, "“at most every” and “at least every” need an accuracy"),
        (
            {"accuracy_0": "5", "at_most_0": "6m", "at_least_0": "5m"},
            "At most every 6m is longer than at least every 5m.",
        ),
        (
            {"accuracy_0": "5", "at_most_0": "20s", "at_least_0": "1h"},
            "At least every 1h is longer than the age itself.",
        ),
        ({f"enabled_{place}": None for place in range(5)}, "At least one interval must be enabled"),
    ],
)
def test_a_list_with_one_error_is_refused_whole_with_a_sentence(staff, changed, sentence):
    before = rows()

    page = save(staff, **{"every_4": "2d", **changed})

    assert sentence in page.content.decode()
    assert rows() == before


LARGE = {"every_0": "10s", "every_1": "20s"}


def test_the_cost_is_shown_before_anything_is_saved(staff):
    before = rows()

    page = save(staff, every_0="30s", _save="cost").content.decode()

    assert rows() == before
    assert "Nothing is saved yet." in page
    assert "Look-ups of one tweet, over its life" in page
    assert "correct the error" not in page
    assert 'value="30s"' in page, "what was typed stays"
    assert 'name="sure"' not in page


def test_a_list_that_costs_more_than_twice_as_much_must_be_confirmed(staff):
    before = rows()

    page = save(staff, **LARGE).content.decode()

    assert rows() == before
    assert "times as much as now" in page
    assert 'name="sure"' in page
    save(staff, **LARGE, sure="yes")
    assert [row[1] for row in rows()[:2]] == [timedelta(seconds=10), timedelta(seconds=20)]


def test_a_single_row_that_costs_more_must_be_confirmed_too(staff):
    first = Interval.objects.first()
    fields = {"younger_than": "18m", "every": "1s", "jitter": "0.05", "enabled": "on"}
    address = f"{LIST}{first.pk}/change/"

    assert "times as much as now" in staff.post(address, fields).content.decode()
    assert staff.post(address, {**fields, "sure": "on"}).status_code == 302
    first.refresh_from_db()
    assert first.every == timedelta(seconds=1)


def test_the_cost_is_that_of_tomorrow_and_links_to_its_forecast(staff):
    page = save(staff, every_0="30s", _save="cost").content.decode()

    assert "Tweet-days tomorrow" in page
    assert escape(ASSUMPTION) in page
    assert '<a href="/#days">' in page
    overview = staff.get("/?part=ahead").content.decode()
    assert 'id="days-asked" href="/admin/trackers/interval/"' in overview


def test_all_rows_become_adapting_after_the_cost_was_shown(staff):
    filled_in = staff.get(f"{LIST}adapt/")

    values = [
        [form[name].value() for name in ("accuracy", "at_most", "at_least")]
        for form in filled_in.context["cl"].formset.forms
    ]
    shown = filled_in.content.decode()
    assert "Nothing is saved yet." in shown
    assert 'value="5%"' in shown
    assert 'value="20s"' in shown
    assert Interval.objects.exclude(accuracy=None).count() == 0
    fields = {
        f"{name}_{place}": value
        for place, row in enumerate(values)
        for name, value in zip(("accuracy", "at_most", "at_least"), row, strict=True)
    }
    fields |= {f"accuracy_{place}": "5%" for place in range(5)}

    save(staff, **fields, sure="yes")

    assert [one.written for one in Interval.objects.all()] == [
        "18m=20s..5m@5%", "1h=30s..15m@5%", "1d=60s..3h@5%", "7d=5m..1d@5%", "30d=15m..4d@5%",
    ]  # fmt: skip


def test_a_new_row_must_fit_among_the_others(staff):
    given = {"younger_than": "1h", "every": "1m", "jitter": "0.05", "enabled": "on"}

    refused = staff.post(f"{LIST}add/", given)
    staff.post(f"{LIST}add/", {**given, "younger_than": "2:00:00"})

    assert "Younger than 1h appears twice." in refused.content.decode()
    assert Interval.objects.filter(younger_than=timedelta(hours=2)).count() == 1


def test_the_workers_replan_and_the_page_shows_the_progress(staff):
    TweetFactory(measured=True)

    page = staff.post(f"{LIST}replan/", follow=True)

    assert "workers are re-planning" in messages_on(page)[0]
    assert TweetUpdate.objects.count() == 0
    assert "Re-planning, 0% done" in page.content.decode()
    run_all()
    page = staff.get(LIST)
    assert "0 next checks moved, 1 resting tweets scheduled again" in page.content.decode()
    assert TweetUpdate.objects.count() == 1


def test_the_page_asks_to_start_a_cluster_when_replanning_stands_still(staff):
    staff.post(f"{LIST}replan/")
    assert "Is a cluster running?" not in staff.get(LIST).content.decode()

    Replanning.objects.update(touched_at="2026-01-01T00:00Z")

    assert "Is a cluster running?" in staff.get(LIST).content.decode()


def test_replanning_needs_the_permission_to_change_intervals(client):
    client.force_login(User.objects.create_user("bob", is_staff=True))

    client.post(f"{LIST}replan/")

    assert not Replanning.objects.exists()


def test_replanning_needs_a_post(staff):
    assert staff.get(f"{LIST}replan/").status_code == 405


def interval(*arguments):
    out = io.StringIO()
    call_command("interval", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_command_replaces_the_whole_list_and_keeps_known_jitter():
    Interval.objects.filter(younger_than=timedelta(hours=1)).update(jitter=0.2)

    interval("set", "60m=30s", "2h=1m")

    assert rows() == [
        (timedelta(hours=1), timedelta(seconds=30), 0.2, True),
        (timedelta(hours=2), timedelta(minutes=1), 0.05, True),
    ]


def test_the_command_starts_a_replan_by_the_workers():
    interval("set", "60m=30s", "--replan")

    assert enqueued() == [("trackers.tasks.go_on_replanning", 1)]


def test_the_command_previews_the_cost_without_changes():
    before = rows()

    report = interval("set", "60m=30s", "--dry-run")
    counted = json.loads(interval("set", "60m=30s", "--dry-run", "--json"))

    assert rows() == before
    assert "Look-ups of one tweet, over its life: 96 now, 120 then." in report
    assert "Share of X's rate limit: unknown: X has not reported its rate limits yet." in report
    assert counted["after"]["life"] == 120


def test_the_command_asks_to_confirm_a_large_change():
    before = rows()

    with pytest.raises(CommandError, match=r"times as much as now\? Confirm with --yes\."):
        interval("set", "60m=1s")

    assert rows() == before
    interval("set", "60m=1s", "--yes")
    assert [row[1] for row in rows()] == [timedelta(seconds=1)]


def test_the_command_sets_one_jitter_for_all():
    interval("set", "60m=30s", "2h=1m", "--jitter", "0")

    assert [row[2] for row in rows()] == [0, 0]


def test_the_command_reads_its_own_listing():
    interval("set", "18m=20s..5m@5%", "60m=60s", "--yes")

    listed = [line.split()[0] for line in interval("list").splitlines()]
    told = json.loads(interval("list", "--json").splitlines()[0])

    assert listed == ["18m=20s..5m@5%", "1h=60s"]
    assert (told["accuracy"], told["at_most_seconds"], told["at_least_seconds"]) == (0.05, 20, 300)
    interval("set", *listed, "--yes")
    assert [one.written for one in Interval.objects.all()] == listed


@pytest.mark.parametrize(
    "fault",
    ["1h", "1h=", "1h=2h", "1h=0s", "x=y", "1h=20s..5m", "1h=5m@5%", "1h=20s..5m@five",
     "1h=20s..5m@0%", "1h=5m..20s@5%", "1h=20s..2h@5%", "1h=0.5s..5m@5%"],
)  # fmt: skip
def test_the_command_refuses_an_invalid_list_and_changes_nothing(fault):
    before = rows()

    with pytest.raises(CommandError) as refused:
        interval("set", "18m=60s", fault)

    assert refused.value.returncode == 2
    assert str(refused.value).endswith(".")
    assert rows() == before


def test_the_command_lists_the_defaults():
    assert interval("list").splitlines()[0].split(maxsplit=1) == [
        "18m=60s", "younger than 18m: every 60s, jitter 0.05",
    ]  # fmt: skip

    told = [json.loads(line) for line in interval("list", "--json").splitlines()]

    assert [(row["younger_than_seconds"], row["every_seconds"]) for row in told] == [
        (1080, 60), (3600, 300), (86400, 3600), (604800, 21600), (2592000, 86400),
    ]  # fmt: skip
