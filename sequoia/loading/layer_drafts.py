"""Loads drafts that consist of layers only (see models/layer_draft.py). Their target lends them its
tokenizer, embedding, final norm and head."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from sequoia.errors import BadModel, BadPair
from sequoia.loading.json_file import read_object
from sequoia.loading.model_checks import Source, refused
from sequoia.loading.read_weights import refuse_not_finite
from sequoia.loading.weight_headers import stored_tensors, weight_paths
from sequoia.models.layer_draft import IDENTITY, Identity, layer_draft
from sequoia.models.tree_forward import TreeModel
from sequoia.validate_input import and_list, shown

_MOST_BYTES = 100_000  # of the file with the identity
# the parts of a target that must be those that the draft was made for
_MUST_FIT = {
    "hidden": "an embedding of width",
    "vocab": "an embedding of as many tokens as",
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
    found = read_object(source.folder / IDENTITY, what, _MOST_BYTES, BadModel)
    return refused(BadModel, f"{what} is damaged", lambda: Identity(**found))


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
    stored_tensors(source.folder, source.title)  # checks the headers
    hf = refused(
        BadModel, f"cannot load {source.title!r}", lambda: _built(source, target.hf, where)
    )
    refuse_not_finite(hf, source.title)
    return hf


def origin_words(source: Source, target: TreeModel, tokenizer: Any) -> str:
    """What the draft was made from, for the list of checks."""
    made_for = read_identity(source)
    words = f"layers {and_list([*map(str, made_for.layers)])} of {made_for.target}, trained further"
    if made_for.weights == Identity.of("", target.hf, tokenizer).weights:
        return words
    return (
        f"{words}; this target has other weights (another version or precision), so the draft may "
        "predict it worse; the output still has the target's distribution"
    )


def in_dtype(hf: Any, dtype: torch.dtype) -> Any:
    """A copy of the draft `hf` in another dtype. `hf.to` would also round the rotary
    frequencies."""
    copy = deepcopy(hf)
    for weight in copy.parameters():
        weight.data = weight.data.to(dtype)
    return copy


def stored_layers(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors in the files of a draft."""
    paths = weight_paths(folder, folder.name).values()
    return {name: weight for path in paths for name, weight in load_file(path).items()}


def _built(source: Source, target: Any, where: torch.device) -> Any:
    dtype = target.model.norm.weight.dtype
    tensors = {
        name: weight.to(where, dtype if weight.is_floating_point() else weight.dtype)
        for name, weight in stored_layers(source.folder).items()
    }
    return layer_draft(target, source.config, tensors, where)
