"""Help: the documents of docs/ as pages, with a search through all of them.

docs/*.md ─> markdown-it ─> HTML, with links among each other ─> a page each
                        └─> sections (a heading and its words) ─> what a search finds
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from django.views.decorators.http import require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from trackers.dashboards.access import VIEW_TWEETS, needs

_DOCS = settings.BASE_DIR / "docs"
_LINK = re.compile(r"(?P<name>[a-z0-9-]+)?(?:\.md)?(?P<place>#.*)?")
_WORDS_AROUND = 120
_MAX_RESULTS = 30


@dataclass(frozen=True, slots=True)
class Section:
    id: str  # of its heading; empty above the first one
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    name: str
    title: str
    html: SafeString
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Result:
    document: Document
    section: Section
    excerpt: str


@require_safe
@needs(VIEW_TWEETS)
def help_search(request: HttpRequest) -> HttpResponse:
    """All documents; or, with `q`, the sections that have all its words."""
    typed = request.GET.get("q", "").replace("\0", "")[:100].strip()
    context = {"documents": _documents().values(), "q": typed}
    if typed:
        context["results"] = list(_results(typed.casefold().split()))[:_MAX_RESULTS]
    return render(request, "dashboards/help/search.html", context)


@require_safe
@needs(VIEW_TWEETS)
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    document = _documents().get(name)
    if document is None:
        raise Http404(f"There is no document called {name[:60]!r}.")
    context = {"document": document, "documents": _documents().values()}
    return render(request, "dashboards/help/page.html", context)


@cache
def _documents() -> Mapping[str, Document]:
    """By name. They are part of the program, so they are read once."""
    names = sorted(path.stem for path in _DOCS.glob("*.md"))
    return {name: _read(name, frozenset(names)) for name in names}


def _read(name: str, names: frozenset[str]) -> Document:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse((_DOCS / f"{name}.md").read_text())
    sections = list(_sections(tokens))
    for token in tokens:
        for child in token.children or ():
            _point(child, names)
        _without_pictures(token)
    titles = [section.title for section in sections if section.title]
    return Document(
        name,
        titles[0] if titles else name,
        _scrolling(markdown.renderer.render(tokens, markdown.options, {})),
        tuple(sections),
    )


def _scrolling(html: str) -> SafeString:
    """What is wider than the screen is scrolled by itself, also with the keyboard."""
    region = '<div class="scroll" tabindex="0"><table>'
    html = html.replace("<table>", region).replace("</table>", "</table></div>")
    # Written by the renderer, from documents of the program.
    return mark_safe(html.replace("<pre>", '<pre tabindex="0">'))  # noqa: S308


def _sections(tokens: list[Token]) -> Iterator[Section]:
    """Gives each heading its id, as the links among the documents write it."""
    id, title, words = "", "", list[str]()
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            if words:
                yield Section(id, title, " ".join(words))
            title, words = _plain(tokens[place + 1]), []
            id = slugify(title)
            taken[id] = taken.get(id, -1) + 1
            id = f"{id}-{taken[id]}" if taken[id] else id
            token.attrSet("id", id)
        elif token.type in ("inline", "fence", "code_block") and not _is_title(tokens, place):
            words.append(_plain(token))
    if words:
        yield Section(id, title, " ".join(words))


def _is_title(tokens: list[Token], place: int) -> bool:
    return place > 0 and tokens[place - 1].type == "heading_open"


def _plain(token: Token) -> str:
    if token.children is None:
        return token.content
    return "".join(" " if child.type == "softbreak" else child.content for child in token.children)


def _point(token: Token, names: frozenset[str]) -> None:
    """Links to other documents lead to their pages; those to other files are plain words."""
    if token.type != "link_open":
        return
    address = str(token.attrGet("href") or "")
    if address.startswith(("https://", "http://")):
        token.attrSet("rel", "noreferrer noopener")
        return
    link = _LINK.fullmatch(address)
    if link and (link["name"] in names or not link["name"]):
        page = reverse("help-page", args=[link["name"]]) if link["name"] else ""
        token.attrSet("href", f"{page}{link['place'] or ''}")
    else:
        token.attrs.pop("href")


def _without_pictures(token: Token) -> None:
    """Those of docs/ are not served; their words stay."""
    for child in token.children or ():
        if child.type == "image":
            child.type, child.tag, child.children = "text", "", None


def _results(words: list[str]) -> Iterator[Result]:
    """Those with all words in the heading first."""
    results: list[tuple[bool, Result]] = []
    for document in _documents().values():
        for section in document.sections:
            title, text = section.title.casefold(), section.text.casefold()
            if all(word in title or word in text for word in words):
                result = Result(document, section, _excerpt(section.text, words))
                results.append((not all(word in title for word in words), result))
    results.sort(key=lambda ranked: ranked[0])
    yield from (result for _, result in results)


def _excerpt(text: str, words: list[str]) -> str:
    places = [at for word in words if (at := text.casefold().find(word)) >= 0]
    begin = max(0, min(places, default=0) - _WORDS_AROUND)
    end = begin + 2 * _WORDS_AROUND
    return f"{'… ' if begin else ''}{text[begin:end]}{' …' if end < len(text) else ''}"
