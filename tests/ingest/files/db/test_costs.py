"""What an import costs is said before it starts, and asked above the day's budget."""

import io
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.factories import CredentialFactory
from tests.ingest.files.uploads import FIRST, upload, v2_lines, work
from trackers.ingest.files import importing
from trackers.ingest.files.cost import cost_of_lookups
from trackers.ingest.files.preview import tweets_to_look_up
from trackers.money.models import Project
from trackers.tweets.models import Tweet
from trackers.updater.models import TweetUpdate

pytestmark = pytest.mark.django_db

IDS = "".join(f"{FIRST + 7 + n * 4_194_313}\n" for n in range(30))


@pytest.fixture
def budget():
    """A project that may pay for ten tweets a day."""
    project = CredentialFactory().app.project
    Project.objects.filter(pk=project.pk).update(posts_a_day=10, price_of_a_post="0.005")
    return project


def test_the_cost_names_tweets_dollars_and_the_budget(budget):
    cost = cost_of_lookups(30)

    assert (cost.left, cost.is_over, cost.dollars) == (10, True, Decimal("0.15"))
    assert str(cost).startswith("Looking up 30 tweets costs about $0.15")
    assert budget.name in str(cost)
    assert str(cost).endswith("Today's budget has room for 10; the rest waits for the next days.")
    assert not cost_of_lookups(10).is_over


def test_without_a_budget_nothing_is_over():
    CredentialFactory()

    assert not cost_of_lookups(10**9).is_over


def test_dated_tweets_are_not_looked_up_at_once():
    dated, undated = upload("".join(v2_lines(3))), upload(IDS)

    for report, count in ((dated, 0), (undated, 30)):
        report.refresh_from_db()
        assert tweets_to_look_up(report, column=None, referenced=False) == count


def test_an_import_of_ids_and_texts_only_looks_nothing_up():
    report = upload(IDS)
    importing.start(report, column=None, referenced=False, paused=True)
    work()

    assert Tweet.objects.filter(paused=True).count() == 30
    assert not TweetUpdate.objects.exists()


def test_a_page_asks_above_the_budget_of_the_day(budget, admin_client):
    staff = admin_client
    file = io.BytesIO(IDS.encode())
    file.name = "mine.txt"
    address = staff.post("/sources/import/", {"file": file}).headers["Location"]

    assert "Today&#x27;s budget has room for 10" in staff.get(address).content.decode()
    assert "Import them anyway" in staff.post(address, {"act": "start"}).content.decode()
    assert staff.post(address, {"act": "start", "paused": "on"}).status_code == 302


def test_the_command_tracks_nothing_above_the_budget_without_a_yes(budget, tmp_path, capsys):
    (tmp_path / "ids").write_text(IDS)

    with pytest.raises(CommandError, match=r"room for 10.*--yes.*--paused") as refused:
        call_command("track", str(tmp_path / "ids"))
    assert refused.value.returncode == 2
    assert Tweet.objects.count() == 0

    call_command("track", "--paused", str(tmp_path / "ids"))
    assert not TweetUpdate.objects.exists()
    call_command("track", "--yes", str(tmp_path / "ids"))
    assert "30 already tracked" in capsys.readouterr().out


def test_without_a_project_that_can_pay_no_price_is_said():
    assert str(cost_of_lookups(6)) == (
        "Looking up 6 tweets is billed by X, and no project can pay for it now."
    )
