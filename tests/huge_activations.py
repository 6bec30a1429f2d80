"""A tiny model with huge activations, as real language models have: at some tokens, one number of
the hidden state is thousands of times as large as the others. The first layer adds a little to it,
and the last layer removes it. What is then left depends on rounding: in 16 bits, two correct passes
may differ there by as much as the logits' spread."""

from __future__ import annotations

import torch
from fakes import VOCAB, WIDTH, tiny_model

SIZE = 22_000.0
ADDED = 60.0  # less than half the distance between the bfloat16 numbers near SIZE
HUGE = 0  # the entry of the hidden state; 0 for all other tokens
TOKENS = [token for token in range(VOCAB) if token % 16 in (1, 2, 3)]  # those that have it
NEURON = 0  # of each layer's MLP; it changes the huge number
GAIN = 3.3  # of that neuron


def huge_model(seed: int = 0) -> torch.nn.Module:
    """A Llama of two layers in float32 with random weights, except for the entry HUGE."""
    model = tiny_model("llama", seed)
    with torch.no_grad():
        model.model.embed_tokens.weight[:, HUGE] = 0
        model.model.embed_tokens.weight[TOKENS, HUGE] = SIZE
        for layer, added in zip(model.model.layers, (ADDED, -SIZE - ADDED), strict=True):
            _plant(layer, added)
    return model


def _plant(layer: torch.nn.Module, added: float) -> None:
    """Let the layer add `added` to the entry HUGE if it is huge, and nothing if it is 0."""
    layer.self_attn.o_proj.weight[HUGE] = 0
    layer.mlp.down_proj.weight[HUGE] = 0
    # where one entry is huge, RMSNorm makes it the root of WIDTH and all others tiny
    layer.post_attention_layernorm.weight[HUGE] = 1
    for weights in (layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight):
        weights[NEURON] = 0
        weights[NEURON, HUGE] = GAIN
    layer.mlp.down_proj.weight[:, NEURON] = 0
    layer.mlp.down_proj.weight[HUGE, NEURON] = added / (GAIN**2 * WIDTH)
