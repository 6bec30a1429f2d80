"""Reads the requested pair of models from the untrusted values of the form. Independent of
Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
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
    the one that the message names is chosen. If it names both, the longer name counts.
    """
    first = error.split(" ", 1)[0].rstrip(":")
    if first in form:
        return first
    if form["pair"] != OWN:
        return None
    names = {role: _names(form[role]) for role in ("target", "draft")}
    named = {
        role: max((len(name) for name in some if name in error), default=-1)
        for role, some in names.items()
    }
    if empty := [role for role, some in names.items() if not some]:
        return empty[0]
    role = max(named, key=lambda role: named[role])
    return role if named[role] >= 0 else None


def _names(text: Any) -> set[str]:
    """What messages may call the model that a visitor named by `text`; empty for an empty field."""
    text = text.strip() if isinstance(text, str) else ""
    if not text:
        return set()
    try:
        name = checked_name(text)
    except BadModel:
        return {text}
    return {text, name, Path(name).name if Path(name).is_dir() else name}


def _model(text: Any, role: str) -> str:
    if not text or (isinstance(text, str) and not text.strip()):
        raise BadModel(f"enter a {role} model: a folder or a Hugging Face id owner/name")
    try:
        return checked_name(text)
    except BadModel as problem:
        raise BadModel(f"{role}: {problem}") from None
