"""Variants of a toy config: other heads, biases, rotary positions, experts and so on.

All changes are derived from the fields of the config of a model type. So a new type in
`transformers` needs no new code here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toy_models import CONTEXT, HEADS, toy_config

from sequoia.models.layers import layer_configs, rope_parameters

Changes = dict[str, Any]
NamedChanges = Iterator[tuple[str, Changes]]

FULL = {"full_attention"}
WINDOW = 16  # tokens; shorter than the toy context, so that windows have an effect
ORIGINAL = CONTEXT // 2  # the context length before rotary scaling, in tokens

# Booleans that do not affect the computation, that stand for another kind of model, or that other
# variants change.
_NO_CHOICES = frozenset(
    (
        *("use_cache", "return_dict", "output_attentions", "output_hidden_states", "torchscript"),
        *("output_router_logits", "is_encoder_decoder", "is_decoder", "add_cross_attention"),
    )
)
_HEAD_FIELDS = ("num_key_value_heads", "num_kv_heads")
_EXPERT_FIELDS = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k")
# Values to test for four numbers: key heads, layers that use another layer's keys, experts per
# token, and layers without experts.
_NUMBERS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_HEAD_FIELDS, (1, HEADS)),
    "num_kv_shared_layers": (1,),
    **dict.fromkeys(_EXPERT_FIELDS, (1,)),
    "first_k_dense_replace": (0,),
}
_WINDOW_FIELDS = (
    "sliding_window",
    "local_attention",
    "attention_chunk_size",
    "window_size",
    "keep_window_size",
    "index_topk",
)
_ROTARY_FIELDS = {"rotary_pct": 0.5, "rotary_dim": 8, "partial_rotary_factor": 0.5}
# a number is a factor if its field name contains one of these
_SCALES = ("multiplier", "scaling", "scale", "softcap")


def variants(kind: str) -> dict[str, Changes]:
    """The variants of a toy config of `kind`: by name, the changes that each makes to the text
    part. "base" changes nothing. All other variants include the changes of `condition`. A type
    without exactly one language model has only "base"."""
    if not has_text(kind):
        return {"base": {}}
    name, needed = condition(kind)
    config = toy_config(kind, needed).get_text_config()
    fields = config.to_dict()
    found: dict[str, Changes] = {"base": {}, **({name: needed} if name else {})}
    for part in (_booleans, _numbers, _factors, _rotary_parts, _windows):
        found.update((one, needed | changes) for one, changes in part(fields))
    found.update((one, needed | changes) for one, changes in _ropes(config, fields))
    return found


def has_text(kind: str) -> bool:
    """Whether a config of `kind` describes exactly one language model; some describe several."""
    try:
        toy_config(kind).get_text_config()
    except ValueError:
        return False
    return True


def condition(kind: str) -> tuple[str, Changes]:
    """(words, fields): how the default config of `kind` must be changed to make its model causal,
    or to give every layer full attention. Some types can decode only with such a change. Both are
    empty if no change is needed or possible."""
    if not has_text(kind):
        return "", {}
    config = toy_config(kind).get_text_config()
    if config.to_dict().get("is_decoder") is False and not config.is_encoder_decoder:
        dense = {"attention_type": "original_full"} if hasattr(config, "attention_type") else {}
        return _working(kind, "is_decoder=True", {"is_decoder": True} | dense)
    return _working(kind, "full attention in every layer", _full_attention(config))


def _working(kind: str, name: str, changes: Changes) -> tuple[str, Changes]:
    """`name` and `changes` if there are changes and the config is valid with them; otherwise both
    empty."""
    try:
        toy_config(kind, changes)
    except Exception:  # the type's own validation
        return "", {}
    return name if changes else "", changes


def _booleans(fields: Mapping[str, Any]) -> NamedChanges:
    """A variant for each boolean not in _NO_CHOICES, with its value reversed."""
    for name, value in fields.items():
        if isinstance(value, bool) and name not in _NO_CHOICES:
            heads = (
                {"num_kv_heads": HEADS}
                if name == "multi_query" and "num_kv_heads" in fields
                else {}
            )
            yield f"{name}={not value}", {name: not value, **heads}


def _numbers(fields: Mapping[str, Any]) -> NamedChanges:
    """Variants with the values in _NUMBERS, and one with two groups of experts."""
    # in latent attention the keys of all heads come from one vector, so heads cannot share keys
    fixed = _HEAD_FIELDS if fields.get("kv_lora_rank") else ()
    for name, values in _NUMBERS.items():
        if isinstance(fields.get(name), int) and name not in fixed:
            yield from ((f"{name}={value}", {name: value}) for value in values)
    if fields.get("n_group") == 1 and "topk_group" in fields:
        yield "n_group=2", {"n_group": 2, "topk_group": 1}


def _factors(fields: Mapping[str, Any]) -> NamedChanges:
    """One variant in which no factor is 1 and logits are soft-capped."""
    changed = {
        name: _factor(name)
        for name, value in fields.items()
        if any(part in name for part in _SCALES) and _is_factor(name, value)
    }
    if changed:
        yield "factors", changed


def _factor(name: str) -> float:
    return 5.0 if "softcap" in name else 0.7


def _is_factor(name: str, value: Any) -> bool:
    return isinstance(value, float) or (value is None and "softcap" in name)


def _rotary_parts(fields: Mapping[str, Any]) -> NamedChanges:
    """Variants that set the share of each head to which rotary positions apply."""
    for name, value in _ROTARY_FIELDS.items():
        if name in fields:
            yield f"{name}={value}", {name: value}
    ropes = fields.get("rope_parameters")
    if isinstance(ropes, Mapping) and ropes.get("partial_rotary_factor"):
        yield "partial rotary", {"rope_parameters": {**ropes, "partial_rotary_factor": 0.25}}


def _windows(fields: Mapping[str, Any]) -> NamedChanges:
    """Variants with windows shorter than the context, for types without a list of layer types."""
    for name in _WINDOW_FIELDS:
        if name in fields and not fields.get("layer_types"):
            yield f"{name}={WINDOW}", {name: WINDOW}


def _full_attention(config: Any) -> Changes:
    """The changes that give every layer full attention. Empty if the config names no kinds of
    layers, or if all its `layer_types` are full attention already."""
    fields = config.to_dict()
    if "attention_types" in fields:
        return {"attention_types": [[["global"], fields["num_layers"]]]}
    if "attn_layer_indices" in fields:
        return {"attn_layer_indices": [*range(config.num_hidden_layers)]}
    if "attn_layer_period" in fields:
        return {"attn_layer_period": 1, "attn_layer_offset": 0}
    if set(getattr(config, "layer_types", None) or FULL) == FULL:
        return {}
    name = type(config).attribute_map.get("layer_types", "layer_types")
    return {
        name: ["full_attention"] * config.num_hidden_layers,
        **_narrow(fields),
        **_one_rope(fields),
    }


def _narrow(fields: Mapping[str, Any]) -> Changes:
    """The changes that make windows shorter than the context, so that a window that is still used
    has an effect. keep_window_size is not changed, because it would limit full attention, too."""
    return {
        name: WINDOW for name in _WINDOW_FIELDS if name in fields and name != "keep_window_size"
    }


def _one_rope(fields: Mapping[str, Any]) -> Changes:
    """The change that removes the rotary parameters of all layers except those with full attention.
    Empty if all kinds of layers have the same parameters."""
    ropes = fields.get("rope_parameters")
    if isinstance(ropes, Mapping) and "full_attention" in ropes:
        return {"rope_parameters": {"full_attention": ropes["full_attention"]}}
    return {}


def _ropes(config: Any, fields: Mapping[str, Any]) -> NamedChanges:
    """A variant for each scaling of rotary positions. Scalings that need an original context length
    get ORIGINAL."""
    ropes = fields.get("rope_parameters")
    if not ropes or "hidden_size" not in fields:
        return
    original = "original_max_position_embeddings"
    outer = {original: ORIGINAL} if original in fields else {}
    share = _share(config)
    part = {"partial_rotary_factor": share} if "partial_rotary_factor" in str(ropes) else {}
    for name, scaled in _scalings(int(_head_size(config) * share) // 2).items():
        rope = _with(ropes, {**scaled, **part, "rope_type": name})
        yield f"rope {name}", {"rope_parameters": rope, **outer}


def _share(config: Any) -> float:
    """The fraction of a head that rotary positions apply to. A fraction below a half is raised to a
    half, because the heads of toy models are small."""
    rope = rope_parameters(layer_configs(config)[0])[0]
    part = rope.get("partial_rotary_factor") or 1.0
    if rope.get("rope_type") == "proportional":  # this scaling handles partial heads itself
        return 1.0
    return part if part >= 0.5 else 0.5


def _with(ropes: Mapping[str, Any], scaled: Mapping[str, Any]) -> dict[str, Any]:
    """`ropes` with `scaled` added. If each kind of layer has rotary parameters of its own, `scaled`
    is added to all of them."""
    if not any(isinstance(part, Mapping) for part in ropes.values()):
        return {**ropes, **scaled}
    parts = {name: part for name, part in ropes.items() if isinstance(part, Mapping)}
    return {**ropes, **{name: {**part, **scaled} for name, part in parts.items()}}


def _head_size(config: Any) -> int:
    layer = layer_configs(config)[0]
    return getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads


def _scalings(pairs: int) -> dict[str, dict[str, Any]]:
    """The rotary parameters of each scaling, by its name. pairs: half the number of rotated
    dimensions of a head."""
    stretched = {"factor": CONTEXT / ORIGINAL, "original_max_position_embeddings": ORIGINAL}
    factors = {
        "short_factor": [1.0 + 0.1 * i for i in range(pairs)],
        "long_factor": [2.0 + 0.5 * i for i in range(pairs)],
        "short_mscale": 1.1,
        "long_mscale": 1.3,
    }
    return {
        "linear": {"factor": 2.0},
        "dynamic": {"factor": 2.0},
        "yarn": stretched,
        "llama3": {**stretched, "low_freq_factor": 1.0, "high_freq_factor": 4.0},
        "longrope": {**stretched, **factors},
    }
