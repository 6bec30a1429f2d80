"""Toy models of any causal model type: the type's default config with all sizes reduced, random
weights, a draft that nearly agrees with the target, and a tokenizer for both."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, PreTrainedTokenizerFast

VOCAB = 288
CONTEXT = 64
WIDTH = 32
LAYERS = 2
HEADS = 4
MOST_PARAMETERS = 5_000_000
# noise in the draft, as a fraction of each tensor's standard deviation; small enough that the
# draft's first guess is often accepted
_NOISE = 0.03
_STOP = "<|endoftext|>"  # some tokenizer classes add a token of this name if it is missing
_START = "<|start|>"

_ORIGINAL = "original_max_position_embeddings"

# Values for fields with these names, in every type.
_SIZES: tuple[tuple[Any, str], ...] = (
    (VOCAB, "vocab_size vocab_size_per_layer_input decoder_vocab_size"),
    (CONTEXT, "max_position_embeddings n_positions max_seq_len n_ctx max_target_positions"),
    (CONTEXT, "context_length model_max_length"),
    (WIDTH, "hidden_size d_model n_embd emb_dim embedding_dim embed_dim embedding_size"),
    (WIDTH, "word_embed_proj_dim"),
    (2 * WIDTH, "intermediate_size ffn_dim ffn_hidden_size encoder_ffn_dim decoder_ffn_dim"),
    (2 * WIDTH, "dim_ff dff d_inner intermediate_size_mlp dense_intermediate_size"),
    (LAYERS, "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers"),
    (LAYERS, "num_encoder_layers num_decoder_layers depth num_blocks attention_layers"),
    (HEADS, "num_attention_heads n_head n_heads num_heads attention_heads"),
    (HEADS, "encoder_attention_heads decoder_attention_heads num_encoder_attention_heads"),
    (HEADS, "num_decoder_attention_heads swa_num_attention_heads"),
    (HEADS // 2, "num_key_value_heads num_kv_heads swa_num_key_value_heads"),
    (WIDTH // HEADS, "head_dim swa_head_dim kv_channels query_pre_attn_scalar"),
    (4, "num_experts n_routed_experts num_local_experts moe_num_experts rotary_dim"),
    (2, "num_experts_per_tok num_experts_per_token moe_topk moe_top_k moe_k top_k_experts"),
    (WIDTH, "moe_intermediate_size shared_expert_intermediate_size expert_ffn_hidden_size"),
    (WIDTH, "shared_experts_intermediate_size shared_intermediate_size"),
    (1, "n_group topk_group num_expert_group first_k_dense_replace n_shared_experts"),
    (2, "zero_expert_num"),
    (16, "q_lora_rank kv_lora_rank o_lora_rank hc_lowrank qk_head_dim"),
    (8, "qk_nope_head_dim qk_rope_head_dim v_head_dim hidden_size_per_layer_input laurel_rank"),
    (0, "num_kv_shared_layers eos_token_id"),
    (1, "bos_token_id"),
    (2, "pad_token_id"),
    (28, "image_size"),
    (14, "patch_size"),
)
_SMALL = {name: size for size, names in _SIZES for name in names.split()}

_LATENT = (
    "axk1",
    "axk2",
    "bailing_hybrid",
    "deepseek_v2",
    "deepseek_v3",
    "deepseek_v32",
    "glm4_moe_lite",
    "glm_moe_dsa",
    "hy_v4",
    "kimi_linear",
    "longcat_flash",
    "minicpm3",
    "youtu",
)  # multi-head latent attention: the keys of all heads are computed from one small vector
_MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 16, "mamba_chunk_size": 16}
_NOTHING_PER_LAYER = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
_ASSISTANT = {"num_kv_shared_layers": LAYERS, "layer_types": ["full_attention"] * LAYERS}
_DRAFTING = {"backbone_hidden_size": WIDTH, "num_centroids": 16}

# Fields set for one type. Most of them have to fit other fields of that type.
BY_TYPE: dict[str, dict[str, Any]] = {
    "bamba": {**_MAMBA, "attn_layer_indices": [1]},
    "blt": {"encoder_hash_byte_group_vocab": 100, "encoder_hash_byte_group_size": [3]},
    "cohere_compass_text": {
        "rope_parameters": {
            "full_attention": {
                "rope_type": "default",
                "rope_theta": 10_000.0,
                "mrope_section": [2, 1, 1],
            }
        }
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8.0},
        "ffn_config": {"hidden_size": WIDTH, "ffn_hidden_size": WIDTH, "moe_top_k": 2},
    },
    "dots3_note_vision_encoder": {
        "mlp_layer_types": ["dense"] * LAYERS,
        "adapter_in_dim": WIDTH,
        "adapter_out_dim": WIDTH,
    },
    "dots3_note_audio_encoder": {"adapter_input_size": WIDTH, "adapter_out_dim": WIDTH},
    "flint": {"layer_types": ["sliding_attention", "full_attention"]},
    **{kind: {"layer_types": ["conv", "full_attention"]} for kind in ("lfm2", "lfm2_moe")},
    **{kind: {"num_key_value_heads": HEADS} for kind in ("dots3_note_text", *_LATENT)},
    "falcon_h1": {**_MAMBA, "mamba_d_ssm": 2 * WIDTH},
    "gemma4_assistant": {
        "text_config": {"model_type": "gemma4_text", **_NOTHING_PER_LAYER, **_ASSISTANT},
        **_DRAFTING,
    },
    **{
        kind: {"global_head_dim": 2 * WIDTH // HEADS}
        for kind in ("gemma4_text", "gemma4_unified_text")
    },
    "gemma4_unified_assistant": {
        "text_config": {"model_type": "gemma4_unified_text", **_ASSISTANT},
        **_DRAFTING,
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {**_MAMBA, "layer_types": ["linear_attention", "full_attention"]},
    # with more cycles, rounding alone changes the logits by as much as TOLERANCE in model_types.py
    "hrm_text": {
        "H_cycles": 1,
        "L_cycles": 2,
    },
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1},
    "reformer": {
        "is_decoder": True,
        "axial_pos_shape": [8, 8],
        "axial_pos_embds_dim": [16, 16],
        "attention_head_size": 8,
        "feed_forward_size": WIDTH,
    },
    "roc_bert": {
        "shape_vocab_size": 32,
        "shape_embed_dim": 8,
        "pronunciation_vocab_size": 32,
        "pronunciation_embed_dim": 8,
    },
    "zamba": {"layers_block_type": ["linear_attention", "hybrid"] * 2, "num_hidden_layers": 4},
    "zamba2": {
        "layers_block_type": ["linear_attention", "hybrid"],
        "n_mamba_heads": 8,
        "mamba_d_state": 16,
    },
    "zaya": {"num_experts_per_tok": 1, "router_hidden_size": 16},
}


def toy_config(kind: str, changes: Mapping[str, Any] | None = None) -> Any:
    """A small config of the type `kind`. changes: new values for fields of its text part, or of the
    config itself if it has no text part. Raises whatever the type's own validation raises."""
    changes = changes or {}
    config = _built(kind, changes)
    ropes = getattr(config, "rope_parameters", None) or {}
    if "rope_parameters" in changes or ropes.get(_ORIGINAL, 0) <= CONTEXT:
        return config
    return _built(kind, {**changes, "rope_parameters": {**ropes, _ORIGINAL: CONTEXT // 2}})


def _built(kind: str, changes: Mapping[str, Any]) -> Any:
    config_class = CONFIG_MAPPING[kind]
    fields = _fields(config_class, kind)
    parts = config_class.sub_configs_defaults
    text_part = next((fields[name] for name in ("text_config", "decoder") if name in parts), fields)
    text_part.update(changes)
    return config_class(**fields)


def _fields(config_class: Any, kind: str) -> dict[str, Any]:
    known = {field.name for field in dataclasses.fields(config_class)}
    found: dict[str, Any] = {name: size for name, size in _SMALL.items() if name in known}
    for name, spec in config_class.sub_configs_defaults.items():
        if not spec.optional:
            found[name] = _part(spec)
    return _merged(found, BY_TYPE.get(kind, {}))


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """`one` updated with the values of `other`, recursively."""
    both = dict(one)
    for name, value in other.items():
        inner = isinstance(value, Mapping) and isinstance(one.get(name), Mapping)
        both[name] = _merged(one[name], value) if inner else value
    return both


def _part(spec: Any) -> dict[str, Any]:
    """The fields of a small config for the part `spec` of a composite config."""
    kind = spec.model_type or spec.config_class.model_type
    # CONFIG_MAPPING.get would always return None, because only `[kind]` loads the classes
    known = kind in CONFIG_MAPPING
    part_class = CONFIG_MAPPING[kind] if known else spec.config_class
    return {"model_type": kind, **_fields(part_class, kind)}


def kinds() -> tuple[str, ...]:
    """All types with a causal language model in the installed `transformers`, sorted."""
    return tuple(sorted({config.model_type for config in AutoModelForCausalLM._model_mapping}))


class TooLarge(Exception):
    """The model of a toy config has more than MOST_PARAMETERS parameters."""


def random_model(config: Any, seed: int = 0) -> Any:
    """A model of `config` in float32 with random weights. Its logits have a standard deviation of
    about 2 and depend on positions. Raises TooLarge, or whatever the model's code raises."""
    _refuse_large(config)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        for name, weight in model.named_parameters():
            _draw(name, weight)
    return model


def _refuse_large(config: Any) -> None:
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    size = sum(weight.numel() for weight in empty.parameters())
    if size > MOST_PARAMETERS:
        raise TooLarge(f"{size:,} parameters; a toy model has at most {MOST_PARAMETERS:,}")


@torch.no_grad()
def _draw(name: str, weight: torch.Tensor) -> None:
    if weight.dim() <= 1:
        weight.add_(torch.randn_like(weight), alpha=0.1)
    elif any(word in name for word in ("embed", "wte", "wpe")):
        weight.normal_(std=0.4)
    else:
        weight.normal_(std=2 / WIDTH**0.5)


def noisy(model: Any, seed: int = 1) -> Any:
    """A copy of `model` with a little noise added to every weight, for use as its draft."""
    copied = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in copied.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight.add_(noise, alpha=_NOISE * float(weight.std(correction=0)))
    return copied


def toy_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer with one token for each byte, two special tokens, and unused tokens up to
    VOCAB."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [_STOP, _START, *alphabet]
    pieces += [f"<unused{number}>" for number in range(VOCAB - len(pieces))]
    core = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, []))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token=_STOP, bos_token=_START)


def save(model: Any, config: Any, folder: Path) -> str:
    """Write `model` and a tokenizer to `folder` as the Hugging Face hub stores them, and return the
    folder's path. config: replaces the config that `model` saves, because some model types save
    only the part for text."""
    model.save_pretrained(folder)
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    toy_tokenizer().save_pretrained(folder)
    return str(folder)
