"""Which models a visitor wants loaded, made from the values of the form, none of which is believed.
Knows no components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.pair_catalog import BUNDLED_NAME, preset
from sequoia.loading.pair_checks import checked_device, checked_dtype, checked_name
from sequoia.validate_input import shown
from ui.serving.sessions import Limits

OWN = "own"  # two models that the visitor names


@dataclass(frozen=True)
class PairRequest:
    """A pair by name, or two models; what `sequoia.load_pair` takes."""

    name: str
    target: str | None
    draft: str | None
    device: str
    dtype: str
    offload: bool

    @classmethod
    def parse(cls, form: Mapping[str, Any], limits: Limits) -> PairRequest:
        """The wish in `form`. Raises a SequoiaError that names the value and the bound, and for
        everyone where the page serves strangers."""
        if not limits.models:
            raise BadModel(
                "this page is open to strangers and serves the bundled pair only; start it without "
                "--public to load other models"
            )
        name = form["pair"]
        device = form["device"]
        dtype = form["dtype"]
        if not isinstance(name, str):
            raise BadModel(f"pair: {shown(name)} is not the name of a pair")
        checked_device(device)
        checked_dtype(dtype)
        if name == OWN:
            target, draft = (_model(form[role], role) for role in ("target", "draft"))
            return cls(BUNDLED_NAME, target, draft, device, dtype, form["offload"] is True)
        if name != BUNDLED_NAME:
            preset(name)
        return cls(name, None, None, device, dtype, form["offload"] is True)

    @property
    def options(self) -> dict[str, Any]:
        """As arguments of `load_pair` and `fetch_pair`."""
        return {
            "name": self.name,
            "target": self.target,
            "draft": self.draft,
            "device": self.device,
            "dtype": self.dtype,
            "offload": self.offload,
        }

    @property
    def title(self) -> str:
        return f"{self.target} with {self.draft}" if self.target else self.name


def _model(text: Any, role: str) -> str:
    text = text.strip() if isinstance(text, str) else text
    if not text:
        raise BadModel(
            f"no {role} is named; give a folder or a Hugging Face id of the form owner/name"
        )
    return checked_name(text)
