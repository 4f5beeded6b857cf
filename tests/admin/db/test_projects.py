from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.utils.timezone import now

from tests.admin.conftest import act, messages_on
from tests.factories import AppFactory, CredentialFactory, ProjectFactory
from trackers.jobs import holds
from trackers.jobs.models import Queue
from trackers.money.models import App, Project, Spending

LIST = "/admin/trackers/project/"
APPS = "/admin/trackers/app/"
NO_ROWS = {
    f"spending-{name}_FORMS": "0" for name in ("TOTAL", "INITIAL", "MIN_NUM", "MAX_NUM")
}  # fmt: skip
PRICES = {
    "price_of_a_post": "0.005",
    "price_of_an_owned_post": "0.001",
    "price_of_a_user": "0.010",
    "price_of_a_count": "0.005",
    "price_of_an_archive_count": "0.010",
}


def spend(project, day=None, **given):
    return Spending.objects.create(project=project, day=day or now().date(), **given)


def change(project):
    return f"{LIST}{project.pk}/change/"


def test_budgets_are_set_and_removed(staff):
    project = ProjectFactory(name="acme")
    fields = {"name": "acme", **PRICES, **NO_ROWS}

    staff.post(change(project), {**fields, "posts_a_day": "60000", "money_a_month": "300"})
    project.refresh_from_db()
    assert (project.posts_a_day, project.money_a_month) == (60_000, Decimal("300"))
    assert project.posts_a_month is None

    staff.post(change(project), fields)
    project.refresh_from_db()
    assert not project.has_budget


def test_a_negative_budget_is_refused(staff):
    project = ProjectFactory()

    page = staff.post(change(project), {"name": "x", **PRICES, **NO_ROWS, "money_a_day": "-1"})

    assert "greater than or equal to 0" in page.content.decode()
    assert Project.objects.get().money_a_day is None


def test_spending_is_read_only(staff):
    project = ProjectFactory(name="acme", posts_a_day=5000)
    row = spend(project, posts=1200, posts_reserved=34, money=Decimal("6"))
    spend(project, day=now().date() - timedelta(days=60), posts=987_654)

    page = staff.get(change(project)).content.decode()

    assert "1,234 tweet-days, $6.17" in page
    assert "3,766 tweet-days" in page
    assert "987654" not in page
    assert 'name="spending-0-posts"' not in page
    staff.post(change(project), {"name": "acme", **PRICES, **NO_ROWS, "depletions": "9"})
    row.refresh_from_db()
    assert row.posts == 1200
    assert Project.objects.get().depletions == 0


def test_the_list_shows_the_state_of_each_project(staff):
    short = ProjectFactory(
        posts_a_day=10, rationed_at=now(), needs=50, waiting=40,
        runs_dry_at=datetime(2099, 1, 1, 14, 20, tzinfo=UTC),
    )  # fmt: skip
    spend(short, posts=4)
    CredentialFactory(app=AppFactory(project=short))
    ProjectFactory(
        depleted_until=datetime(2099, 1, 1, 9, tzinfo=UTC), depleted_reason="402", depletions=1,
        usage_read_at=now(), usage_of_month=105, ours_of_month=100, cap=1000,
        cap_resets_on="2026-12-07", credits_left="48.2", credits_read_at=now(),
    )  # fmt: skip

    page = staff.get(LIST).content.decode()

    assert "4 tweet-days, $0.00" in page
    assert "6 tweet-days" in page
    assert "runs dry at 1 Jan, 14:20 UTC; about 40 tweets wait until 00:00 UTC" in page
    assert "until 2099-01-01 09:00 UTC: 402" in page
    assert "105 this month, +5 compared with ours" in page
    assert "cap 1,000, reset on 7 December; $48.20 of credits left, read " in page


def test_resuming_a_depleted_project_resumes_the_queue(staff):
    depleted = ProjectFactory(
        depleted_until=now() + timedelta(hours=1), depleted_reason="402", depletions=3
    )
    other = ProjectFactory(
        depleted_until=now() + timedelta(hours=1), depleted_reason="402", depletions=1
    )
    held = {"held_until": now() + timedelta(hours=1), "held_reason": "402"}
    queue = Queue.objects.filter(pk="tweet:update")
    queue.update(**held)

    page = act(staff, LIST, "go_on", depleted.pk)

    depleted.refresh_from_db()
    other.refresh_from_db()
    assert (depleted.depleted_until, depleted.depleted_reason, depleted.depletions) == (
        None,
        "",
        0,
    )
    assert other.depletions == 1
    assert queue.get().held_until is None
    assert messages_on(page) == [f"{depleted.name}: X is asked again with the next batch."]


def test_resuming_a_project_keeps_the_hold_of_an_outage(staff):
    depleted = ProjectFactory(
        depleted_until=now() + timedelta(hours=1), depleted_reason="402", depletions=3
    )
    queue = Queue.objects.filter(pk="tweet:update")
    queue.update(failures=4)
    holds.record_failure("tweet:update", because="503")

    act(staff, LIST, "go_on", depleted.pk)

    assert queue.get().held_reason == "503"


def test_a_project_with_apps_is_not_deleted(staff):
    project = AppFactory().project

    page = staff.post(f"{LIST}{project.pk}/delete/", {"post": "yes"}, follow=True)

    assert "protected" in page.content.decode()
    assert Project.objects.filter(pk=project.pk).exists()


def test_an_app_moves_to_another_project(staff):
    app, other = AppFactory(), ProjectFactory()
    CredentialFactory(app=app)

    page = staff.get(APPS).content.decode()
    staff.post(f"{APPS}{app.pk}/change/", {"name": "renamed", "project": other.pk})

    assert '<td class="field-credentials">1</td>' in page
    app = App.objects.get(pk=app.pk)
    assert (app.name, app.project) == ("renamed", other)
    assert "one app per use case" in staff.get(f"{APPS}add/").content.decode()


def test_the_list_of_credentials_shows_app_project_and_depletion(staff):
    app = AppFactory(name="the app", project=ProjectFactory(name="the project"))
    CredentialFactory(app=app)
    Project.objects.update(depleted_until=now() + timedelta(hours=1), depleted_reason="402 credits")

    page = staff.get("/admin/trackers/credential/").content.decode()

    for words in ("the app", "the project", "depleted", "402 credits"):
        assert words in page
