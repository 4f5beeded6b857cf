"""The form for a subscriber; the rules are those of `terms`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib.postgres.forms import SimpleArrayField
from django.core.exceptions import ValidationError

from trackers.events.delivery.formats import FIGURES_ORDER
from trackers.events.models import Subscriber
from trackers.events.subscribers import acts, terms
from trackers.events.subscribers.headers import check_header, named_twice, read_line
from trackers.events.subscribers.rules import check_topics, check_uuid
from trackers.events.subscribers.terms import Terms
from trackers.history import Actor
from trackers.outbox.models import ALERTS_TOPIC, MILESTONES_TOPIC, SOURCES_TOPIC, TWEETS_TOPIC

_OWN_TOPICS = (
    (TWEETS_TOPIC, "tweets: found, changed, gone"),
    (MILESTONES_TOPIC, "milestones: a metric has reached one"),
    (SOURCES_TOPIC, "sources: a gap, a leak, hidden, back"),
    (ALERTS_TOPIC, "alerts: something needs a person"),
)
_FIELDS = (
    "callback", "max_events", "timeout_ms", "ordered", "concurrency", "rate", "format",
    "newest_only", "with_data", "authors", "sources", "metric", "at_least",
)  # fmt: skip
_HOW = ("format", "with_data", "newest_only", "max_events", "timeout_ms")
_WHICH = ("authors", "sources", "metric", "at_least")
_PACE = ("ordered", "concurrency", "rate")
_PROOF = ("headers", "without_headers", "uuid", "without_uuid")


_QUIET = {"spellcheck": "false", "autocomplete": "off"}
_WITH_DEFAULTS = ("max_events", "timeout_ms", "concurrency", "format")


class Unshown:
    """A write-only widget: not even what was just typed is shown again."""

    def format_value(self, value: Any) -> str:
        return ""


class UnshownLines(Unshown, forms.Textarea):
    pass


class UnshownLine(Unshown, forms.TextInput):
    pass


class HeadersField(forms.CharField):
    """One header per line, as `Name: value`."""

    def to_python(self, value: Any) -> Any:
        lines = [line for line in (super().to_python(value) or "").splitlines() if line.strip()]
        read = [read_line(line) for line in lines]
        if twice := named_twice(name for name, _ in read):
            raise ValidationError(f"The header {twice} is given twice.")
        for name, text in read:
            check_header(name, text)
        return dict(read)


class SubscriberForm(forms.ModelForm):
    """A new subscriber, or the terms of an existing one, whose name cannot be changed."""

    topics = forms.MultipleChoiceField(
        choices=_OWN_TOPICS, required=False, widget=forms.CheckboxSelectMultiple, label="Topics"
    )
    other_topics = forms.CharField(
        required=False,
        max_length=20_000,
        label="Other topics",
        help_text="Topics that other programs publish, separated by spaces.",
    )
    headers = HeadersField(
        required=False,
        label="Headers",
        help_text="Sent with each batch. One per line: Name: value. Values are not shown again.",
        widget=UnshownLines(attrs={"rows": 3, **_QUIET}),
    )
    without_headers = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Remove headers"
    )
    uuid = forms.CharField(
        required=False,
        label="Basic auth user name",
        widget=UnshownLine(attrs=_QUIET),
        validators=[check_uuid],
    )
    without_uuid = forms.BooleanField(required=False, label="Remove the user name")
    # The signing key of a subscriber that was added, to be shown once.
    key = ""

    class Meta:
        model = Subscriber
        fields = ("name", *_FIELDS)
        labels = {
            "max_events": "Events per batch",
            "timeout_ms": "Longest wait to fill a batch, in milliseconds",
            "ordered": "Strict order",
            "concurrency": "Parallel deliveries",
            "rate": "Events per second, at most",
            "newest_only": "Only the newest change of a tweet",
            "with_data": "Include the figures",
            "at_least": "At least",
        }
        widgets = {
            "name": forms.TextInput(attrs=_QUIET),
            "callback": forms.TextInput(
                attrs={"spellcheck": "false", "placeholder": "https://shop.example/events"}
            ),
        }
        help_texts = {"metric": "Choose a metric to leave out tweets below a number."}

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.is_new = self.instance.pk is None
        figures = [("", "any change"), *((name, name) for name in FIGURES_ORDER)]
        self.fields["metric"].choices = figures  # type: ignore[attr-defined]
        for name in ("authors", "sources"):
            field = self.fields[name]
            assert isinstance(field, SimpleArrayField)
            field.widget.attrs["spellcheck"] = "false"
        own, kept = [name for name, _ in _OWN_TOPICS], self.kept_headers()
        self.fields["without_headers"].choices = [(name, name) for name in kept]  # type: ignore[attr-defined]
        if self.is_new:
            for name in ("without_headers", "without_uuid"):
                del self.fields[name]
            self.fields["uuid"].help_text = "Leave empty to send none."
            # What the page does not send gets the model's default.
            for name in _WITH_DEFAULTS:
                self.fields[name].required = False
            return
        self.fields["name"].disabled = True
        names = set(self.instance.subscriptions.values_list("topic__name", flat=True))
        self.initial["topics"] = [name for name in own if name in names]
        self.initial["other_topics"] = " ".join(sorted(names.difference(own)))
        has_uuid = bool(self.instance.secrets.get("uuid"))
        self.fields["uuid"].help_text = (
            "Leave empty to keep the current one." if has_uuid else "Leave empty to send none."
        )
        if not kept:
            del self.fields["without_headers"]
        if not has_uuid:
            del self.fields["without_uuid"]

    def kept_headers(self) -> list[str]:
        return [] if self.is_new else sorted(self.instance.secrets.get("headers") or ())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in _WITH_DEFAULTS:
            if cleaned.get(name) in (None, "") and name not in self.errors:
                cleaned[name] = getattr(Subscriber(), name)
        if not {"topics", "other_topics"} & self.errors.keys():
            try:
                check_topics(self.all_topics())
            except ValidationError as error:
                self.add_error("other_topics", error)
        return cleaned

    def clean_sources(self) -> list[int]:
        sources: list[int] = self.cleaned_data["sources"]
        terms.check_sources(sources, before=self.initial.get("sources", ()))
        return sources

    def all_topics(self) -> list[str]:
        others = self.cleaned_data["other_topics"].replace(",", " ").split()
        return sorted({*self.cleaned_data["topics"], *others})

    def terms(self) -> Terms:
        cleaned = self.cleaned_data
        uuid = "" if cleaned.get("without_uuid") else (cleaned["uuid"] or None)
        gone: dict[str, str | None] = dict.fromkeys(cleaned.get("without_headers", ()))
        # A header that is both ticked and typed is replaced.
        typed = {name.lower() for name in cleaned["headers"]}
        gone = {name: None for name in gone if name.lower() not in typed}
        return Terms(
            {name: cleaned[name] for name in _FIELDS if name in cleaned},
            topics=self.all_topics(),
            uuid=uuid,
            headers={**gone, **cleaned["headers"]},
        )

    def store(self, actor: Actor) -> bool:
        """Add or change it; False: something was wrong after all, and `errors` says what."""
        try:
            if self.is_new:
                self.instance, self.key = acts.add(self.cleaned_data["name"], self.terms(), actor)
            else:
                self.instance = acts.change(self.instance, self.terms(), actor)
        except ValidationError as error:
            for name, messages in error.message_dict.items():
                self.add_error(name if name in self.fields else None, messages)
            return False
        return True

    def parts(self) -> list[tuple[str, bool, list[forms.BoundField]]]:
        """The collapsible sections of the page: title, whether it is open, and fields."""
        return [
            (title, self.has_faults(names), [self[name] for name in names if name in self.fields])
            for title, names in (
                ("Content: format, figures, batches", _HOW),
                ("Filters: which tweets", _WHICH),
                ("Speed and order", _PACE),
                ("Authentication: headers, user name", _PROOF),
            )
        ]

    def has_faults(self, names: Iterable[str]) -> bool:
        return any(name in self.errors for name in names)
