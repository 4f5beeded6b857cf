"""A page that renews itself, in a real browser: what a person is at stays as it is."""

from urllib.parse import quote_plus

import pytest

from tests.pages.chromium import poll
from tests.pages.conftest import watched
from tests.pages.looking import looking
from tests.pages.sources import source
from trackers.ingest.sources.models import Source
from trackers.jobs.models import Queue

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Words of one row are selected, the link of another has the focus, and the page is scrolled to it.
SETTLE = """([focused, selected]) => {
    const link = document.getElementById(`source-${focused}`);
    link.focus();
    link.scrollIntoView({ block: 'center' });
    getSelection().selectAllChildren(document.getElementById(`source-${selected}`));
    window.said = [];
    const region = document.getElementById('read-out');
    new MutationObserver(() => window.said.push(region.textContent)).observe(
        region, { childList: true, characterData: true, subtree: true });
}"""
PLACE = """() => ({
    focused: document.activeElement.id, selected: String(getSelection()), scrolled: scrollY,
})"""
IS_CALM = "() => 'calm' in document.body.dataset"
RENEW = "() => document.dispatchEvent(new CustomEvent('renew'))"


def test_scroll_selection_and_focus_survive_and_a_notice_is_read_out_once(staff, live_server):
    made = [source(of=f"account{n}", due_in=300, yielded=n) for n in range(40)]
    focused, selected, moves = made[20], made[21], made[22]

    with looking(staff, live_server, viewport={"width": 1000, "height": 600}) as seen:
        page, answers = seen.page, []
        page.on("response", lambda one: answers.append((one.url, one.status)))
        page.clock.install()
        page.goto(f"{seen.address}/sources/")
        page.evaluate(SETTLE, [focused.pk, selected.pk])
        before = page.evaluate(PLACE)
        assert before["focused"] == f"source-{focused.pk}"
        assert "account21" in before["selected"]
        assert before["scrolled"] > 0

        Source.objects.filter(pk=moves.pk).update(yielded=4321)
        page.evaluate(RENEW)
        page.wait_for_selector(f"tr[data-source='{moves.pk}'] >> text=4,321")
        assert page.evaluate(PLACE) == before

        # With nothing new there is nothing to send.
        def unchanged():
            page.evaluate("0")
            return any(url.endswith("?part=list") and status == 304 for url, status in answers)

        poll(unchanged, within=60, what="an answer without a body")

        Queue.objects.filter(name="source:poll").update(paused=True)
        page.evaluate(RENEW)
        page.wait_for_selector("text=source:poll is paused")
        Source.objects.filter(pk=moves.pk).update(yielded=5432)
        page.evaluate(RENEW)
        page.wait_for_selector(f"tr[data-source='{moves.pk}'] >> text=5,432")
        assert page.evaluate("window.said.length") == 1
        assert "source:poll is paused" in page.evaluate("window.said[0]")
        assert page.evaluate(PLACE)["selected"] == before["selected"]
        assert page.evaluate(PLACE)["focused"] == before["focused"]

        # After a minute in which nothing changed it asks less often, until something does.
        page.clock.fast_forward(61_000)
        poll(lambda: page.evaluate(IS_CALM), within=60, what="a page that is calm")
        Source.objects.filter(pk=moves.pk).update(yielded=6543)
        page.evaluate(RENEW)
        poll(lambda: not page.evaluate(IS_CALM), within=60, what="a page that is not")


def test_typing_a_search_leaves_one_entry_in_the_history(staff, live_server):
    watched(text="Liftoff at dawn")

    with looking(staff, live_server) as seen:
        page = seen.page
        page.goto(f"{seen.address}/sources/")
        page.goto(f"{seen.address}/tweets/")
        before = page.evaluate("history.length")
        for words in ("Lift", "Liftoff", "Liftoff at dusk"):
            page.fill("#q", words)
            # Without the form's empty fields.
            there = f"{seen.address}/tweets/?q={quote_plus(words)}&sort=score-views"
            page.wait_for_url(lambda url, there=there: url == there)
        page.wait_for_selector("text=Nothing found")

        assert page.evaluate("history.length") == before
        page.go_back()
        assert page.url == f"{seen.address}/sources/"
