"""The catalog of named pairs: its figures are consistent, and agree with those computed from the
models' configs."""

from __future__ import annotations

import re
from datetime import date
from types import SimpleNamespace

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    GPTNeoXConfig,
    LlamaConfig,
    PretrainedConfig,
    Qwen3Config,
)

from sequoia import load_pair
from sequoia.errors import BadModel
from sequoia.loading.large import load_large
from sequoia.loading.large.placement import HOST, offload
from sequoia.loading.model_files import COMMIT, is_hub_id
from sequoia.loading.pair_request import Preset, preset, presets
from sequoia.this_machine.memory import ROOM


def llama(
    width: int, inner: int, layers: int, heads: int, kv_heads: int, vocab: int, tied: bool
) -> LlamaConfig:
    return LlamaConfig(
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        vocab_size=vocab,
        tie_word_embeddings=tied,
    )


def qwen3(width: int, inner: int, layers: int, heads: int, tied: bool) -> Qwen3Config:
    return Qwen3Config(
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=151_936,
        tie_word_embeddings=tied,
    )


def neox(width: int, layers: int, heads: int) -> GPTNeoXConfig:
    return GPTNeoXConfig(
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        vocab_size=50_304,
    )


SHAPES = {  # as in the models' config files
    "HuggingFaceTB/SmolLM2-1.7B": llama(2048, 8192, 24, 32, 32, 49_152, True),
    "HuggingFaceTB/SmolLM2-135M": llama(576, 1536, 30, 9, 3, 49_152, True),
    "EleutherAI/pythia-2.8b": neox(2560, 32, 32),
    "EleutherAI/pythia-160m": neox(768, 12, 12),
    "Qwen/Qwen3-0.6B": qwen3(1024, 3072, 28, 16, True),
    "Qwen/Qwen3-1.7B": qwen3(2048, 6144, 28, 16, True),
    "Qwen/Qwen3-4B": qwen3(2560, 9728, 36, 32, True),
    "Qwen/Qwen3-8B": qwen3(4096, 12_288, 36, 32, False),
    "Qwen/Qwen3-32B": qwen3(5120, 25_600, 64, 64, False),
    "meta-llama/Llama-2-7b-hf": llama(4096, 11_008, 32, 32, 32, 32_000, False),
    "JackFram/llama-160m": llama(768, 3072, 12, 12, 12, 32_000, False),
    "JackFram/llama-68m": llama(768, 3072, 2, 12, 12, 32_000, False),
}
MODELS = {model.id: model for one in presets() for model in one.models}


@pytest.mark.parametrize("name", SHAPES)
def test_parameters_match_the_published_shape(name: str) -> None:
    config: PretrainedConfig = SHAPES[name]
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    assert MODELS[name].parameters == model.num_parameters()
    # 2 or 4 bytes; 2-byte files may also hold buffers, or the tied output matrix a second time
    bytes_each = MODELS[name].bytes / model.num_parameters()
    assert 1.99 < bytes_each < 2.6 or 3.99 < bytes_each < 4.01


def test_every_model_has_a_shape_here_and_a_source() -> None:
    assert MODELS.keys() == SHAPES.keys()
    assert all(is_hub_id(model.id) and model.source and model.licence for model in MODELS.values())


@pytest.mark.parametrize("one", presets(), ids=lambda one: one.name)
def test_a_draft_is_smaller_than_its_target_and_of_its_family(one: Preset) -> None:
    assert one.draft.parameters * 4 < one.target.parameters
    assert one.target.chat == one.draft.chat
    assert type(SHAPES[one.target.id]) is type(SHAPES[one.draft.id])
    assert SHAPES[one.target.id].vocab_size == SHAPES[one.draft.id].vocab_size
    assert one.needs
    assert preset(one.name) is one


def test_a_commit_is_named_with_the_day_on_which_it_was_read_from_the_hub() -> None:
    for model in MODELS.values():
        assert bool(model.revision) == bool(model.revision_date)
        assert not model.revision or COMMIT.fullmatch(model.revision)
        assert not model.revision or date(2026, 1, 1) <= date.fromisoformat(model.revision_date)


def test_tiers_say_what_a_pair_is_for() -> None:
    tiers = list(dict.fromkeys(one.tier for one in presets()))
    assert tiers == [
        "for a laptop’s CPU",
        "best on a GPU with 8 GB",
        "best on a GPU with 24 GB",
        "best on a GPU with 80 GB",
        "target in host memory",
        "the paper’s pair",
        "close to the paper’s pair",
    ]
    assert [one.name for one in presets() if one.offload] == ["qwen3-32b-offload"]
    assert {model.id for model in MODELS.values() if model.gated} == {"meta-llama/Llama-2-7b-hf"}


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(BadModel) as caught:
        load_pair("qwen3-9b")
    assert all(
        name in str(caught.value)
        for name in ["'qwen3-9b'", "bundled", *(one.name for one in presets())]
    )


@pytest.mark.parametrize(
    "one", [one for one in presets() if "GPU" in one.needs], ids=lambda one: one.name
)
def test_a_pair_fits_the_card_that_its_row_states(one: Preset) -> None:
    """If layers of the target are streamed, at least one layer must fit on the card, beside the
    draft and the memory of a usual run. Only the configs are needed to compute this. The free
    memory is taken as 97% of the stated size, because a card never has all of it free."""
    found = re.match(r"a GPU with (\d+) GB(, and (\d+) GB of host memory)?", one.needs)
    assert found is not None
    card = torch.device("cuda", 0)
    free = {card: int(found[1]) * 2**30 * 0.97, HOST: int(found[3] or 0) * 1e9}
    if not one.offload:
        assert ROOM * 2 * sum(model.parameters for model in one.models) < free[card]
        return
    target, draft = (SimpleNamespace(config=SHAPES[model.id]) for model in (one.target, one.draft))
    dtype = torch.bfloat16
    plan = offload(
        *load_large._parts(target, draft, 2 * one.draft.parameters, dtype, card), card, free, None
    )
    assert plan.resident >= 1
