"""Fields of forms: durations and shares as people write them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from trackers.schedule.durations import parse, percentage, spell, spell_share


class LengthField(forms.CharField):
    """A duration: 60s, 18m, 1h, 7d or H:MM:SS."""

    def __init__(self, **options: Any) -> None:
        options.pop("encoder", None)
        options.setdefault("widget", forms.TextInput(attrs={"size": 10, "spellcheck": "false"}))
        super().__init__(**options)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, timedelta):
            return value
        text = super().to_python(value)
        if not text:
            return None
        try:
            return parse(text)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid") from None

    def prepare_value(self, value: Any) -> Any:
        return spell(value) if isinstance(value, timedelta) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(initial) != self.to_python(data))
        except ValidationError:
            return True


class ShareField(forms.CharField):
    """A share as a percentage: 5% or 5."""

    def __init__(self, **options: Any) -> None:
        for other in ("min_value", "max_value", "step_size"):
            options.pop(other, None)
        options["widget"] = forms.TextInput(attrs={"size": 5, "spellcheck": "false"})
        super().__init__(**options)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, float):
            return value
        text = super().to_python(value)
        if not text:
            return None
        try:
            return percentage(text)
        except ValueError as error:
            raise ValidationError(str(error), code="invalid") from None

    def prepare_value(self, value: Any) -> Any:
        return spell_share(value) if isinstance(value, float) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(initial) != self.to_python(data))
        except ValidationError:
            return True
