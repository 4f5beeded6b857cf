"""What a person gets from `make demo`, in a real browser."""

import re
import signal
from datetime import datetime

import psutil
import pytest

from tests.pages.chromium import Demo, poll, screen

METRICS = ("views", "likes", "retweets", "replies", "quotes", "bookmarks")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    # Engagement that runs faster, so that figures move at every look; intervals are the defaults.
    started = Demo(tmp_path_factory.mktemp("demo"), "--tweets=400", "--clock-speed=20")
    yield started
    started.close()


# Both in one look at the page, which renews itself; nothing while it is being checked.
CHECKED_AND_DUE = """() => {
    const [checked, due] = document.querySelectorAll('.when p:first-child time');
    return checked && due?.closest('.next') ? [checked.dateTime, due.dateTime] : null;
}"""


@pytest.mark.browser
def test_rows_update_with_the_metrics_that_x_answered(demo):
    # New posts push rows off the page, so every look at it counts.
    seen_rows, latest, moved = [], {}, set()
    with screen(demo) as seen:

        def twenty_moved():
            for row in seen.rows():
                before = latest.get(row["id"])
                if row != before:
                    seen_rows.append(row)
                    moved.update({row["id"]} if before else ())
                    latest[row["id"]] = row
            return len(moved) >= 20

        poll(twenty_moved, within=120, what="twenty rows that moved without a click")
        assert len(seen.rows()) == 50

        # Not measured: X has only ever said why it does not show it.
        poll(
            lambda: all(not counts_of(demo, row) for row in seen.rows() if not row["checked"]),
            within=120,
            what="figures wherever X gave some",
        )

    times, compared = demo.times_shown(), {}
    for row in seen_rows:
        # What the stream alone brought is in no answer.
        if said := said_before(demo, times, row):
            assert row["counts"] == said, row
            compared.setdefault(row["id"], []).append(said)
    assert sum(map(len, compared.values())) >= 50
    assert any(said[0] != said[-1] for said in compared.values())


def said_before(demo, times, row):
    """The counts in X's last answer about a tweet before it was checked, as a page shows them."""
    if row["checked"] is None:
        return None
    until = datetime.fromisoformat(row["checked"]).timestamp() * 1000
    for at_ms in reversed(times.get(row["id"], [])):
        if at_ms <= until and isinstance(said := demo.answer(row["id"], at_ms), dict):
            return {metric: f"{said[metric]:,}" for metric in METRICS}
    return None


def counts_of(demo, row):
    """What X has answered about a tweet, but for why it does not show it."""
    said = [answers[row["id"]] for _, answers in demo.answers() if row["id"] in answers]
    return [one for one in said if isinstance(one, dict)]


def liveliest(seen):
    """The id of the row with the most views: one that X shows, and whose figures move."""
    rows = [row for row in seen.rows() if row["checked"] is not None]
    return max(rows, key=lambda row: int(row["counts"]["views"].replace(",", "")))["id"]


@pytest.mark.browser
@pytest.mark.more
def test_a_changed_interval_applies_with_the_next_check(demo):
    with screen(demo) as seen:
        id = liveliest(seen)
        seen.page.goto(f"{demo.address}/admin/trackers/interval/")
        assert seen.page.input_value("#id_form-0-every") == "60s"
        seen.page.fill("#id_form-0-every", "30s")
        seen.follow("input[name=_save]")
        seen.page.wait_for_selector(".messagelist .success")
        assert seen.page.input_value("#id_form-0-every") == "30s"

        seen.page.goto(f"{demo.address}/tweets/{id}/")
        before = len(demo.lookup_times(id))
        seen.page.click("text=Check now")
        poll(lambda: len(demo.lookup_times(id)) > before, within=120, what="a look at once")
        poll(lambda: len(demo.lookup_times(id)) > before + 1, within=120, what="a look after that")
        first, two = demo.lookup_times(id)[before : before + 2]
        checked, due = poll(
            lambda: seen.page.evaluate(CHECKED_AND_DUE), within=120, what="when it is checked next"
        )

    # Thirty seconds, five of a hundred sooner. How late a look is depends on the machine; when it
    # is due does not, and sixty seconds, five of a hundred sooner, would be fifty-seven.
    assert two - first >= 28.5
    assert (datetime.fromisoformat(due) - datetime.fromisoformat(checked)).total_seconds() < 57


@pytest.mark.browser
def test_the_page_of_a_tweet_draws_its_curve_and_updates_it(demo):
    with screen(demo, color_scheme="dark") as seen:
        id = liveliest(seen)
        seen.follow(f"#tweet-{id}")
        seen.page.wait_for_selector("#chart[data-ready] canvas")
        drawn = int(seen.page.get_attribute("#chart", "data-points"))
        seen.page.click("text=Every measurement as a table")
        lines = seen.page.locator("#samples-body tr").count()
        assert drawn >= lines > 0

        seen.page.click("text=Check now")
        seen.page.wait_for_selector("#chart[data-ready] canvas")
        poll(
            lambda: int(seen.page.get_attribute("#chart", "data-points")) > drawn,
            within=120,
            what="a curve that grew by itself",
        )
        seen.page.click(".toggle.quotes")
        assert seen.page.get_attribute(".toggle.quotes", "aria-current") == "true"
        seen.page.click("nav[aria-label=Range] >> text=last 24 h")
        seen.page.wait_for_selector("#chart[data-ready] canvas")
        seen.page.click("#person")
        seen.page.click("[data-theme-button]")
        assert seen.page.get_attribute("html", "data-theme") == "light"


@pytest.mark.browser
def test_keys_search_and_narrow_screens_work_and_a_refresh_keeps_the_focus(demo):
    with screen(demo, viewport={"width": 390, "height": 844}) as seen:
        page = seen.page
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("j")
        page.keyboard.press("j")
        focused, second = page.evaluate(
            "[document.activeElement.id, document.querySelectorAll('#rows a.text')[1].id]"
        )
        assert focused == second
        with page.expect_response(lambda answer: "part=rows" in answer.url):
            page.keyboard.press("r")
        assert page.evaluate("document.activeElement.id") == focused

        words = page.evaluate("document.querySelector('#rows a.text').textContent.trim()")
        page.keyboard.press("/")
        page.keyboard.type(words[:12])
        page.wait_for_url(lambda url: "q=" in url)
        # The rows follow each letter, and may still be those of the first of them.
        page.locator("#rows a.text").filter(has_text=words).first.wait_for()
        found = [text.strip() for text in page.locator("#rows a.text").all_text_contents()]
        assert words in found
        typed = re.findall(r"\w+", words[:12].lower())
        assert all(word in text.lower() for text in found for word in typed)
        page.fill("#q", "no tweet says this")
        page.wait_for_selector("text=Nothing found")


@pytest.mark.browser
def test_operations_and_every_admin_page_open_without_console_errors(demo):
    with screen(demo) as seen:
        page = seen.page
        page.goto(f"{demo.address}/operations/")
        # The fake's windows are short here, and between two of them there is no gauge.
        poll(
            lambda: page.reload() and page.locator("meter").count() >= 1,
            within=120,
            what="a gauge of a window",
        )
        assert page.locator("text=Workers not running").count() == 0
        for name in ("interval", "credential", "project", "app", "queue", "tweet", "worker"):
            assert page.goto(f"{demo.address}/admin/trackers/{name}/").ok


def test_an_interrupt_ends_all_processes_of_the_demo_in_the_background_too(tmp_path):
    demo = Demo(tmp_path, "--tweets=100", in_background=True)
    try:
        assert len(demo.family) >= 8

        assert demo.end(signal.SIGINT) == 0

        assert poll(lambda: not demo.survivors(), within=120, what="all of them ended")
        assert "Everything has stopped." in demo.log.read_text()
    finally:
        demo.close()


@pytest.mark.more
def test_a_killed_demo_leaves_no_process(tmp_path):
    demo = Demo(tmp_path, "--tweets=100")
    try:
        psutil.Process(demo.process.pid).kill()
        demo.process.wait()

        assert poll(lambda: not demo.survivors(), within=120, what="all of them gone")
    finally:
        demo.close()


@pytest.mark.more
def test_the_demo_restarts_a_killed_worker_cluster(tmp_path):
    demo = Demo(tmp_path, "--tweets=100")
    try:
        children = psutil.Process(demo.process.pid).children()
        next(child for child in children if is_cluster(child)).kill()

        demo.await_in_log("(workers was killed by SIGKILL; restarting it)")
        assert demo.end() == 0
    finally:
        demo.close()


def is_cluster(process):
    return "cluster" in " ".join(process.cmdline())
