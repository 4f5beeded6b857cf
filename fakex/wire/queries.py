"""The language of searches and stream rules: words, "phrases", #tags, @names, operators, OR, -, ().

query ─> parts ─> Query, which decides whether a post's words match
A space is AND and binds tighter than OR. Anything else in X's language is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fakex.wire.operators import (
    ONLY_NEGATED,
    Dialect,
    Match,
    Term,
    author_of,
    cashtag,
    linking,
    operator,
)
from fakex.world.feeds import WORD
from fakex.world.seeded import World

_PART = re.compile(r'\s*(-?\(|\)|-?(?:[a-z_]+:)?"[^"]*"|-?[a-z_]+:\[[^\]"]*\]|-?[^\s()"]+)')
_OPERATOR = re.compile(r"([a-z_]+):(.+)\Z", re.DOTALL)
# The longest queries of self-serve plans: x-api/posts/search/integrate/operators and
# x-api/fundamentals/rate-limits (2.167, 2026-08-22).
LONGEST: dict[Dialect, int] = {"recent": 512, "archive": 1024, "rule": 1024}
_PRODUCT = "Operator is not available in current product or product packaging. "
_LISTED = "Please refer to complete available operator list"


class BadQuery(Exception):
    """A query that X refuses; says why as X does."""


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    match: Match
    is_keyed: bool  # some part of it matches words, tags or links
    is_timed: bool  # some part of it depends on counts or media, which change


@dataclass(frozen=True, slots=True)
class _Where:
    """What the parts of a query are read with."""

    world: World
    dialect: Dialect


def read_query(text: str, world: World, dialect: Dialect) -> Query:
    """The query; BadQuery if unreadable.

    Names and lists are resolved now: a Query is valid until one of them changes.
    """
    longest = LONGEST[dialect]
    if not text.strip():
        raise BadQuery("Rules must contain a non-empty query")
    if len(text) > longest:
        raise BadQuery(f"The query is {len(text)} characters long, and {longest} is the most")
    parts = _take_apart(text)
    term, rest = _read_any(parts, _Where(world, dialect))
    if rest:
        raise _unexpected(rest)
    if not term.stands_alone:
        raise BadQuery("Rules must contain at least one positive, standalone operator")
    return Query(text, term.match, term.is_keyed, term.is_timed)


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


def _read_any(parts: list[tuple[str, int]], where: _Where) -> tuple[Term, list[tuple[str, int]]]:
    """Terms with OR between them, up to a closing parenthesis or the end."""
    term, rest = _read_all(parts, where)
    choices = [term]
    while rest and rest[0][0] == "OR":
        term, rest = _read_all(rest[1:], where)
        choices.append(term)
    if len(choices) == 1:
        return choices[0], rest
    matches = [choice.match for choice in choices]
    return Term(
        lambda words: any(match(words) for match in matches),
        stands_alone=all(choice.stands_alone for choice in choices),
        is_keyed=any(choice.is_keyed for choice in choices),
        is_timed=any(choice.is_timed for choice in choices),
    ), rest


def _read_all(parts: list[tuple[str, int]], where: _Where) -> tuple[Term, list[tuple[str, int]]]:
    """Terms with a space between them."""
    terms: list[Term] = []
    while parts and parts[0][0] not in (")", "OR"):
        part, _ = parts[0]
        if part in ("(", "-("):
            term, rest = _read_any(parts[1:], where)
            if not rest or rest[0][0] != ")":
                raise _unexpected(rest)
            parts = rest[1:]
            terms.append(_not(term) if part == "-(" else term)
        else:
            terms.append(_read_term(*parts[0], where))
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
        is_timed=any(term.is_timed for term in terms),
    ), parts


def _read_term(part: str, position: int, where: _Where) -> Term:
    if part.startswith("-") and len(part) > 1:
        if part[1:] in ONLY_NEGATED:
            return Term(lambda words: True, stands_alone=False)
        return _not(_read_term(part[1:], position + 1, where))
    pair = _OPERATOR.match(part)
    if pair and pair[1] not in ("http", "https"):
        term = operator(pair[1], pair[2].strip('"'), where.world, where.dialect)
        if term is None or part in ONLY_NEGATED:
            why = f"Reference to invalid operator '{pair[1]}'. {_PRODUCT}{_LISTED}"
            raise BadQuery(f"{why} (at position {position})")
        return term
    if part.startswith("#") and len(part) > 1:
        tag = part[1:].casefold()
        return Term(lambda words: tag in map(str.casefold, words.content.tags), is_keyed=True)
    if part.startswith("$") and len(part) > 1:
        return Term(cashtag(part[1:]), is_keyed=True)
    if part.startswith("@") and len(part) > 1:
        author = author_of(where.world, part[1:])
        return Term(lambda words: author in words.content.mentions)
    if pair:
        return Term(linking(part), is_keyed=True)
    return Term(_saying(part.strip('"')), is_keyed=True)


def _not(term: Term) -> Term:
    match = term.match
    return Term(lambda words: not match(words), stands_alone=False, is_timed=term.is_timed)


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


def _unexpected(rest: list[tuple[str, int]]) -> BadQuery:
    part, position = rest[0] if rest else ("<EOF>", 0)
    return BadQuery(f"no viable alternative at input '{part}' (at position {position})")
