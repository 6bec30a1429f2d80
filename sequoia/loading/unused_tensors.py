"""Tensors in a model's files that have no place in the model built from its config.

A vision tower or extra prediction heads are harmless, because this program only continues text. A
bias inside a layer, or an additional layer, shows that the config does not belong to these weights.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sequoia.errors import BadModel
from sequoia.models.layers import layer_list

_LISTED = 3  # tensors named in a message
_MAX_NAME = 80  # characters of a name in a message
_PARTS = 8  # parts named in a message
# Masks and tables that old versions of transformers saved. New versions compute them. For instance,
# "attn.bias" is the causal mask of GPT-2.
_COMPUTED = re.compile(r"(\.|^)(masked_bias|causal_mask|inv_freq|(attn|attention)\.bias)$")


@dataclass(frozen=True)
class Unused:
    """The parts that are in the files but not in the model built from the config. parts: name of a
    part -> number of its tensors."""

    parts: dict[str, int]

    @property
    def words(self) -> str:
        """The counts in words, as "1 of model.mtp, 2 of vision_tower"; "" if there are none."""
        parts = [*self.parts.items()]
        named = [f"{count:,} of {part[:_MAX_NAME]}" for part, count in parts[:_PARTS]]
        others = sum(count for _, count in parts[_PARTS:])
        return ", ".join(named + ([f"{others:,} of other parts"] if others else []))


def unused_tensors(hf: Any, title: str, unexpected: Iterable[str]) -> Unused:
    """The tensors that `from_pretrained` reports as `unexpected`, counted by part. Masks and tables
    that `hf` computes itself are left out. Raises BadModel if a tensor belongs to a part of `hf`
    that processes text: the decoder layers, the modules beside them (such as the final norm), the
    embedding or the head."""
    buffers = {name for name, _ in hf.named_buffers()}
    names = sorted(_full(name, hf) for name in unexpected if not _COMPUTED.search(name))
    names = [name for name in names if name not in buffers]
    if not names:
        return Unused({})
    text = _text_parts(hf)
    if inside := [name for name in names if text.holds(name)]:
        raise BadModel(
            f"{title}: its files contain {counted(inside)} that a model with its config does not "
            f"have: {listed(inside)}"
        )
    return Unused(dict(Counter(_part(name, hf) for name in names)))


def _full(name: str, hf: Any) -> str:
    """The tensor's full name in `hf`. In some files, names lack the prefix of the base model, such
    as "model."."""
    first = name.partition(".")[0]
    short = not hasattr(hf, first) and hasattr(hf.base_model, first)
    return f"{hf.base_model_prefix}.{name}" if short else name


@dataclass(frozen=True)
class _TextParts:
    """The parts of a model that process text. layers: name of the list of decoder layers, "" if
    there is none. heads: indices of extra prediction heads, which are stored as if they were layers
    after the last one. others: names of the other parts, each with a dot at the end."""

    layers: str
    heads: range
    others: tuple[str, ...]

    def holds(self, name: str) -> bool:
        """Whether the tensor `name` would belong to one of these parts."""
        if self.layers and name.startswith(f"{self.layers}."):
            number = re.match(r"[0-9]{1,9}(?=\.)", name[len(self.layers) + 1 :])
            return number is None or int(number[0]) not in self.heads
        return name.startswith(self.others)


def _text_parts(hf: Any) -> _TextParts:
    found = layer_list(hf)
    config = hf.config.get_text_config()
    layers = found[0] if found else ""
    heads = getattr(config, "num_nextn_predict_layers", None) or 0
    body = layers.rpartition(".")[0]
    beside = [
        f"{body}.{child}".removeprefix(".") for child, _ in hf.get_submodule(body).named_children()
    ]
    ends = [_top(name, layers) for name, module in hf.named_modules() if _is_end(module, hf)]
    others = tuple(f"{part}." for part in (*beside, *ends) if part != layers)
    return _TextParts(
        layers, range(config.num_hidden_layers, config.num_hidden_layers + heads), others
    )


def _is_end(module: Any, hf: Any) -> bool:
    """Whether `module` is the model's embedding or its head."""
    return module is hf.get_input_embeddings() or module is hf.get_output_embeddings()


def _top(name: str, layers: str) -> str:
    """The name of the outermost module that contains the module `name` but not `layers`. It may be
    `name` itself."""
    parts = name.split(".")
    tops = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next(top for top in tops if not f"{layers}.".startswith(f"{top}."))


def _part(name: str, hf: Any) -> str:
    """The outermost part of `name` that does not exist in `hf`: "vision_tower" for
    "vision_tower.layers.0.weight"."""
    module = hf
    known = []
    for part in name.split("."):
        known.append(part)
        module = getattr(module, part, None)
        if module is None:
            break
    return ".".join(known)


def counted(names: Collection[Any]) -> str:
    """The number of `names` in words, as "3 tensors"."""
    return f"{len(names):,} tensor{'' if len(names) == 1 else 's'}"


def listed(names: Collection[str]) -> str:
    """The first three of the sorted `names`, in words."""
    first = [name[:_MAX_NAME] for name in sorted(names)[:_LISTED]]
    return ", ".join(first) + (", ..." if len(names) > _LISTED else "")
