"""The form of a channel: its name, and the parts of its address as the service calls them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import format_html

from trackers.channels import acts
from trackers.channels.models import Channel
from trackers.channels.shapes import SHAPES
from trackers.channels.shapes.shape import Part
from trackers.credentials.secrets import SecretUnreadableError
from trackers.history import Actor

_NOT_COMPLETED = {"spellcheck": "false", "autocomplete": "off"}


class ChannelForm(forms.Form):
    """A new channel of a kind, or an existing one, of which secret parts are never shown."""

    name = forms.CharField(
        max_length=80,
        widget=forms.TextInput(attrs=_NOT_COMPLETED),
        help_text="As rules and the log call it, such as “newsroom on Slack”.",
    )

    def __init__(
        self,
        data: Any = None,
        *,
        kind: str,
        channel: Channel | None = None,
        is_own: bool = False,
    ) -> None:
        """`is_own`: a new one is for the person alone."""
        super().__init__(data)
        self.kind, self.channel = kind, channel
        self.is_new = channel is None
        self.is_own = is_own if channel is None else channel.is_own
        if channel is not None:
            self.initial["name"] = channel.name
        for part in SHAPES[kind].parts:
            self.fields[part.name] = self._field_of(part)

    def _field_of(self, part: Part) -> forms.Field:
        # A secret is not sent back with a fault elsewhere.
        widget = forms.PasswordInput if part.is_secret else forms.TextInput
        is_kept = part.is_secret and not self.is_new
        if self.channel is not None and not part.is_secret:
            with suppress(SecretUnreadableError):
                self.initial[part.name] = self.channel.address.get(part.name, "")
        kept = "Leave it empty to keep what is stored. " if is_kept else ""
        link = (
            ' <a href="{}" rel="noopener noreferrer">The service’s help</a>.' if part.link else ""
        )
        return forms.CharField(
            label=part.label,
            required=False,
            strip=True,
            initial=part.default,
            widget=widget(attrs=_NOT_COMPLETED),
            help_text=format_html(f"{{}}{{}}{link}", kept, part.help, part.link),
        )

    @property
    def has_secrets(self) -> bool:
        """Whether some were typed, and have to be typed again."""
        return any(self.data.get(part.name) for part in SHAPES[self.kind].parts if part.is_secret)

    def store(self, actor: Actor) -> Channel | None:
        """Add it, or change it; None: something is wrong, and the fields say what."""
        address = {part.name: self.cleaned_data[part.name] for part in SHAPES[self.kind].parts}
        name = self.cleaned_data["name"]
        try:
            if self.channel is None:
                return acts.add(self.kind, name, address, actor, is_own=self.is_own)
            return acts.change(self.channel, actor, name=name, address=address)
        except ValidationError as error:
            self.add_error(None, error)
            return None
