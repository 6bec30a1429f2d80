"""Drafts made of a few decoder layers between their target's own embedding, final norm and head.
Their target also lends them its tokenizer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import save_torch_state_dict
from safetensors.torch import load_file
from torch.nn import functional as F

from sequoia.errors import BadModel, BadPair
from sequoia.loading.model_checks import Source, refused, stored_numbers, weight_paths
from sequoia.loading.model_files import read_object
from sequoia.loading.read_weights import refuse_not_finite
from sequoia.models.tree_forward import TreeModel
from sequoia.text_files import write_text
from sequoia.validate_input import and_list, shown

_SHARED = ("embed_tokens", "norm", "rotary_emb")
LAYERS = "model.layers."  # how the names of the draft's own tensors begin
FREQUENT = "frequent_tokens"  # the tensor with the ids of a reduced head
IDENTITY = "draft_of.json"
_FILE_BYTES = 12_000_000


@dataclass(frozen=True)
class Identity:
    """What identifies the target of a draft.

    target: its name. layers: those that the draft began with. hidden: the width of its embedding.
    tokens: the SHA-256 of its tokenizer's tokens.
    """

    target: str
    layers: tuple[int, ...]
    hidden: int
    tokens: str

    @classmethod
    def of(cls, name: str, target: Any, tokenizer: Any, layers: Iterable[int] = ()) -> Identity:
        """The identity of a target."""
        tokens = json.dumps(sorted(tokenizer.get_vocab().items(), key=lambda item: item[1]))
        hashed = hashlib.sha256(tokens.encode()).hexdigest()
        return cls(name, tuple(layers), target.model.embed_tokens.weight.shape[1], hashed)


def cut_config(config: Any, layers: Iterable[int]) -> Any:
    """A copy of a target's config that describes only its decoder layers `layers`."""
    layers = list(layers)
    made = deepcopy(config)
    made.num_hidden_layers = len(layers)
    if getattr(config, "layer_types", None):
        made.layer_types = [config.layer_types[layer] for layer in layers]
    return made


def cut_layers(target: Any, layers: Iterable[int]) -> dict[str, torch.Tensor]:
    """Copies of the weights of the target's decoder layers `layers`, renumbered from 0."""
    return {
        f"{LAYERS}{new}.{name}": weight.detach().clone()
        for new, old in enumerate(layers)
        for name, weight in target.model.layers[old].state_dict().items()
    }


def layer_draft(
    target: Any,
    config: Any,
    tensors: Mapping[str, torch.Tensor],
    where: torch.device | None = None,
) -> Any:
    """The draft that `config` describes, with the layers in `tensors` and everything else shared
    with `target`. With the tensor FREQUENT, its head has those tokens only. where: the device of
    `tensors`, by default that of the target; what the target has elsewhere is copied to it.

    Raises BadModel if `target` is not built like Llama, and RuntimeError if `tensors` do not fit
    `config`.
    """
    require_llama_like(target)
    with torch.device("meta"):
        draft = type(target)(config)
    for name in _SHARED:
        setattr(draft.model, name, _on(getattr(target.model, name), where))
    head = _on(target.lm_head, where)
    tokens = tensors.get(FREQUENT)
    draft.lm_head = head if tokens is None else FrequentHead(head, tokens)
    layers = {name: weight for name, weight in tensors.items() if name != FREQUENT}
    draft.model.layers.load_state_dict(
        {name.removeprefix(LAYERS): weight for name, weight in layers.items()}, assign=True
    )
    return draft.requires_grad_(False).eval()


def _on(module: Any, where: torch.device | None) -> Any:
    """`module`, or a copy of it if it is not on the device `where`."""
    tensors = [*module.parameters(), *module.buffers()]
    is_there = where is None or all(tensor.device == where for tensor in tensors)
    return module if is_there else deepcopy(module).to(where)


def write_layers(
    folder: Path, draft: Any, identity: Identity, frequent: torch.Tensor | None = None
) -> None:
    """Write the layers of `draft` to `folder`, rounded (see _rounded). frequent: the ids of the
    only tokens that it may draw, None for all."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{LAYERS}{name}": _rounded(weight.detach().float()).cpu()
        for name, weight in draft.model.layers.state_dict().items()
    }
    save_torch_state_dict(
        tensors if frequent is None else tensors | {FREQUENT: frequent},
        folder,
        max_shard_size=_FILE_BYTES,
    )
    draft.config.save_pretrained(folder)
    write_text(folder / IDENTITY, json.dumps(asdict(identity), indent=1) + "\n")


def _rounded(weight: torch.Tensor) -> torch.Tensor:
    """`weight` in bfloat16. The numbers of an output of a matrix are multiples, at most 63 times,
    of a power of two. So a compressed file needs 13.6 MB instead of 22.5 for 14 million numbers,
    and the sum of min(p, q) is 0.001 less (0.4563 for 0.4573, 48 chats, SmolLM2-135M)."""
    if weight.ndim == 2:
        step = (weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / 63).log2().ceil().exp2()
        weight = (weight / step).round() * step
    return weight.to(torch.bfloat16)


def require_llama_like(target: Any) -> None:
    """Raises BadModel if a draft cannot share the parts of `target`."""
    body = getattr(target, "model", None)
    lacking = [name for name in ("layers", *_SHARED) if not hasattr(body, name)]
    if lacking or getattr(getattr(target, "lm_head", None), "bias", True) is not None:
        raise BadModel(
            f"a draft cannot be made from layers of a model of type {target.config.model_type!r}: "
            "it is not built like Llama"
        )


class FrequentHead(torch.nn.Module):
    """The rows of a `head` for the token ids `tokens` (n,). All other tokens get the logit
    -infinity, that is, probability 0."""

    bias = None

    def __init__(self, head: torch.nn.Linear, tokens: torch.Tensor) -> None:
        super().__init__()
        self.vocab = head.out_features
        self.in_features = head.in_features
        self.out_features = len(tokens)
        self.tokens = tokens.to(head.weight.device)
        self.weight = torch.nn.Parameter(head.weight.detach()[self.tokens], requires_grad=False)

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return self.spread(F.linear(states, self.weight))

    def spread(self, logits: torch.Tensor) -> torch.Tensor:
        """Logits (..., vocab) from those of `tokens` (..., n)."""
        whole = logits.new_full((*logits.shape[:-1], self.vocab), -torch.inf)
        return whole.scatter_(-1, self.tokens.expand_as(logits), logits)


# the parts of a target that must be those that the draft was made for
_MUST_FIT = {
    "hidden": "an embedding of width",
    "tokens": "a tokenizer whose tokens have the hash",
}


def is_layer_draft(folder: Path) -> bool:
    """Whether the draft in `folder` consists of layers only."""
    return (folder / IDENTITY).is_file()


def refuse_layers_as_target(source: Source) -> None:
    """Raises BadModel if `source` lacks what a draft shares with its target."""
    if is_layer_draft(source.folder):
        raise BadModel(
            f"{source.title} has layers only, to be the draft of {read_identity(source).target}; "
            "it cannot be a target"
        )


def read_identity(source: Source) -> Identity:
    """The identity of the target that a draft was made for. Raises BadModel if the file is
    damaged."""
    what = f"{source.title}: {IDENTITY}"
    found = read_object(source.folder / IDENTITY, what)
    return refused(f"{what} is damaged", lambda: Identity(**found))


def layers_for(source: Source, target: TreeModel, tokenizer: Any, where: torch.device) -> Any:
    """The draft in `source` on the device `where`, in the dtype of `target`. Raises BadPair if it
    was made for a target with another shape or other tokens, and BadModel if it is damaged."""
    made_for = read_identity(source)
    found = Identity.of("", target.hf, tokenizer)
    for name, what in _MUST_FIT.items():
        its, ours = getattr(made_for, name), getattr(found, name)
        if its != ours:
            raise BadPair(
                f"{source.title} was made from {shown(made_for.target)}, with {what} "
                f"{shown(its)}; this target has {shown(ours)}; use a draft made from this target"
            )
    stored_numbers(source.folder, source.title)  # checks the headers
    hf = refused(f"cannot load {source.title!r}", lambda: _built(source, target.hf, where))
    refuse_not_finite(hf, source.title)
    return hf


def origin_words(source: Source) -> str:
    """What the draft was made from, for the list of checks."""
    made_for = read_identity(source)
    return f"layers {and_list([*map(str, made_for.layers)])} of {made_for.target}, trained further"


def stored_layers(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors in the files of a draft."""
    paths = weight_paths(folder, folder.name)
    return {name: weight for path in paths for name, weight in load_file(path).items()}


def _built(source: Source, target: Any, where: torch.device) -> Any:
    dtype = target.model.norm.weight.dtype
    tensors = {
        name: weight.to(where, dtype if weight.is_floating_point() else weight.dtype)
        for name, weight in stored_layers(source.folder).items()
    }
    return layer_draft(target, source.config, tensors, where)
