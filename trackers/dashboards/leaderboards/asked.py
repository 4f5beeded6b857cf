"""What the address of the leaderboards asks for: a kind of sets, a period, a metric, an order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, tzinfo
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict

from trackers.sets.kinds import SetKind, TweetSet, find_set
from trackers.sets.leaderboards.asked import WITHIN_KINDS, AskedBoard
from trackers.sets.leaderboards.count import RANKED
from trackers.sets.leaderboards.rank import ORDERS
from trackers.sets.leaderboards.update import LIST_HOURS, LISTED_KINDS
from trackers.sets.periods import Period, custom_period

KIND_NAMES = {kind.name.lower(): kind for kind in LISTED_KINDS}
_DEFAULTS = {"of": "author", "period": "7d", "metric": "views", "by": "total"}


@dataclass(frozen=True, slots=True)
class BoardQuery:
    of: str  # of KIND_NAMES
    period: str  # of LIST_HOURS; empty: `days`
    metric: str
    by: str
    within: TweetSet | None = None  # None: all tweets
    days: Period | None = None
    problem: str = field(default="", compare=False)  # with the days that were typed

    def address(self, **changed: str) -> str:
        """The query of this page, or of one that differs in this."""
        asked = replace(self, **changed) if changed else self  # type: ignore[arg-type]
        params = {name: getattr(asked, name) for name in _DEFAULTS}
        params["within"] = asked.within_address
        if not asked.period:
            params |= {"from": self.first_day, "until": self.last_day}
        return urlencode(
            {
                name: value
                for name, value in params.items()
                if value not in ("", _DEFAULTS.get(name))
            }
        )

    @property
    def within_address(self) -> str:
        """Empty: all tweets."""
        return self.within.address if self.within else ""

    @property
    def address_of_all(self) -> str:
        """The query of the same list of all tweets."""
        return replace(self, within=None).address()

    @property
    def board(self) -> AskedBoard:
        return AskedBoard(KIND_NAMES[self.of], self.days or self.period, self.within)

    @property
    def first_day(self) -> str:
        """As a form takes it; empty where no days were chosen."""
        return f"{self.days.this.since.astimezone(self.days.zone):%Y-%m-%d}" if self.days else ""

    @property
    def last_day(self) -> str:
        return (
            f"{self.days.steps[-1][0].since.astimezone(self.days.zone):%Y-%m-%d}"
            if self.days
            else ""
        )


def parse_board_query(
    query: QueryDict, reader: User | AnonymousUser, zone: tzinfo, *, now: datetime
) -> BoardQuery:
    """Read the address, ignoring what is invalid in it, but for days that a person typed, and for a
    set that is not there."""

    def one_of(name: str, known: object) -> str:
        value = query.get(name, "")
        return value if value in known else _DEFAULTS[name]  # type: ignore[operator]

    asked = BoardQuery(
        of=one_of("of", KIND_NAMES),
        period=one_of("period", LIST_HOURS),
        metric=one_of("metric", RANKED),
        by=one_of("by", ORDERS),
    )
    if within := query.get("within", ""):
        kind, _, key = within.partition("/")
        # Tags are chosen by name.
        key = f"#{key.lstrip('#')}" if kind == SetKind.TAG and not key.isdigit() else key
        found = find_set(kind, key, reader) if kind in WITHIN_KINDS else None
        problem = "" if found else "There is no such set; these are of all tweets."
        asked = replace(asked, within=found, problem=problem)
    if not (query.get("from") or query.get("until")):
        return asked
    try:
        first, last = (date.fromisoformat(query.get(name, "")) for name in ("from", "until"))
    except ValueError:
        return replace(asked, problem="A period takes its first and its last day.")
    try:
        return replace(asked, period="", days=custom_period(first, last, zone, now=now))
    except ValueError as error:
        return replace(asked, problem=str(error))
