"""Models whose forward pass changes when a text gets longer than a limit. Up to their limit, trees,
plain decoding and `generate()` agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fakes import made_profile, pair_of, tiny_tokenizer
from toy_models import random_model, toy_config
from toy_variants import variants
from transformers import DogeConfig, Gemma3TextConfig, LlamaConfig, Phi3Config

from sequoia import (
    Acceptance,
    Decoder,
    DynamicChoice,
    Lane,
    Pair,
    Race,
    SamplingParams,
    Tree,
    plain,
    run,
    speculate,
)
from sequoia.errors import BadPrompt
from sequoia.models.layers import context_length, layer_configs
from sequoia.models.memory_needs import cache_bytes


def longrope(original: int, pairs: int = 4) -> dict[str, Any]:
    return {
        "rope_type": "longrope",
        "rope_theta": 10_000.0,
        "factor": 2.0,
        "short_factor": [1.0] * pairs,
        "long_factor": [3.0] * pairs,
        "original_max_position_embeddings": original,
    }


# -- from the config ---------------------------------------------------------------


def test_longrope_holds_its_original_context() -> None:
    config = Phi3Config(
        max_position_embeddings=131_072,
        original_max_position_embeddings=4096,
        rope_parameters=longrope(4096, 48),
    )
    found = context_length(config)
    assert found[0] == 4096
    assert "LongRoPE, original context 4096" in found[1]


def test_the_shortest_of_several_ropes_counts() -> None:
    """Some models have one RoPE for each kind of layer."""
    ropes = {
        "full_attention": longrope(900),
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    config = Gemma3TextConfig(max_position_embeddings=8192, rope_parameters=ropes)
    assert context_length(config)[0] == 900


@pytest.mark.parametrize(
    "rope",
    [
        {"rope_type": "default"},
        {"rope_type": "dynamic", "factor": 2.0},
        {
            "rope_type": "llama3",
            "factor": 2.0,
            "original_max_position_embeddings": 500,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
        },
    ],
    ids=lambda rope: rope["rope_type"],
)
def test_other_scalings_hold_the_stated_context(rope: dict[str, Any]) -> None:
    config = LlamaConfig(max_position_embeddings=1000, rope_parameters={"rope_theta": 1e4, **rope})
    assert context_length(config) == (1000, "")


def test_doge_holds_as_many_tokens_as_its_window() -> None:
    config = DogeConfig(max_position_embeddings=4096, keep_window_size=2048)
    assert context_length(config)[0] == 2048
    assert "keep_window_size 2048" in context_length(config)[1]
    assert context_length(DogeConfig(max_position_embeddings=2048, keep_window_size=4096)) == (
        2048,
        "",
    )


def test_sizes_are_read_from_each_layer_and_the_largest_counts() -> None:
    """The config of the whole model refuses to return a field that may differ from layer to
    layer."""
    config = toy_config("gemma4_text", {"layer_types": ["full_attention", "full_attention"]})
    with pytest.raises(RuntimeError, match="per-layer attribute"):
        config.head_dim  # noqa: B018
    mixed = toy_config("gemma4_text")
    assert {layer.head_dim for layer in layer_configs(mixed)} == {8, 16}
    assert cache_bytes(mixed, 10, 4) == 2 * 2 * 16 * 10 * 4
    assert context_length(mixed)[0] == 64


# -- at the limit ----------------------------------------------------------


@pytest.fixture(scope="module")
def short() -> Pair:
    """A pair whose config states a context of 64 tokens. LongRoPE limits it to 32."""
    model = random_model(toy_config("llama", variants("llama")["rope longrope"]))
    return pair_of(model, model, tiny_tokenizer())


def test_a_prompt_over_the_limit_is_refused_with_the_number_and_the_reason(short: Pair) -> None:
    with pytest.raises(
        BadPrompt,
        match=r"has 32 tokens; the limit is 31, .*: in a longer .*rotary .*original context 32",
    ):
        short.encode("0" * 32)
    assert len(short.encode("0" * 31)) == 31


def test_prompt_and_output_count_together(short: Pair) -> None:
    reason = r"12 tokens and 21 new ones are 33; the models' limit is 32: .*LongRoPE"
    long = SamplingParams(max_new_tokens=21)
    fits = SamplingParams(max_new_tokens=20, ignore_eos=True)
    with pytest.raises(BadPrompt, match=reason):
        speculate(short, "0" * 12, long, Tree.chain(3))
    with pytest.raises(BadPrompt, match=reason):
        plain(short, "0" * 12, long)
    with pytest.raises(BadPrompt, match=reason):
        Race(short, "0" * 12, long, [Lane("plain", Tree.chain(1))])
    assert sum(len(step.emitted) for step in speculate(short, "0" * 12, fits, Tree.chain(3))) == 20


RATES = Acceptance((0.6, 0.2, 0.1))
TIMES = made_profile(target_seconds=((1, 1.0, 0.0), (64, 1.1, 0.0)))


@pytest.mark.parametrize(
    "tree_choice",
    [
        lambda: Tree.kary(2, 4),
        lambda: DynamicChoice(RATES, TIMES, 0.0, 24, 6),
    ],
    ids=["k-ary", "dynamic"],
)
def test_no_node_of_a_tree_is_beyond_the_limit(
    tree_choice: Callable[[], Any], short: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A single node beyond the limit would change the rotary frequencies of its whole pass."""
    highest = []
    for model in (short.target, short.draft):
        run_it = model.forward
        monkeypatch.setattr(
            model,
            "forward",
            lambda ids, positions, *rest, run_it=run_it: (
                highest.append(int(positions.max())) or run_it(ids, positions, *rest)
            ),
        )
    params = SamplingParams(max_new_tokens=26, ignore_eos=True)
    steps = list(run(Decoder(short, "0" * 6, params, tree_choice())))
    assert sum(len(step.emitted) for step in steps) == 26
    assert max(highest) == short.limit - 2  # the last emitted token is never an input
