"""Reads the requested pair of models from the untrusted values of the form. Independent of
Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.model_checks import checked_device, checked_dtype
from sequoia.loading.model_name import checked_name
from sequoia.loading.pair_catalog import BUNDLED_NAME, preset
from sequoia.loading.pair_request import PairRequest
from sequoia.validate_input import shown
from ui.serving.limits import Limits

OWN = "own"  # two models that the visitor names


def parse(form: Mapping[str, Any], limits: Limits) -> PairRequest:
    """The pair requested by `form`. Raises a SequoiaError for an invalid value, and for any request
    on a public page. Any value of the field `offload` other than True counts as False."""
    if not limits.models:
        raise BadModel(
            "this page is public and serves only the bundled pair; to load other models, start the "
            "app without --public"
        )
    name = form["pair"]
    if not isinstance(name, str):
        raise BadModel(f"pair: {shown(name)} is not the name of a pair; choose one from the menu")
    checked_device(form["device"])
    checked_dtype(form["dtype"])
    how = {
        "device": form["device"],
        "dtype": form["dtype"],
        "offload": form["offload"] is True,
    }
    if name == OWN:
        models = {role: _model(form[role], role) for role in ("target", "draft")}
        return PairRequest(**models, **how)
    if name != BUNDLED_NAME:
        preset(name)
    return PairRequest(name, **how)


def field_of(error: str, form: Mapping[str, Any]) -> str | None:
    """The field of the form that `error` is about. None if that is unknown.

    If the message begins with the name of a field, that field is chosen. Otherwise, only the target
    and the draft of an OWN pair are considered. The first empty one is chosen. If neither is empty,
    the one whose text occurs in the message is chosen. If both texts occur, the longer one counts.
    """
    first = error.split(" ", 1)[0].rstrip(":")
    if first in form:
        return first
    if form["pair"] != OWN:
        return None
    typed = {
        role: form[role].strip() if isinstance(form[role], str) else ""
        for role in ("target", "draft")
    }
    found = [role for role, text in typed.items() if text in error]
    # an empty text occurs in every message
    return min(found, key=lambda role: (typed[role] != "", -len(typed[role])), default=None)


def _model(text: Any, role: str) -> str:
    text = text.strip() if isinstance(text, str) else text
    if not text:
        raise BadModel(f"enter a {role} model: a folder or a Hugging Face id owner/name")
    return checked_name(text)
