"""The form of a person's own regular e-mail."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils import timezone

from trackers.alerts.models import DIGEST_CHANNELS_MOST, VIEWS_MOST, AlertDigest
from trackers.alerts.report import offered_sets
from trackers.alerts.rhythm import Every
from trackers.channels.models import Channel
from trackers.saved_views.models import SavedView

_VIEWS_OFFERED = 50


class DigestForm(forms.ModelForm):
    """When it is sent, on which tweets it reports, and whether also on quiet days."""

    report = forms.ChoiceField(label="With a report on", required=False)
    views = forms.TypedMultipleChoiceField(
        label="With the strongest posts of",
        required=False,
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
    )
    channels = forms.TypedMultipleChoiceField(
        label="Also as text to",
        required=False,
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = AlertDigest
        fields = ("every", "weekday", "hour", "report", "views", "channels", "when_quiet")
        labels = {
            "every": "How often",
            "weekday": "Day, if once a week",
            "when_quiet": "Also when nothing was alerted",
        }
        error_messages = {"hour": {"max_value": "An hour is a number from 0 to 23."}}

    def __init__(self, user: User, *args: Any, proposed: str = "", **kwargs: Any) -> None:
        """`proposed`: the set that an address names, as "author/42"."""
        super().__init__(*args, **kwargs)
        self.fields["hour"].label = f"Hour, {timezone.get_current_timezone_name()}"
        report = proposed or self.instance.report
        self.initial["report"] = report
        if self.instance.pk is None:
            self.initial["when_quiet"] = True
            self.initial["every"] = Every.WEEK if proposed else Every.DAY
        typed = str(self.data.get("report", ""))
        chosen = cast(forms.ChoiceField, self.fields["report"])
        chosen.choices = offered_sets(user, {report, typed})
        # What is gone is not offered, and so not chosen any more once the form is saved.
        views = SavedView.objects.seen_by(user)[:_VIEWS_OFFERED]
        self._offer("views", [(view.pk, view.title) for view in views])
        channels = Channel.objects.seen_by(user).values_list("pk", "name")
        self._offer("channels", list(channels))

    def _offer(self, name: str, choices: list[tuple[int, str]]) -> None:
        """No field where there is nothing to choose."""
        cast(forms.TypedMultipleChoiceField, self.fields[name]).choices = choices
        if not choices:
            del self.fields[name]

    def clean_views(self) -> list[int]:
        chosen: list[int] = self.cleaned_data["views"]
        if len(chosen) > VIEWS_MOST:
            raise ValidationError(f"Choose at most {VIEWS_MOST} saved views.")
        return chosen

    def clean_channels(self) -> list[int]:
        chosen: list[int] = self.cleaned_data["channels"]
        if len(chosen) > DIGEST_CHANNELS_MOST:
            raise ValidationError(f"Choose at most {DIGEST_CHANNELS_MOST} channels.")
        return chosen
