"""Forms for the intervals: the list checked as a whole, and its cost before it is saved."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from trackers.forecasts.cost_words import Estimate, row_of_interval
from trackers.forecasts.replace import Unconfirmed, weigh_cost
from trackers.schedule.adapt import usual_bounds
from trackers.schedule.durations import spell
from trackers.schedule.forms import LengthField, ShareField
from trackers.schedule.models import Interval
from trackers.schedule.validate import IntervalRow, faults, of_adapting

_NEEDED = ("younger_than", "every", "jitter", "enabled")
_ADAPTING = ("accuracy", "at_most", "at_least")
# In the order in which people read them.
INTERVAL_FIELDS = ("younger_than", "every", "accuracy", "at_most", "at_least", "jitter", "enabled")


class IntervalForm(forms.ModelForm):
    """A single row, added or changed: it must fit among the others."""

    sure = forms.BooleanField(
        required=False,
        label="Save it even if the whole list then asks for more than twice as much",
    )

    class Meta:
        model = Interval
        fields = INTERVAL_FIELDS
        field_classes = {
            "younger_than": LengthField,
            "every": LengthField,
            "accuracy": ShareField,
            "at_most": LengthField,
            "at_least": LengthField,
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        _refuse_beside_fields(self, cleaned)
        others = Interval.objects.exclude(pk=self.instance.pk)
        row = _row_of(cleaned)
        if row is not None:
            rows = sorted(
                [*map(row_of_interval, others), row], key=lambda row: (row.younger_than, row.every)
            )
            try:
                weigh_cost(rows, is_confirmed=cleaned.get("sure", False))
            except Unconfirmed as asks:
                lines = asks.estimate.lines
                sentences = [f"{line.what}: {line.now} now, {line.after} then." for line in lines]
                raise ValidationError([str(asks), *sentences]) from None
        return cleaned


class IntervalRowForm(forms.ModelForm):
    """One row of the list; the formset checks the list."""

    class Meta(IntervalForm.Meta):
        pass

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # The admin's list shows the fields under its column headings, without their own labels.
        bound = self.instance.younger_than
        row = f"younger than {spell(bound)}" if bound else "new row"
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{field.label or name}, {row}"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        _refuse_beside_fields(self, cleaned)
        return cleaned


class AdaptedRowForm(IntervalRowForm):
    """A fixed row with the default accuracy and bounds filled in, to be reviewed and saved."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        row = self.instance
        if row.pk and row.accuracy is None:
            usual = usual_bounds(row.younger_than)
            self.initial.update(
                accuracy=usual.accuracy,
                at_most=timedelta(seconds=usual.at_most),
                at_least=timedelta(seconds=usual.at_least),
            )


class IntervalFormSet(forms.BaseModelFormSet):
    """The whole list, saved together or not at all; a large increase in cost must be confirmed.

    `_save` is "cost" if a person only asks what it would cost; `sure` confirms a large increase.
    """

    estimate: Estimate | None = None
    asks_to_confirm = False

    def clean(self) -> None:
        super().clean()
        rows = [_row_of(form.cleaned_data) for form in self.forms if hasattr(form, "cleaned_data")]
        whole = [row for row in rows if row is not None]
        if len(whole) < len(rows):
            if sentences := faults(whole):
                raise ValidationError(sentences)
            return
        try:
            costs = weigh_cost(whole, is_confirmed=self.data.get("sure") == "yes")
        except Unconfirmed as asks:
            costs, self.asks_to_confirm = asks.estimate, True
        if self.asks_to_confirm or self.data.get("_save") == "cost":
            self.estimate = costs
            raise ValidationError("Not saved yet.", code="cost")

    @property
    def errors(self) -> Any:
        """Empty where only the cost is shown, since the person made no mistake."""
        errors = super().errors
        return [] if self.estimate else errors


def _row_of(cleaned: dict[str, Any]) -> IntervalRow | None:
    """The row; None when a field is missing or invalid, which is reported beside that field."""
    values = [cleaned.get(name) for name in _NEEDED]
    if None in values or any(name not in cleaned for name in _ADAPTING):
        return None
    return IntervalRow(*values, *(cleaned[name] for name in _ADAPTING))  # type: ignore[arg-type]


def _refuse_beside_fields(form: forms.ModelForm, cleaned: dict[str, Any]) -> None:
    """Report faults of the fields that make a row adapt beside those fields."""
    row = _row_of(cleaned)
    if row is not None:
        for field, sentence in list(of_adapting(row)):
            # This removes the field from the cleaned ones, so the list is not checked.
            form.add_error(field, sentence[:1].upper() + sentence[1:])
