"""The page of imports, in a browser, with files that people have: seen, asked, chosen, imported."""

import pytest

from tests.ingest.files.outcomes import FOLDER
from tests.ingest.files.uploads import work
from tests.pages.looking import looking
from trackers.tweets.models import Tweet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FIRST = 1212092628029698055


def upload(seen, name, **form):
    page = seen.page
    page.goto(f"{seen.address}/sources/import/")
    page.set_input_files("#id_file", FOLDER / name)
    for field, value in form.items():
        page.select_option(f"#id_{field}", value)
    page.click("button:text-is('Upload')")
    page.wait_for_load_state()
    return page


def test_files_of_people_are_previewed_asked_about_and_imported(staff, live_server):
    with looking(staff, live_server, viewport={"width": 1000, "height": 900}) as seen:
        # A table with several columns that may be it: the links are guessed, another is previewed.
        page = upload(seen, "13-netlytic.csv")
        page.wait_for_selector("text=Tweets are taken from column link")
        guessed = page.input_value("#column")
        page.select_option("#column", index=1)
        page.wait_for_selector(
            "#choice >> text=/Tweets are taken from column (?!link)|has no tweets/"
        )
        page.select_option("#column", value=guessed)
        page.wait_for_selector("text=Tweets are taken from column link")
        page.click("button:text-is('Start the import')")
        page.wait_for_selector("text=Import started")
        assert work() == 1
        page.reload()
        page.wait_for_selector("#lookups >> text=Of 6: 0 shown by X")
        assert Tweet.objects.count() == 6

        # Ids that a spreadsheet rounded: it asks, and going back imports nothing.
        page = upload(seen, "32-excel-97-numbers.xls")
        page.wait_for_selector("#choice >> text=Most of its long ids end in zeros")
        page.click("button:text-is('Start the import')")
        page.wait_for_selector("h1:text-is('Import them anyway?')")
        page.click("a:text-is('Go back')")
        page.wait_for_selector("text=Nothing is tracked until you start the import")
        assert Tweet.objects.count() == 6

        # Without any tweet: what it looks like, and it can be read as something else.
        page = upload(seen, "31-counts.jsonl")
        page.wait_for_selector(".notice >> text=/count of tweets|no tweets/")
        page.wait_for_selector("text=choose another under “Read it as”")
        assert page.locator("#id_format").is_visible()
        assert Tweet.objects.count() == 6
        # The browser notes that the form came back with what is wrong.
        [refusal] = seen.faults
        assert "status of 400" in refusal
        seen.faults.clear()
