"""The form of a source, for pages and programs: checks and normalises what people paste."""

from __future__ import annotations

from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Max, Q
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.html import format_html

from trackers.ingest.sources.counts import price_of_a_count
from trackers.ingest.sources.days import cost_of, days_of
from trackers.ingest.sources.models import (
    LEAST_EVERY,
    MOST_EVERY,
    MOST_LATE,
    MOST_PAGES,
    Source,
)
from trackers.ingest.sources.naming import TweetLinkError, account_id, named, named_source
from trackers.money.models import Project
from trackers.schedule.durations import spoken, spoken_after_every
from trackers.schedule.forms import LengthField
from trackers.schedule.intervals import current
from trackers.xapi.page import MAX_PAGE_SIZE

_MEASURED_FOR = timedelta(days=29)
_BILLED = "X bills each post once per UTC day, so reading it again today costs nothing."


def cost(kind: str, *, every: timedelta, pages: int, price: Decimal) -> str:
    """An upper bound, since it is unknown how much will be posted. `price`: of a post."""
    if kind == Source.Kind.STREAM:
        return (
            "A stream is not polled; it costs every post that the rule matches, "
            f"${price.normalize():f} each. {_BILLED}"
        )
    if kind == Source.Kind.IMPORT:
        return "A file costs nothing by itself; the look-ups of its tweets do."
    polls = max(1, timedelta(days=1) // every)
    posts = pages * MAX_PAGE_SIZE
    many = f"{polls:,} polls a day" if polls > 1 else "One poll a day"
    return (
        f"{many} (one every {spoken_after_every(every)}), each of which costs its new posts, "
        f"{posts:,} at most: ${polls * posts * price:,.2f} a day is the most that it can cost, "
        f"as far as the budgets allow. {_BILLED}"
    )


def price_of_a_post() -> Decimal:
    """The highest that is paid, in US dollars."""
    highest = Project.objects.aggregate(price=Max("price_of_a_post"))["price"]
    return Decimal(highest if highest is not None else Project().price_of_a_post)


Kind = Source.Kind

_MAIN = ("kind", "of")
LATER = (
    "every", "pages", "backfill", "late_by", "priority", "owner",
    "exclude_replies", "exclude_retweets",
)  # fmt: skip
# What can be changed later: a stream is not polled, and a file was read once.
_CHANGEABLE = {Kind.STREAM: ("of", "priority", "owner"), Kind.IMPORT: ("priority", "owner")}
_EXAMPLES = (
    "@nasa, or the link or number of an account or a list; a search or a rule as X writes them, "
    "such as #artemis lang:en, or the link of a search or a hashtag."
)
_BY_US = (
    "X leaves replies and retweets out of an account's posts. In mentions, searches and "
    "lists they are left out after reading, so X bills them anyway; in a search, "
    "-is:reply or -is:retweet is cheaper."
)
_ANOTHER = (
    "If you change it to something else, the source starts over, and unread posts of the "
    "old one are given up."
)
_IN_THE_RULE = "Add -is:{} to the rule instead. X sends, and bills, whatever the rule matches."


class SourceForm(forms.ModelForm):
    """A new source, or the settings of an existing one, whose kind is then fixed.

    For a new one only kind and origin need be sent; the model's defaults fill the rest.
    """

    class Meta:
        model = Source
        fields = (*_MAIN, *LATER)
        field_classes = {"every": LengthField, "backfill": LengthField, "late_by": LengthField}
        labels = {
            "kind": "What",
            "of": "Of",
            "every": "Polled every",
            "pages": "Pages per poll",
            "backfill": "First poll reads back",
            "late_by": "Late by",
        }
        widgets = {
            "of": forms.TextInput(attrs={"size": 60, "spellcheck": "false", "autocomplete": "off"})
        }
        help_texts = {
            "of": _EXAMPLES,
            "every": f"From {spoken(LEAST_EVERY)} to {spoken(MOST_EVERY)}, such as 90s, 5m or "
            "1h 30m.",
            "exclude_retweets": _BY_US,
        }

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.is_new = self.instance.pk is None
        if not self.is_new:
            for name in {*_MAIN, *LATER}.difference(changeable(self.instance)):
                del self.fields[name]
        if kind := self.fields.get("kind"):
            # Files are uploaded with a form of their own.
            kind.choices = [one for one in Kind.choices if one[0] != Kind.IMPORT]  # type: ignore[attr-defined]
        if of := self.fields.get("of"):
            # Missing or overlong values get an error in the words of their kind.
            of.required = False
            of.validators = []
            of.widget.attrs.pop("maxlength", None)
            if not self.is_new:
                of.help_text = f"{_EXAMPLES} {_ANOTHER}"
        if self.is_new:
            # The page sends only kind and origin if "more" was never opened, or was emptied.
            for name in ("every", "pages", "priority"):
                if name in self.fields:
                    self.fields[name].required = False

    @cached_property
    def changed_data(self) -> list[str]:
        """Replacing nasa by @nasa is not a change."""
        names: list[str] = super().changed_data
        same = getattr(self, "cleaned_data", {}).get("of") == self.initial.get("of")
        return [name for name in names if name != "of" or not same]

    def clean_every(self) -> timedelta:
        every: timedelta | None = self.cleaned_data["every"]
        if every is None:
            return self.instance.every
        if not LEAST_EVERY <= every <= MOST_EVERY:
            raise ValidationError(
                f"An interval is {spoken(LEAST_EVERY)} at least and {spoken(MOST_EVERY)} at most."
            )
        return every

    def clean_pages(self) -> int:
        pages: int | None = self.cleaned_data["pages"]
        if pages is None:
            return self.instance.pages
        if not 1 <= pages <= MOST_PAGES:
            raise ValidationError(f"A poll reads 1 to {MOST_PAGES} pages.")
        return pages

    def clean_priority(self) -> int:
        priority: int | None = self.cleaned_data["priority"]
        return self.instance.priority if priority in (None, "") else int(priority)

    def clean_backfill(self) -> timedelta | None:
        return _not_negative(self.cleaned_data["backfill"])

    def clean_late_by(self) -> timedelta | None:
        late_by = _not_negative(self.cleaned_data["late_by"])
        if late_by is not None and late_by > MOST_LATE:
            raise ValidationError(
                f"Give at most {spoken(MOST_LATE)}: each poll reads that much again. Posts that "
                "appear even later are found by the deep re-reads."
            )
        return late_by

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        kind = cleaned.get("kind", self.instance.kind)
        if kind and "of" in cleaned:
            self.name(kind, cleaned)
            kind = cleaned.get("kind", kind)
        if kind == Kind.STREAM:
            for field, word in (("exclude_replies", "reply"), ("exclude_retweets", "retweet")):
                if cleaned.get(field):
                    self.add_error(field, _IN_THE_RULE.format(word))
        return cleaned

    def name(self, kind: str, cleaned: dict[str, Any]) -> None:
        text = cleaned["of"]
        try:
            # The kind of one that exists is fixed; of a new one, a link says it.
            kind, cleaned["of"] = (
                named_source(kind, text) if self.is_new else (kind, named(kind, text))
            )
        except TweetLinkError as error:
            self.add_error("of", _track_instead(str(error), text))
            return
        except ValueError as error:
            self.add_error("of", str(error))
            return
        if self.is_new:
            cleaned["kind"] = kind
        if there := _same(kind, cleaned["of"]).exclude(pk=self.instance.pk).first():
            self.add_error("of", _already(there))

    def more(self) -> list[forms.BoundField]:
        return [self[name] for name in LATER if name in self.fields]

    def has_faults_in_more(self) -> bool:
        return any(name in self.errors for name in LATER)

    @property
    def cost(self) -> str:
        """The cost of what the form holds now, as far as that is valid; where it was measured, that
        first."""
        if self.is_bound:
            self.is_valid()
        cleaned = getattr(self, "cleaned_data", {})
        source = self.instance
        most = cost(
            self.chosen_kind,
            every=cleaned.get("every") or source.every,
            pages=cleaned.get("pages") or source.pages,
            price=price_of_a_post(),
        )
        return most if self.is_new else f"{_measured(source)}{most}"

    @property
    def chosen_kind(self) -> str:
        return getattr(self, "cleaned_data", {}).get("kind") or self.instance.kind or Kind.ACCOUNT

    @property
    def price_of_counting(self) -> str:
        """What it costs to have X count before; empty where it counts nothing."""
        if self.chosen_kind != Kind.SEARCH:
            return ""
        return f"${price_of_a_count().normalize():f}"


def _measured(source: Source) -> str:
    """What it cost until now; empty before its first poll."""
    today = current()[0].astimezone(UTC).date()
    measured = cost_of(days_of(source.pk, since=today - _MEASURED_FOR), today=today)
    if measured is None:
        return ""
    lately = "today" if measured.days == 1 else f"in the last {measured.days} days"
    return f"It cost ${measured.a_day:,.2f} a day, measured {lately}. "


def changeable(source: Source) -> tuple[str, ...]:
    """The fields of an existing source that can be changed."""
    return _CHANGEABLE.get(Kind(source.kind), ("of", *LATER))


def _not_negative(length: timedelta | None) -> timedelta | None:
    if length is not None and length < timedelta(0):
        raise ValidationError("A duration cannot be negative.")
    return length


def _same(kind: str, of: str) -> Any:
    """The sources that read the same; an account's name is the same in upper or lower case."""
    if kind in (Kind.ACCOUNT, Kind.MENTIONS):
        same = Q(of__iexact=of) | Q(username__iexact=of.removeprefix("@"))
        if id := account_id(of):
            same = Q(of=of) | Q(account_id=id)
        return Source.objects.filter(same, kind=kind)
    return Source.objects.filter(kind=kind, of=of)


def _track_instead(why: str, link: str) -> str:
    """With a button that takes the link to where tweets are tracked."""
    return format_html(
        '{} <button class="quiet" formaction="{}" name="lines" value="{}">Track this post</button>',
        why, reverse("tweets-track"), link.strip(),
    )  # fmt: skip


def _already(there: Source) -> str:
    return format_html(
        'It already exists: <a href="{}">{}</a>.', reverse("source", args=[there.pk]), there
    )
