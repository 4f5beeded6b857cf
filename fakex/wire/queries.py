"""The language of searches and stream rules: words, "phrases", #tags, @names, operators, OR, -, ().

query ─> parts ─> Query, which decides whether a post's words match
A space is AND and binds tighter than OR. Anything else in X's language is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fakex.world.feeds import WORD, Words

_PART = re.compile(r'\s*(-?\(|\)|-?(?:[a-z_]+:)?"[^"]*"|-?[^\s()"]+)')
_OPERATOR = re.compile(r"([a-z_]+):(.+)\Z", re.DOTALL)
# Operators that X accepts only together with others.
_NARROWING = frozenset({"is", "has", "lang"})
_PRODUCT = "Operator is not available in current product or product packaging. "
_LISTED = "Please refer to complete available operator list"

Match = Callable[[Words], bool]
Resolve = Callable[[str], int | None]


class BadQuery(Exception):
    """A query that X refuses; says why as X does."""


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    match: Match
    is_keyed: bool  # some part of it matches words, tags or links


class Term(NamedTuple):
    match: Match
    stands_alone: bool = True
    is_keyed: bool = False


def read_query(text: str, author_of: Resolve, *, longest: int) -> Query:
    """The query; `author_of` gives an author's number by name or id. BadQuery if unreadable.

    Names are resolved now: a Query is valid until somebody is renamed.
    """
    if not text.strip():
        raise BadQuery("Rules must contain a non-empty query")
    if len(text) > longest:
        raise BadQuery(f"The query is {len(text)} characters long, and {longest} is the most")
    parts = _take_apart(text)
    term, rest = _read_any(parts, author_of)
    if rest:
        raise _unexpected(rest)
    if not term.stands_alone:
        raise BadQuery("Rules must contain at least one positive, standalone operator")
    return Query(text, term.match, term.is_keyed)


def _take_apart(text: str) -> list[tuple[str, int]]:
    parts: list[tuple[str, int]] = []
    place, end = 0, len(text.rstrip())
    while place < end:
        part = _PART.match(text, place)
        if part is None:
            raise BadQuery(
                f"no viable alternative at character '{text[place]}' (at position {place + 1})"
            )
        parts.append((part[1], part.start(1) + 1))
        place = part.end()
    return parts


def _read_any(
    parts: list[tuple[str, int]], author_of: Resolve
) -> tuple[Term, list[tuple[str, int]]]:
    """Terms with OR between them, up to a closing parenthesis or the end."""
    term, rest = _read_all(parts, author_of)
    choices = [term]
    while rest and rest[0][0] == "OR":
        term, rest = _read_all(rest[1:], author_of)
        choices.append(term)
    if len(choices) == 1:
        return choices[0], rest
    matches = [choice.match for choice in choices]
    return Term(
        lambda words: any(match(words) for match in matches),
        stands_alone=all(choice.stands_alone for choice in choices),
        is_keyed=any(choice.is_keyed for choice in choices),
    ), rest


def _read_all(
    parts: list[tuple[str, int]], author_of: Resolve
) -> tuple[Term, list[tuple[str, int]]]:
    """Terms with a space between them."""
    terms: list[Term] = []
    while parts and parts[0][0] not in (")", "OR"):
        part, _ = parts[0]
        if part in ("(", "-("):
            term, rest = _read_any(parts[1:], author_of)
            if not rest or rest[0][0] != ")":
                raise _unexpected(rest)
            parts = rest[1:]
            terms.append(_not(term) if part == "-(" else term)
        else:
            terms.append(_read_term(*parts[0], author_of))
            parts = parts[1:]
    if not terms:
        raise _unexpected(parts)
    if len(terms) == 1:
        return terms[0], parts
    matches = [term.match for term in terms]
    return Term(
        lambda words: all(match(words) for match in matches),
        stands_alone=any(term.stands_alone for term in terms),
        is_keyed=any(term.is_keyed for term in terms),
    ), parts


def _read_term(part: str, position: int, author_of: Resolve) -> Term:
    if part.startswith("-") and len(part) > 1:
        return _not(_read_term(part[1:], position + 1, author_of))
    operator = _OPERATOR.match(part)
    if operator and operator[1] not in ("http", "https"):
        return _read_operator(operator[1], operator[2].strip('"'), position, author_of)
    if part.startswith("#") and len(part) > 1:
        tag = part[1:].casefold()
        return Term(lambda words: tag in map(str.casefold, words.content.tags), is_keyed=True)
    if part.startswith("@") and len(part) > 1:
        author = author_of(part[1:])
        return Term(lambda words: author in words.content.mentions)
    if operator:
        return Term(_linking(part), is_keyed=True)
    return Term(_saying(part.strip('"')), is_keyed=True)


def _read_operator(name: str, value: str, position: int, author_of: Resolve) -> Term:
    if name in ("from", "to"):
        author = author_of(value.removeprefix("@"))
        if name == "from":
            return Term(lambda words: words.post.author == author)
        return Term(lambda words: author is not None and words.content.to == author)
    if name == "url":
        return Term(_linking(value), is_keyed=True)
    if name == "conversation_id" and value.isdigit():
        thread = int(value)
        return Term(lambda words: thread in (words.content.thread, words.post.id))
    if name == "lang":
        lang = value.lower()
        return Term(lambda words: words.content.lang == lang, stands_alone=False)
    narrowing = _NARROWED.get(f"{name}:{value}")
    if narrowing is None:
        raise BadQuery(
            f"Reference to invalid operator '{name}'. {_PRODUCT}{_LISTED} (at position {position})"
        )
    return Term(narrowing, stands_alone=False)


_NARROWED: Mapping[str, Match] = {
    "is:retweet": lambda words: words.post.kind == "retweet",
    "is:reply": lambda words: words.post.kind == "reply",
    "is:quote": lambda words: words.post.kind == "quote",
    "has:hashtags": lambda words: bool(words.content.tags),
    "has:links": lambda words: bool(words.content.links),
    "has:mentions": lambda words: bool(words.content.mentions),
}


def _not(term: Term) -> Term:
    match = term.match
    return Term(lambda words: not match(words), stands_alone=False)


def _saying(words: str) -> Match:
    """Whether a text has the words in sequence."""
    wanted = words.casefold()
    row = WORD.findall(wanted)
    if not row or not wanted.isascii():
        # Languages written without spaces have no words to compare.
        return lambda words: wanted in words.text
    if len(row) == 1:
        [only] = row
        return lambda words: only in words.all
    phrase = f" {' '.join(row)} "
    return lambda words: phrase in words.row


def _linking(url: str) -> Match:
    wanted = url.casefold()

    def links(words: Words) -> bool:
        return any(wanted in link.casefold() for link in words.content.links)

    return links


def _unexpected(rest: list[tuple[str, int]]) -> BadQuery:
    part, position = rest[0] if rest else ("<EOF>", 0)
    return BadQuery(f"no viable alternative at input '{part}' (at position {position})")
