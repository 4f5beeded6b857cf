"""Help: the documents as pages, with links among each other that lead somewhere, and a search."""

import re

import pytest

from tests.pages.sources import words

HELP = "/help/"
LINK = re.compile(r'<a (?:[^>]* )?href="(/help/([a-z0-9-]+)/)?(?:#([^"]*))?"')


def documents(staff):
    listed = staff.get(HELP).content.decode()
    return sorted(set(re.findall(r'href="/help/([a-z0-9-]+)/"', listed)))


def test_each_document_is_a_page_and_each_link_leads_to_a_heading(staff):
    pages = {name: staff.get(f"{HELP}{name}/").content.decode() for name in documents(staff)}

    assert {"alerts", "operations", "sources", "webhooks"} <= pages.keys()
    broken = []
    for name, page in pages.items():
        article = page[page.index("<article") : page.index("</article>")]
        assert "<h1" in article
        assert not re.search(r'href="[^"]*\.md', article)
        for _, other, place in LINK.findall(article):
            target = pages[other or name]
            if place and f'id="{place}"' not in target:
                broken.append((name, other, place))
    assert broken == []


def test_a_search_finds_sections_by_all_their_words(staff):
    page = staff.get(HELP, {"q": "Backup restore"}).content.decode()

    assert 'href="/help/operations/#backup"' in page
    assert "No document has all these words" in words(
        staff.get(HELP, {"q": "zebra <b>"}).content.decode()
    )
    assert "<b>" not in staff.get(HELP, {"q": "zebra <b>"}).content.decode()


@pytest.mark.parametrize(
    ("page", "document"),
    [
        ("/alerts/", "alerts"),
        ("/operations/", "operations"),
        ("/sources/", "sources"),
        ("/sources/import/", "files"),
        ("/subscribers/", "webhooks"),
        ("/tweets/", None),
    ],
)
def test_a_page_links_to_the_document_about_it(staff, page, document):
    address = f"{HELP}{document}/" if document else HELP
    assert f'id="help-link" href="{address}"' in staff.get(page).content.decode()


def test_a_document_that_does_not_exist_is_404(staff):
    assert staff.get(f"{HELP}nothing/").status_code == 404
    assert staff.get(f"{HELP}..%2fREADME/").status_code == 404
