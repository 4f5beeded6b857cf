"""What counts as a word, in a text and in a search: one expression, also used by the index.

Postgres' configuration `simple`: lower case, no stems, no stop words. Before its parser sees the
text, links are removed (X's are random letters), and what it would take for a host, a file, a tag
or a number's sign ("and/or", "end.Next", "ada_l") is split. Scripts without spaces between words
are split into single characters; a search for several of these is a search for a phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.contrib.postgres.search import SearchVectorField
from django.db.models import Func

from tweetwatch.database import cursor

_LINKS = r"https?://\S+"
# Thai and Lao, Burmese, Khmer, Japanese and Chinese.
_UNSPACED_SCRIPTS = (
    r"\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3005-\u30FF\u3400-\u9FFF\uF900-\uFAFF"
)
# The index uses exactly this expression: changing it takes a migration of the index.
_SPLIT_TEXT = (
    r"translate(regexp_replace(regexp_replace({}, '" + _LINKS + r"', ' ', 'gi'),"
    r" '([" + _UNSPACED_SCRIPTS + r"])', ' \1 ', 'g'), './_-+&<>@:=~', '            ')"
)
TEXT_WORDS = f"to_tsvector('simple', {_SPLIT_TEXT})"


def words_of(column: str) -> Func:
    """The words of a text, for an index."""
    template = TEXT_WORDS.replace("{}", "%(expressions)s")
    return Func(column, template=template, output_field=SearchVectorField())


# "a phrase", -"not this one", or anything between spaces.
_TERM = re.compile(r'(?P<no>-?)"(?P<phrase>[^"]*)"?|(?P<word>\S+)')
_WORD_PIECE = re.compile(r"[^\W_]+")
_MAX_PATTERNS = 8


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    wanted: bool = True
    unfinished: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """What a person typed, as text search queries of Postgres."""

    exact: str  # what a text must match
    loose: str  # only the wanted words, in any order
    # For ILIKE, which is quicker; every text that matches also matches each of these.
    patterns: tuple[str, ...]
    # Nothing but words: no quotes, no exclusions.
    is_bare: bool

    @property
    def is_plain(self) -> bool:
        """Whether `loose` finds what `exact` finds."""
        return self.exact == self.loose


def _split_terms(typed: str) -> Iterator[Term]:
    """The terms; the last word is unfinished, a prefix, unless something follows it."""
    for match in _TERM.finditer(typed):
        if match["word"] is None:
            yield Term(match["phrase"], wanted=not match["no"], quoted=True)
        elif match["word"].startswith("-"):
            yield Term(match["word"][1:], wanted=False)
        else:
            yield Term(match["word"], unfinished=match.end() == len(typed))


_PARSE_TERMS = f"""
    SELECT phraseto_tsquery('simple', {_SPLIT_TEXT.format("term")})::text,
           plainto_tsquery('simple', {_SPLIT_TEXT.format("term")})::text
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS told(term, place) ORDER BY place
"""


def _parsed(texts: Iterable[str]) -> list[list[tuple[Term, str, str]]]:
    """The terms of each text, as a phrase and as words in any order; both are empty where a term
    has no word. One statement, however many texts there are."""
    split = [list(_split_terms(re.sub(_LINKS, " ", text, flags=re.IGNORECASE))) for text in texts]
    terms = [term.text for of_text in split for term in of_text]
    with cursor() as db:
        queries = iter(db.execute(_PARSE_TERMS, {"terms": terms}).fetchall())
    return [[(term, *next(queries)) for term in of_text] for of_text in split]


def whole_words(typed: Sequence[str], *, any_word: Sequence[bool]) -> list[str | None]:
    """Of each: what a text must match to have all that was typed, or any of it, and nothing that
    is excluded: words are whole ones. None as for `parse_search`."""
    both = zip(_parsed(typed), any_word, strict=True)
    return [_whole_words(parsed, is_any=is_any) for parsed, is_any in both]


def _whole_words(parsed: Iterable[tuple[Term, str, str]], *, is_any: bool) -> str | None:
    phrases = [(term.wanted, phrase) for term, phrase, _ in parsed if phrase]
    wanted = [f"({phrase})" for is_wanted, phrase in phrases if is_wanted]
    if not wanted:
        return None
    unwanted = [f"!({phrase})" for is_wanted, phrase in phrases if not is_wanted]
    return " & ".join([f"({(' | ' if is_any else ' & ').join(wanted)})", *unwanted])


def parse_search(typed: str) -> Search | None:
    """The search for what was typed; None if it has no word, or only words to exclude."""
    [parsed] = _parsed([typed])
    exact, loose, patterns = [], [], []
    for term, phrase, plain in parsed:
        if not phrase:
            continue
        if not term.wanted:
            exact.append(f"!({phrase})")
            continue
        # Also after a phrase, where it applies to the last word.
        end = ":*" if term.unfinished else ""
        exact.append(f"({phrase}{end})")
        loose.append(f"({plain}{end})")
        patterns += [f"%{piece}%" for piece in _WORD_PIECE.findall(term.text)]
    if not loose:
        return None
    bare = all(term.wanted and not term.quoted for term, _, _ in parsed)
    longest = sorted(patterns, key=len, reverse=True)[:_MAX_PATTERNS]
    return Search(" & ".join(exact), " & ".join(loose), tuple(longest), bare)
