"""The form of a rule, on the page and in the admin: checks what a rule of its kind needs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError

from trackers.alerts.kinds import SHAPES, About, RuleKind
from trackers.alerts.models import (
    ADDRESSES_MOST,
    LEAST_REST,
    MOST_REST,
    RULES_MOST,
    AlertRule,
)
from trackers.alerts.subjects import NAME_OF, known, name_of, subject_id
from trackers.alerts.words import title
from trackers.channels.models import Channel, own_limits
from trackers.ingest.sources.models import Source
from trackers.roles import Person
from trackers.schedule.durations import spoken
from trackers.schedule.forms import LengthField
from trackers.tweets.finding.words import whole_words
from trackers.tweets.models import METRICS, Tweet
from tweetwatch.amounts import amount

_BY: dict[str, str] = {About.TAG: "its name", About.VIEW: "its name"}
_CALLED: dict[str, str] = {About.TWEET: "tracked tweet", About.VIEW: "saved view"}
_MAX_OFFERED = 200
_OF_A_KIND = ("metric", "minutes", "at", "times", "words", "any_word", "late_by", "lasting")
_RULE_FIELDS = (
    "kind",
    "name",
    "about",
    "of",
    *_OF_A_KIND,
    "to",
    "to_owner",
    "channels",
    "by_event",
    "rest",
    "enabled",
)
_AT_OF_USUAL = 100
_LEAST_QUIET, _MOST_QUIET = timedelta(hours=1), timedelta(days=30)
_QUIET_RANGE = f"From {spoken(_LEAST_QUIET)} to {spoken(_MOST_QUIET)}, such as 6h or 2d."
_PLAIN = {"spellcheck": "false", "autocomplete": "off"}
_REST_RANGE = f"From {spoken(LEAST_REST)} to {spoken(MOST_REST)}, such as 30m, 6h or 1d."


class AddressesField(forms.CharField):
    """Addresses, separated by commas, spaces or newlines; each once, in the order given."""

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        words = (super().to_python(value) or "").replace(",", " ").replace(";", " ").split()
        addresses = list(dict.fromkeys(words))
        if len(addresses) > ADDRESSES_MOST:
            raise ValidationError(f"Enter at most {ADDRESSES_MOST} addresses.")
        for address in addresses:
            try:
                forms.EmailField().clean(address)
            except ValidationError:
                raise ValidationError(f"“{address[:80]}” is not an e-mail address.") from None
        return addresses

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.prepare_value(initial or []) != (data or "")


class SubjectField(forms.CharField):
    """Which tweet, author, source, tag or view: as a person knows it, or its number."""

    def prepare_value(self, value: Any) -> Any:
        return value if value is None else str(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return str(initial or "") != (data or "")


class RuleForm(forms.ModelForm):
    """A new rule, or an existing one, whose kind is fixed. With a `kind`, only its fields."""

    to = AddressesField(
        required=False,
        label="E-mail to",
        widget=forms.TextInput(attrs=_PLAIN),
        help_text="Addresses, separated by commas. Leave empty for no e-mails.",
    )

    of = SubjectField(
        required=False,
        label="Which one",
        widget=forms.TextInput(attrs={**_PLAIN, "list": "subjects"}),
        help_text="@name, a link, a search as it is written, the name of a tag or of a saved view. "
        "Leave empty for all.",
    )

    class Meta:
        model = AlertRule
        fields = _RULE_FIELDS
        field_classes = {"late_by": LengthField, "lasting": LengthField, "rest": LengthField}
        labels = {
            "about": "About",
            "minutes": "Measured over the last",
            "times": "Times the usual",
            "late_by": "Later than",
            "any_word": "One of them is enough",
            "lasting": "For at least",
            "rest": "Pause after an alert",
            "channels": "Channels",
            "by_event": "Also an event, for subscribers to alerts",
            "enabled": "Switched on",
        }
        widgets = {
            "name": forms.TextInput(attrs=_PLAIN),
            "words": forms.TextInput(attrs=_PLAIN),
            "channels": forms.CheckboxSelectMultiple,
        }
        help_texts = {
            "name": "The subject of its e-mails and messages. Leave empty for a generated one.",
            "rest": "After an alert, it is silent about the same thing for this long. "
            f"{_REST_RANGE}",
            "by_event": "",
        }

    def __init__(
        self,
        *args: Any,
        kind: str = "",
        reader: Person | None = None,
        is_own: bool = False,
        **given: Any,
    ) -> None:
        """`reader`: who fills it in, and whose saved views it knows. `is_own`: a new one is this
        person's alone."""
        super().__init__(*args, **given)
        self.reader = reader or AnonymousUser()
        # As in an address; the form has its name.
        self.subject = {name: self.initial.get(name) for name in ("about", "of")}
        self.initial["of"] = name_of(self.subject["about"] or "", self.subject["of"], self.reader)
        self.is_new = self.instance.pk is None
        self.kind = kind if self.is_new else self.instance.kind
        self.fields["name"].required = False
        if not self.is_new:
            self.fields["kind"].disabled = True
        if is_own and self.is_new:
            self.instance.owner = self.reader
        self.offer_recipients()
        metrics = [("", "choose one"), *((metric, metric) for metric in METRICS)]
        self.fields["metric"].choices = metrics  # type: ignore[attr-defined]
        for name in ("minutes", "times", "late_by", "lasting", "rest", "at"):
            self.fields[name].required = False
        if self.kind:
            self.keep_to(RuleKind(self.kind))

    @property
    def is_own(self) -> bool:
        return self.instance.is_own

    def offer_recipients(self) -> None:
        """A rule of a person's own tells this person alone."""
        if self.instance.owner:
            self.instance.by_event = False
            offered = Channel.objects.own_of(self.reader)
            self.fields["to_owner"].label = f"E-mail to {self.instance.owner.email or 'me'}"
            if self.is_new:
                self.initial["to_owner"] = bool(self.instance.owner.email)
            del self.fields["to"], self.fields["by_event"]
        else:
            # Those of others stay where they were chosen.
            chosen = [] if self.is_new else self.instance.channels.values_list("pk", flat=True)
            offered = Channel.objects.seen_by(self.reader) | Channel.objects.filter(pk__in=chosen)
            del self.fields["to_owner"]
        channels = self.fields["channels"]
        channels.queryset = offered.defer("address")  # type: ignore[attr-defined]
        if not channels.queryset.exists():  # type: ignore[attr-defined]
            del self.fields["channels"]

    def keep_to(self, kind: AlertRule.Kind) -> None:
        """Drop what a rule of this kind does not have."""
        shape = SHAPES[kind]
        self.instance.kind = kind
        self.fields["kind"].initial = kind
        self.fields["kind"].widget = forms.HiddenInput()
        for name in set(_OF_A_KIND) - set(shape.fields):
            del self.fields[name]
        self.fields["about"].choices = [  # type: ignore[attr-defined]
            (one.value, one.label) for one in shape.about
        ]
        if len(shape.about) == 1:
            del self.fields["about"], self.fields["of"]
        if self.is_new:
            if kind in (RuleKind.VELOCITY, RuleKind.MILESTONE, RuleKind.FELL):
                # The model's 0 would be refused, or says nothing.
                self.initial["at"] = self.initial.get("at") or None
            self.fields["rest"].initial = shape.rest
            if "lasting" in self.fields:
                self.fields["lasting"].initial = shape.lasting
            if "metric" in self.fields:
                self.fields["metric"].initial = "likes"
        if kind == RuleKind.VELOCITY:
            self.fields["at"].label = "Gain per hour, at least"
            self.fields["at"].help_text = ""
        elif kind == RuleKind.MILESTONE:
            self.fields["at"].label = "Figure"
            self.fields["at"].help_text = (
                "" if self.is_own else "It also becomes a milestone, so subscribers get an event."
            )
        elif kind == RuleKind.FELL:
            self.fields["at"].label = "By at least"
            self.fields["at"].help_text = (
                "A fall of less than a tenth, or of less than ten, is never reported. Leave this "
                "empty for all others."
            )
        elif kind == RuleKind.QUIET:
            self.fields["lasting"].label = "No post for at least"
            self.fields["lasting"].help_text = _QUIET_RANGE
            self.fields["of"].help_text = "@name, a link, or a search as it is written."
        elif kind == RuleKind.USUAL:
            if self.is_new:
                # Three times two likes is no news.
                self.initial["at"] = self.initial.get("at") or _AT_OF_USUAL
            self.fields["at"].help_text = "Tweets with fewer than this are ignored."

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        kind = cleaned.get("kind")
        if kind not in RuleKind.values:
            return cleaned
        self.fill_in(cleaned, RuleKind(kind))
        self.check_about(cleaned, RuleKind(kind))
        takes_metric = "metric" in SHAPES[RuleKind(kind)].fields
        if takes_metric and not cleaned.get("metric") and "metric" not in self.errors:
            self.refuse("metric", "Choose a metric.")
        if kind in (RuleKind.VELOCITY, RuleKind.MILESTONE) and not cleaned.get("at"):
            self.refuse("at", "Enter a number of 1 or more.")
        if kind == RuleKind.WORDS and "words" not in self.errors:
            self.check_words(cleaned)
        if kind == RuleKind.QUIET:
            self.check_silence(cleaned)
        rest = cleaned.get("rest")
        if rest is not None and not LEAST_REST <= rest <= MOST_REST:
            self.refuse("rest", _REST_RANGE)
        self.check_recipients(cleaned)
        if self.is_new:
            self.check_limits()
        if kind == RuleKind.MILESTONE and not self.errors:
            self.check_figure(cleaned)
        if not cleaned.get("name") and not self.errors:
            about, of = cleaned["about"], cleaned["of"]
            said = (cleaned["metric"], cleaned["words"])
            called = name_of(about, of, self.reader)
            cleaned["name"] = title(kind, about, called, *said)[:80]
        return cleaned

    def fill_in(self, cleaned: dict[str, Any], kind: AlertRule.Kind) -> None:
        """Fields that the form lacks, or that were left empty, get the model's default."""
        shape = SHAPES[kind]
        usual = AlertRule(lasting=shape.lasting)
        for name in _OF_A_KIND:
            if name not in shape.fields or cleaned.get(name) in (None, ""):
                cleaned[name] = getattr(usual, name)
        if cleaned.get("rest") is None and "rest" not in self.errors:
            cleaned["rest"] = shape.rest
        cleaned.setdefault("about", About.ANY)
        if cleaned["about"] == About.ANY:
            cleaned["of"] = None
        cleaned.setdefault("of", None)

    def check_about(self, cleaned: dict[str, Any], kind: AlertRule.Kind) -> None:
        about, text = cleaned["about"], str(cleaned["of"] or "").strip()
        cleaned["of"] = of = subject_id(about, text, self.reader) if text else None
        if about not in SHAPES[kind].about:
            self.refuse("about", "This kind of rule cannot be about that. Choose another subject.")
        elif about != About.ANY and "of" not in self.errors:
            is_same = not self.is_new and (about, of) == (self.instance.about, self.instance.of)
            if not is_same and not (of and known(about, self.reader).filter(pk=of).exists()):
                what = _CALLED.get(about, about)
                self.refuse(
                    "of",
                    f"No {what} called “{text[:60]}” is known here."
                    if text
                    else f"Say which {what}: {_BY.get(about, '@name, a link, or its number')}.",
                )

    @property
    def offered(self) -> list[tuple[str, str]]:
        """Names of tags and of saved views to choose from, and which it is."""
        if "of" not in self.fields:
            return []
        allowed = dict(self.fields["about"].choices)  # type: ignore[attr-defined]
        return [
            (NAME_OF[about](row), what)
            for about, what in ((About.TAG, "tag"), (About.VIEW, "saved view"))
            if about in allowed
            for row in known(about, self.reader)[:_MAX_OFFERED]
        ]

    def check_recipients(self, cleaned: dict[str, Any]) -> None:
        told = any(cleaned.get(name) for name in ("to", "to_owner", "channels", "by_event"))
        owner = self.instance.owner
        if owner and cleaned.get("to_owner") and not owner.email:
            self.refuse("to_owner", "Your account has no e-mail address.")
        elif not told and not {"to", "channels"} & set(self.errors):
            self.refuse(
                "to_owner" if self.is_own else "to",
                "It would tell you nothing. Tick the e-mail, or a channel of your own."
                if self.is_own
                else "It would notify nobody. Enter an address, or tick a channel or the event.",
            )

    def check_limits(self) -> None:
        if AlertRule.objects.count() >= RULES_MOST:
            raise ValidationError(f"There are {RULES_MOST} rules already. Remove one first.")
        most = own_limits().rules
        if self.is_own and AlertRule.objects.filter(owner=self.instance.owner).count() >= most:
            raise ValidationError(
                f"You have {amount(most, 'rule')} of your own already. Remove one first."
                if most
                else "Nobody may have rules of their own here."
            )

    def check_figure(self, cleaned: dict[str, Any]) -> None:
        """Reject a figure that the tweet already has: it would never be reached."""
        if cleaned["about"] != About.TWEET or not {"metric", "at"} & set(self.changed_data):
            return
        tweet = Tweet.objects.filter(pk=cleaned["of"]).first()
        has = getattr(tweet, cleaned["metric"]) if tweet else None
        if has is not None and has >= cleaned["at"]:
            self.refuse("at", f"It has {has:,} already. Enter more.")

    def check_words(self, cleaned: dict[str, Any]) -> None:
        if whole_words([cleaned["words"]], any_word=[cleaned["any_word"]]) == [None]:
            self.refuse("words", "Enter a word that the text is to have.")

    def check_silence(self, cleaned: dict[str, Any]) -> None:
        if not _LEAST_QUIET <= cleaned["lasting"] <= _MOST_QUIET:
            self.refuse("lasting", _QUIET_RANGE)
        files = Source.objects.filter(kind=Source.Kind.IMPORT)
        is_source = cleaned.get("about") == About.SOURCE
        if is_source and files.filter(pk=cleaned.get("of") or 0).exists():
            self.refuse("of", "A file brings nothing new.")

    def refuse(self, field: str, message: str) -> None:
        self.add_error(field if field in self.fields else None, message)

    def _post_clean(self) -> None:
        # Fields that the form does not show are set here, and not looked for in the request.
        for name in set(self.cleaned_data) - set(self.fields):
            setattr(self.instance, name, self.cleaned_data.pop(name))
        super()._post_clean()  # type: ignore[misc]
