"""Short sentences, names and languages for invented tweets; chosen by number, so pure."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Phrasebook(NamedTuple):
    lang: str
    openings: tuple[str, ...]
    middles: tuple[str, ...]
    endings: tuple[str, ...]


_ENGLISH = Phrasebook(
    "en",
    (
        "Our new paper",
        "The night train",
        "This recipe",
        "Breaking: the committee",
        "My neighbour's cat",
        "The quarterly report",
        "A quiet street",
        "The second half",
        "Version 4",
        "Every spreadsheet",
        "The museum",
        "Thread: the data",
    ),
    (
        "turned out better than expected",
        "left without saying why",
        "is finally public",
        "needs a second look",
        "surprised all of us",
        "took eleven years",
        "explains more than I hoped",
        "has been postponed again",
    ),
    (
        "today.",
        "- more soon.",
        "& nobody noticed.",
        "\U0001f680",
        "(photo below)",
        "#longread",
        "!",
        "\U0001f941 again",
    ),
)
_GERMAN = Phrasebook(
    "de",
    ("Die Straßenbahn", "Unser Garten", "Das Büro", "Der Vertrag"),
    ("fährt wieder", "ist endlich fertig", "bleibt heute geschlossen", "überrascht alle"),
    ("!", "– später mehr.", "seit heute früh.", "\U0001f389"),
)
_JAPANESE = Phrasebook(
    "ja",
    ("新しい論文", "今日の電車", "この街", "うちの猫"),
    ("が公開されました", "は静かです", "に驚いた", "を見てください"),
    ("。", "!", "\U0001f431", "(写真)"),
)
_SPANISH = Phrasebook(
    "es",
    ("El informe", "Mañana la reunión", "Nuestra canción", "El niño"),
    ("llegó tarde", "sorprendió a todos", "está lista", "empieza otra vez"),
    ("…", "¿por qué?", "hoy.", "\U0001f3b6"),
)
_BOOKS = (_ENGLISH,) * 5 + (_GERMAN, _JAPANESE, _SPANISH)

FIRST_NAMES = ("Ada", "Bela", "Chidi", "Dolores", "Émile", "Fatou", "Goran", "Hana", "Inês", "Jun")
LAST_NAMES = ("Archer", "Bauer", "Costa", "Diallo", "Eriksen", "Fujita", "Garcia", "Haddad", "Ito")


@lru_cache(maxsize=8192)
def write(number: int) -> tuple[str, str]:
    """The (language, text) of sentence `number`, any number from 0."""
    number, pick = divmod(number, len(_BOOKS))
    book = _BOOKS[pick]
    number, opening = divmod(number, len(book.openings))
    number, middle = divmod(number, len(book.middles))
    ending = number % len(book.endings)
    return book.lang, f"{book.openings[opening]} {book.middles[middle]} {book.endings[ending]}"
