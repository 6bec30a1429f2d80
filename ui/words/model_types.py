"""Which model types run, in words, as the Models view lists them."""

from __future__ import annotations

from functools import cache
from typing import Any

import transformers

from sequoia.loading.model_families import KnownTypes, ModelType, known_types


@cache
def types_message() -> dict[str, Any]:
    """A summary, and for each type its name, its result and a sentence about it."""
    known = known_types()
    rows = [{"name": one.name, "result": one.result, "words": words(one)} for one in known.types]
    return {"summary": summary(known), "rows": rows}


def summary(known: KnownTypes) -> str:
    """How many types run, and a warning if the list was made with a version of transformers other
    than the installed one."""
    counts = (
        f"transformers {known.transformers} can load {len(known.types)} model types as causal "
        f"language models. Tested with a tiny model of each type: {known.count('runs')} run with "
        f"their default config, {known.count('partly')} run only with a config other than the "
        f"default, and {len(known.types) - known.count('runs') - known.count('partly')} do not run"
    )
    installed = transformers.__version__
    other = (
        ""
        if installed == known.transformers
        else f" Here, transformers {installed} is installed, so results may differ."
    )
    return f"{counts}.{other} Each model is also tested when it is loaded."


def words(one: ModelType) -> str:
    """Whether a type runs, and why not, in words. For a refused type, the only change of the
    config that is mentioned is is_decoder=True, because `one.reason` says that it is not set."""
    if one.result == "runs":
        exceptions = " or ".join(_exception(option, why) for option, why in one.without)
        return f"runs, except {exceptions}" if exceptions else "runs"
    if one.result == "partly":
        return (
            f"runs only if the model's config has {one.condition}. With the default config, it "
            f"{one.reason}."
        )
    if one.result == "not built":
        return f"transformers cannot build it: {one.reason}"
    return f"refused: it {one.reason}" + "".join(
        f". With {option}, it {why}." for option, why in one.without if option == "is_decoder=True"
    )


def _exception(option: str, why: str) -> str:
    """Words for an option with which a type does not run, and why. The width of a sliding window in
    `option` is only an example, so the words leave it out."""
    if option.partition("=")[0] != "sliding_window":
        return f"with {option} (it {why})"
    return f"with a sliding window ({why.partition('; ')[2]})"
