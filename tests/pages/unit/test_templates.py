"""The templates: a person can read each line, and each part that is asked for is there."""

import re
from pathlib import Path

import pytest

TEMPLATES = sorted(Path("templates").rglob("*.html"))
# A tag may have `>` in what its attributes ask.
TAGS = re.compile(r"<\w(?:\{[%{].*?[%}]\}|[^>])*>", re.DOTALL)
LONGEST = 140
# What pages of others poll: addresses of their own.
OF_OTHER_PAGES = ("paused-now",)


@pytest.fixture(params=TEMPLATES, ids=str)
def template(request):
    return request.param.read_text()


def tags_with(template, attribute):
    return [tag for tag in TAGS.findall(template) if attribute in tag]


def test_no_line_of_a_template_is_over_140_characters(template):
    assert [line for line in template.splitlines() if len(line) > LONGEST] == []


def test_no_refresh_loads_a_whole_page(template):
    """Neither to pick a part of it, nor for want of the name of one."""
    for tag in tags_with(template, "hx-trigger="):
        if re.search(r'hx-trigger="[^"]*\btick\b', tag):
            assert "hx-select=" not in tag
            assert "?part=" in tag or any(name in tag for name in OF_OTHER_PAGES), tag


def test_each_requested_part_is_a_partial_of_its_template(template):
    there = set(re.findall(r"{% partialdef ([\w-]+)", template))
    asked = set(re.findall(r'hx-get="(?:{{ look.here }})?\?part=([\w-]+)', template))

    assert asked - there == set()


def test_a_template_counts_by_the_one_formatter(template):
    """`{{ n }} page{{ n|pluralize }}` says 12345 pages; `{{ n|counted:"page" }}` 12,345 pages."""
    assert not re.search(r"\}\}\s+[\w -]+\{\{ [^}]*\|pluralize(:\"es\")? \}\}", template)
