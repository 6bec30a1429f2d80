"""Models for tests of the checks at load, by name: toys, a toy with huge activations, the bundled
ones, and any folder."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from doors import (
    BUNDLED_PAIR,
    KINDS,
    TreeModel,
    example_texts,
    faster,
    huge_model,
    of_transformers,
    tiny_model,
    toy_model,
)
from planted_faults import Plant
from transformers import AutoModelForCausalLM, AutoTokenizer

DTYPES = ("float32", "bfloat16", "float16")
ROUTED = ("mixtral", "qwen3_moe")
BUNDLED = ("bundled target", "bundled draft")


@cache
def hf_of(name: str, dtype: str) -> Any:
    """A toy by its kind, a bundled model, or the real model by its folder."""
    used = getattr(torch, dtype)
    if name == "huge":
        return huge_model().to(used)
    if name in KINDS:
        return tiny_model(name).to(used)
    if name in ROUTED:
        return toy_model(name).to(used)
    return AutoModelForCausalLM.from_pretrained(
        folder_of(name), dtype=used, attn_implementation="sdpa"
    )


def folder_of(name: str) -> Path:
    return BUNDLED_PAIR / name.split()[1] if name in BUNDLED else Path(name)


def model_of(name: str, dtype: str) -> TreeModel:
    return of_transformers(hf_of(name, dtype), name)


@cache
def sentences() -> list[str]:
    return [
        text for path in example_texts() for text in json.loads(path.read_text(encoding="utf-8"))
    ]


def text_of(name: str, seed: int) -> list[int]:
    """An ordinary text in the model's tokenizer; for a toy, random tokens."""
    chance = random.Random(seed)
    if not folder_of(name).is_dir():
        return chance.choices(range(288), k=400)
    texts = chance.sample(sentences(), 20)
    return AutoTokenizer.from_pretrained(folder_of(name))("\n\n".join(texts))["input_ids"]


def planted(plant: Plant, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> TreeModel:
    """The model with a fault, after its forward was chosen."""
    model = model_of(name, dtype)
    plant(monkeypatch, model)
    return faster(model, text_of(name, 0))


def is_accepted(name: str, dtype: str, seed: int) -> bool:
    model = model_of(name, dtype)
    text = text_of(name, seed)
    faster(model, text)  # raises BadModel if the model is refused
    return model.no_fast_forward == ""
