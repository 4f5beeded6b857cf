"""Which attempts a subscriber's page shows: of an outcome, of a period."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms

from trackers.dashboards.minute_fields import MinuteField


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
