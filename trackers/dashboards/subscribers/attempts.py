"""Which attempts a subscriber's page shows: of an outcome, of a period."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils import timezone

_MINUTE_FORMAT = "%Y-%m-%dT%H:%M"


class MinuteInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format=_MINUTE_FORMAT)


class MinuteField(forms.DateTimeField):
    """A time in the person's zone, which the label names."""

    widget = MinuteInput

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> forms.BoundField:
        bound = super().get_bound_field(form, field_name)
        bound.label = f"{bound.label}, {timezone.get_current_timezone_name()}"
        return bound


class AttemptsForm(forms.Form):
    """From the page's address; of a period with a fault nothing is filtered by time."""

    outcome = forms.CharField(widget=forms.HiddenInput, required=False)
    since = MinuteField(label="From", required=False)
    until = MinuteField(label="Until", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since >= until:
            self.add_error("since", "This must be before “Until”.")
        return cleaned

    def period(self) -> dict[str, Any]:
        if self.errors:
            return {}
        return {name: self.cleaned_data[name] for name in ("since", "until")}

    def query(self) -> str:
        """The period for the page's addresses, as it was typed."""
        return urlencode({name: self.data[name] for name, at in self.period().items() if at})
