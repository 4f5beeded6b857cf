"""Fields of forms for a time, to the minute."""

from __future__ import annotations

from django import forms
from django.utils import timezone

_MINUTE_FORMAT = "%Y-%m-%dT%H:%M"


class _MinuteInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format=_MINUTE_FORMAT)


class MinuteField(forms.DateTimeField):
    """A time in the person's zone, which the label names."""

    widget = _MinuteInput

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> forms.BoundField:
        bound = super().get_bound_field(form, field_name)
        bound.label = f"{bound.label}, {timezone.get_current_timezone_name()}"
        return bound
