"""Models whose layers differ: in the size of their heads, or because some layers use the keys and
values of another layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.bench.model_types import try_config
from sequoia.bench.toy_models import toy_config
from sequoia.bench.toy_variants import condition, variants
from sequoia.models.layers import changes_at, context_length, layer_configs
from sequoia.models.memory_needs import cache_bytes


def test_sizes_are_read_from_each_layer_and_the_largest_counts() -> None:
    """The config of the whole model refuses to return a field that may differ from layer to
    layer."""
    config = toy_config("gemma4_text", {"layer_types": ["full_attention", "full_attention"]})
    with pytest.raises(RuntimeError, match="per-layer attribute"):
        config.head_dim  # noqa: B018
    mixed = toy_config("gemma4_text")
    assert {layer.head_dim for layer in layer_configs(mixed)} == {8, 16}
    assert cache_bytes(mixed, 10, 4) == 2 * 2 * 16 * 10 * 4
    assert context_length(mixed).tokens == 64
    assert changes_at(mixed, 64) == ()


@pytest.mark.parametrize("kind", ["gemma4_text", "gemma4_unified"])
def test_a_model_whose_layers_differ_decodes(kind: str, tmp_path: Path) -> None:
    found = try_config(kind, condition(kind)[1], tmp_path)
    assert (found.status, found.words) == ("runs", "")


@pytest.mark.parametrize("kind", ["gemma3n_text", "gemma4_text"])
def test_a_model_whose_layers_share_keys_decodes(kind: str, tmp_path: Path) -> None:
    """The layers that use another layer's keys write none to the KV cache, so `keep` must not try
    to move any."""
    found = try_config(kind, variants(kind)["num_kv_shared_layers=1"], tmp_path)
    assert (found.status, found.words) == ("runs", "")
