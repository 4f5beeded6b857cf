"""The trimmed Pico: what is checked in is what the script makes, and nothing of use is lost."""

import pytest

from tests.pico import trim


def test_the_trimmed_file_is_what_the_script_makes():
    assert trim.TRIMMED.read_text() == trim.trimmed(), "run python -m tests.pico"


def test_the_trimmed_file_is_half_as_long_and_has_only_published_rules():
    published, trimmed = trim.PUBLISHED.read_text(), trim.TRIMMED.read_text()
    kept = set(trim.selectors_in(trimmed))

    assert len(trimmed) < len(published) / 2
    assert kept <= set(trim.selectors_in(published))
    assert kept.isdisjoint(trim.left_out())


@pytest.mark.parametrize(
    ("selector", "is_kept"),
    [
        ("thead th", True),
        ("tfoot th", False),
        ("button:not([type=range])", True),
        ("input[type=range]:focus", False),
        (":is(button,[role=button]).secondary", True),
        (":is(hr,[role=button])", False),
        ("aside", True),
        ("aside li", False),
        ("button:is([aria-current]:not([aria-current=false]))", False),
        (":host(:not([data-theme=dark]))", False),
    ],
)
def test_a_selector_is_left_out_that_needs_what_no_page_has(selector, is_kept):
    assert (selector not in trim.left_out([(selector, "")])) == is_kept
