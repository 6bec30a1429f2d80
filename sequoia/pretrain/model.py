"""The networks, their optimisers and their training objectives.

An objective is a function. It takes a network and windows of tokens, and returns one loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from .recipe import MAX_POSITIONS, Size

# attention as plain matrix products: trains a third faster on short windows than the fused kernel
CPU_ATTENTION = "eager"
Forward = Callable[..., Any]
# (network, (rows, context + 1) tokens) -> mean loss
Objective = Callable[[Forward, torch.Tensor], torch.Tensor]


def new_model(size: Size, vocab: int, end: int, seed: int) -> LlamaForCausalLM:
    """A float32 Llama network with random weights that depend only on the arguments. vocab: number
    of tokens. end: the id of the token used as bos, eos and padding."""
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.mlp,
        max_position_embeddings=MAX_POSITIONS,
        bos_token_id=end,
        eos_token_id=end,
        tie_word_embeddings=True,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(bos_token_id=end, eos_token_id=end, pad_token_id=end)
    return model


def quick(model: PreTrainedModel, compile_: bool) -> Forward:
    """`model`, made quick to train: on a CPU it uses CPU_ATTENTION, and with `compile_` it is
    compiled. The choice of attention is not saved with the model."""
    if model.device.type == "cpu":
        model.set_attn_implementation(CPU_ATTENTION)
    return torch.compile(model) if compile_ else model


def optimisers(
    model: PreTrainedModel, peak: float
) -> tuple[torch.optim.Optimizer, torch.optim.Optimizer]:
    """Muon for the matrices inside the layers, and AdamW for the embedding and the norms. Both
    are created with the learning rate `peak`; train.py sets the scheduled one before each step."""
    inner = []
    rest = []
    for name, weight in model.named_parameters():
        (inner if weight.ndim == 2 and ".layers." in name else rest).append(weight)
    return (
        torch.optim.Muon(inner, lr=peak, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=peak, betas=(0.9, 0.95), weight_decay=0.0),
    )


def logits(network: Forward, tokens: torch.Tensor) -> torch.Tensor:
    """The logits (rows * context, vocab), float32, at every position of `tokens` (rows, context).

    Matrix products run in bfloat16 on both CPU and GPU.
    """
    with torch.autocast(tokens.device.type, dtype=torch.bfloat16):
        out = network(input_ids=tokens, use_cache=False).logits
    return out.float().flatten(0, 1)


def next_token(network: Forward, windows: torch.Tensor) -> torch.Tensor:
    """Objective of a target: mean cross-entropy with the next tokens, in nats per token."""
    return F.cross_entropy(logits(network, windows[:, :-1]), windows[:, 1:].flatten())


def distillation(teacher: Forward) -> Objective:
    """Objective of a draft: mean of -sum p log q, in nats per token. p is the teacher's
    distribution at temperature 1, and q is the draft's.

    The minimum is at q = p, where the objective equals the teacher's entropy.
    """

    def objective(network: Forward, windows: torch.Tensor) -> torch.Tensor:
        tokens = windows[:, :-1]
        with torch.no_grad():
            p = logits(teacher, tokens).softmax(-1)  # (rows * context, vocab)
        return F.cross_entropy(logits(network, tokens), p)

    return objective


@torch.no_grad()
def overlap(
    teacher: Forward, network: Forward, windows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """(sum min(p, q), top-1 agreement), averaged over the first `context` positions of `windows`
    (rows, context + 1). p is the teacher's distribution at temperature 1, and q is the network's.
    sum min(p, q) is the probability that one drafted token is accepted. Top-1 agreement is the
    fraction of positions where the two models have the same most probable token."""
    tokens = windows[:, :-1]
    target = logits(teacher, tokens)
    draft = logits(network, tokens)
    same = (target.argmax(-1) == draft.argmax(-1)).float().mean()
    return torch.minimum(target.softmax(-1), draft.softmax(-1)).sum(-1).mean(), same
