"""Summarises the tests of one model type, such as "llama", for someone who wants to use a model of
that type. The variants of a type are different configs of it, tested with toy models."""

from __future__ import annotations

from collections.abc import Mapping

from sequoia.loading.model_types import ModelType
from sequoia.sweep.trial import Outcome

FAULTS = ("differs", "crashed")
_NO_MODEL = ("no config", "no model")


def summary(kind: str, found: Mapping[str, Outcome], condition: str) -> ModelType:
    """The entry of the type `kind` in the list of types (see sequoia.loading.model_types). found:
    the outcome of each variant, by name; "base" is the default config. condition: the name of the
    variant that makes the model causal, or gives every layer full attention (see
    `variants.condition`); empty if there is none."""
    base = found["base"]
    result = _result(base, found.get(condition, base))
    if result not in ("runs", "partly"):
        return ModelType(kind, result, base.words, without=_still_refused(found, condition))
    tried = sum(one.status == "runs" for one in found.values())
    needed = condition if result == "partly" else ""
    return ModelType(kind, result, base.words, needed, tried, _without(found, condition))


def faults(found: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes of variants that decode wrongly or crash."""
    return {name: one for name, one in found.items() if one.status in FAULTS}


def not_built(found: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcomes of variants for which there is no toy model that runs in `transformers`."""
    return {name: one for name, one in found.items() if one.status in _NO_MODEL}


def _result(base: Outcome, changed: Outcome) -> str:
    """base: the outcome of the default config. changed: that of the condition, or `base` if there
    is none."""
    if base.status in _NO_MODEL:
        return "not built"
    if base.status == "runs":
        return "runs"
    return "partly" if changed.status == "runs" else "refused"


def _still_refused(found: Mapping[str, Outcome], condition: str) -> tuple[tuple[str, str], ...]:
    """One pair (condition, message) if both the base and the condition are refused, for different
    reasons. Otherwise empty."""
    base, changed = found["base"], found.get(condition)
    if changed is None or (base.status, changed.status) != ("refused", "refused"):
        return ()
    return ((condition, changed.words),) if changed.words != base.words else ()


def _without(found: Mapping[str, Outcome], condition: str) -> tuple[tuple[str, str], ...]:
    """(name, message) of each refused variant other than the base and the condition."""
    refused = {name: one for name, one in found.items() if one.status == "refused"}
    return tuple((name, refused[name].words) for name in refused if name not in ("base", condition))
