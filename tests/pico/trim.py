"""Pico CSS, without the rules that no page needs.

Of its 83 kB, most are for elements, classes and attributes that no page has. A selector is left out
if it needs one of UNUSED, a rule if it has no selector left; then the colours that our styles set
for every theme, and the custom properties and keyframes that nothing names any more. No selector is
rewritten, so what is left has the specificity and the order that it had. `python -m tests.pico`
writes the file; tests see that it is written anew where this changes, and that no page has what was
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "trackers" / "static" / "trackers"
PUBLISHED = HERE / "pico-2.1.1.min.css"
TRIMMED = STATIC / "vendor" / "pico-2.1.1" / "pico.trimmed.css"

UNUSED = frozenset({
    # elements
    "abbr", "address", "area", "audio", "blockquote", "del", "h4", "h5", "h6", "hgroup", "hr",
    "iframe", "ins", "mark", "samp", "sub", "sup", "tfoot", "video",
    # classes
    ".close", ".container", ".container-fluid", ".contrast", ".dropdown", ".grid",
    ".modal-is-closing", ".modal-is-open", ".modal-is-opening", ".overflow-auto", ".striped",
    # attributes and their values
    "[aria-busy=true]", "[aria-controls]", "[aria-current=false]", "[aria-disabled=true]",
    "[aria-hidden=false]",
    "[aria-invalid=false]", "[aria-label=breadcrumb]", "[controls]", "[data-placement=bottom]",
    "[data-placement=left]", "[data-placement=right]", "[data-placement=top]", "[data-tooltip]",
    "[dir=rtl]", "[multiple]", "[open=false]", "[role=button]", "[role=group]", "[role=link]",
    "[role=search]", "[size]", "[type=color]", "[type=month]",
    "[type=range]", "[type=reset]", "[type=time]", "[type=week]",
    # a shadow tree
    ":host",
})  # fmt: skip
# Used, but not in one selector.
UNUSED_TOGETHER = [
    frozenset(pair.split())
    for pair in (
        "aside li", "aside nav", "aside ol", "aside ul", "dialog [rel=prev]", "dialog footer",
        "dialog header", "fieldset [disabled]",
        "[type=search] [aria-invalid]", "[type=search] [aria-invalid=true]",
        "[role=switch] [aria-invalid=true]", "[role=switch] [disabled]",
        "button [aria-current]", "[type=button] [aria-current]",
        "[type=submit] [aria-current]", "[type=file] [aria-current]",
    )
]  # fmt: skip

Rule = tuple[str, str]  # what stands before the brace, and what stands in it
_STRING_OR = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|"
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Those whose arguments are selectors of which one has to match.
_ANY_OF = re.compile(r":(?:is|where|has)\(")
_PARTS = re.compile(r"::?[\w-]+|\.[\w-]+|\[[^\]]*\]|(?<![\w-])[a-z][\w-]*")
# Wherever Pico sets them for the page as a whole, this is more specific, or as specific and later.
_OF_EVERY_THEME = re.compile(r"^:root:root \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_OF_A_THEME = re.compile(
    r":root(:not\(\[data-theme(=dark)?\]\))?|\[data-theme=(light|dark)\]|:where\(:root\)"
)
_NAMED = re.compile(r"var\((--[\w-]+)")
_ANIMATED = re.compile(r"animation(?:-name)?:([\w-]+)")
_STATES = re.compile(
    r"::?(?:hover|focus-visible|focus-within|focus|active|checked|indeterminate|after|before"
    r"|placeholder|file-selector-button|selection|backdrop|-(?:webkit|moz|ms)-[\w-]+)(?![\w(-])"
)
_EMPTY = re.compile(r":(?:is|not|where)\(,*\)|(?<=\(),+|,+(?=\))|,(?=,)")
_LINE = re.compile(rf"(?:{_STRING_OR}[^;])+")


def trimmed() -> str:
    """What the pages load."""
    published = PUBLISHED.read_text()
    licence = _COMMENT.search(published)
    assert licence
    rules = _without_unused(_rules_of(_COMMENT.sub("", published).replace('@charset "UTF-8";', "")))
    styles = "".join(path.read_text() for path in sorted(STATIC.glob("*.css")))
    replaced = set(re.findall(r"(--pico-[\w-]+):", _OF_EVERY_THEME.findall(styles)[0]))
    rules = _without_replaced(rules, replaced)
    while (shorter := _without_unnamed(rules, styles)) != rules:
        rules = shorter
    head = f"{licence[0]}\n/* Without what no page needs: tests/pico/trim.py */\n"
    return head + "".join(f"{selector}{{{body}}}\n" for selector, body in rules)


def left_out(rules: list[Rule] | None = None) -> list[str]:
    """The selectors of these rules, or of the published ones, that are left out."""
    given = selectors_in(PUBLISHED.read_text()) if rules is None else _selectors_of(rules)
    return [one for one in given if not _may_match(one)]


def selectors_in(styles: str) -> Iterator[str]:
    return _selectors_of(_rules_of(_COMMENT.sub("", styles).replace('@charset "UTF-8";', "")))


def without_states(selector: str) -> str:
    """What it needs whatever the mouse and the focus do, for a look whether a page has it."""
    rest = _STATES.sub("", selector)
    while (shorter := _EMPTY.sub("", rest)) != rest:
        rest = shorter
    return f"{rest}*" if rest[-1:] in ("", ">", "+", "~", " ") else rest


def selectors(list_of_them: str) -> list[str]:
    """a,b(c,d) has two."""
    made, depth, begin = [], 0, 0
    for place, character in enumerate(list_of_them):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            made.append(list_of_them[begin:place])
            begin = place + 1
    return [*made, list_of_them[begin:]]


def _rules_of(text: str) -> list[Rule]:
    rules = []
    depth = begin = opened = 0
    for match in re.finditer(_STRING_OR + r"[{}]", text):
        if match[0] == "{":
            depth += 1
            opened = match.start() if depth == 1 else opened
        elif match[0] == "}":
            depth -= 1
            if not depth:
                rules.append((text[begin:opened].strip(), text[opened + 1 : match.start()]))
                begin = match.end()
    return rules


def _is_group(selector: str) -> bool:
    """Whether there are rules within."""
    return selector.startswith("@") and not selector.startswith("@keyframes")


def _selectors_of(rules: list[Rule]) -> Iterator[str]:
    for selector, body in rules:
        if _is_group(selector):
            yield from _selectors_of(_rules_of(body))
        elif not selector.startswith("@"):
            yield from selectors(selector)


def _without_unused(rules: list[Rule]) -> list[Rule]:
    made: list[Rule] = []
    for selector, body in rules:
        if selector.startswith("@keyframes"):
            made.append((selector, body))
        elif selector.startswith("@-moz-document "):
            continue  # Firefox before 2019
        elif _is_group(selector):
            within = _without_unused(_rules_of(body))
            made += [(selector, _written(within))] * bool(within)
        else:
            kept = [one for one in selectors(selector) if _may_match(one)]
            made += [(",".join(kept), body)] * bool(kept)
    return made


def _may_match(selector: str) -> bool:
    """Whether it needs nothing that is unused."""
    parts = _needed(selector)
    return not (
        parts is None or parts & UNUSED or any(together <= parts for together in UNUSED_TOGETHER)
    )


def _needed(selector: str) -> set[str] | None:
    """What it needs at least; None if it is unused for what one of its lists needs."""
    rest, at = "", 0
    while at < len(selector):
        if any_of := _ANY_OF.match(selector, at):
            end = _closing(selector, any_of.end())
            choices = selectors(selector[any_of.end() : end])
            if not any(_may_match(one) for one in choices):
                return None
            # Of several, any may be the one that matches.
            rest += choices[0] if len(choices) == 1 else ""
            at = end + 1
        else:
            rest += selector[at]
            at += 1
    return set(_PARTS.findall(_without_nots(rest)))


def _without_nots(selector: str) -> str:
    while (begin := selector.find(":not(")) >= 0:
        end = _closing(selector, begin + len(":not("))
        selector = selector[:begin] + selector[end + 1 :]
    return selector


def _closing(text: str, at: int) -> int:
    """Where the parenthesis closes that was opened before."""
    depth = 1
    while depth:
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return at - 1


def _without_replaced(rules: list[Rule], replaced: set[str]) -> list[Rule]:
    made: list[Rule] = []
    for selector, body in rules:
        if _is_group(selector):
            made.append((selector, _written(_without_replaced(_rules_of(body), replaced))))
        elif all(_OF_A_THEME.fullmatch(one) for one in selectors(selector)):
            lines = [line for line in _lines_of(body) if line.split(":")[0] not in replaced]
            made.append((selector, ";".join(lines)))
        else:
            made.append((selector, body))
    return made


def _without_unnamed(rules: list[Rule], styles: str) -> list[Rule]:
    """Without the properties and keyframes that neither these rules nor our styles name, and
    without the rules that are empty then."""
    text = _written(rules)
    return _with_names(rules, {*_NAMED.findall(text + styles), *_ANIMATED.findall(text)})


def _with_names(rules: list[Rule], named: set[str]) -> list[Rule]:
    made: list[Rule] = []
    for selector, body in rules:
        if selector.startswith("@keyframes"):
            rest = body * (selector.split()[1] in named)
        elif _is_group(selector):
            rest = _written(_with_names(_rules_of(body), named))
        else:
            lines = _lines_of(body)
            rest = ";".join(
                line for line in lines if line[:2] != "--" or line.split(":")[0] in named
            )
        made += [(selector, rest)] * bool(rest)
    return made


def _lines_of(body: str) -> list[str]:
    return [match[0] for match in _LINE.finditer(body)]


def _written(rules: list[Rule]) -> str:
    return "".join(f"{selector}{{{body}}}" for selector, body in rules)
