"""Which models cannot run a token tree, and why, from the config alone: one function for each rule.

What no rule covers is found by the self-test (models/self_test.py), at the cost of loading the
weights.
"""

from __future__ import annotations

from typing import Any

from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.models.layer_configs import layer_configs

_FULL = "only full attention can hold the branches of a tree"

_SOUND = "writes sound; a model that predicts the next token of a text is needed"
_ASSISTANT = "drafts from the hidden states of its large model; alone it predicts nothing"

# Types that load as causal language models but whose code has no way to run a tree.
_KINDS = {
    "blt": "reads bytes in patches whose borders depend on the text; a tree has single tokens",
    "cpmant": "puts a prompt of its own before every pass and takes distances from the order of "
    "tokens, but the tokens of a tree do not all follow each other",
    "gemma4_assistant": _ASSISTANT,
    "gemma4_unified_assistant": _ASSISTANT,
    "musicgen": _SOUND,
    "musicgen_melody": _SOUND,
    "openai-gpt": "has no KV cache, so nothing computed for a text can be kept",
    "reformer": f"attends within chunks and hash buckets of a text; {_FULL}",
    "xlm": "makes its own attention mask and takes none; a tree needs one for its branches",
    "xlnet": "keeps a memory of its own, not a KV cache; a rejected branch would stay in it",
    "xmod": "has weights for each human language, one of which has to be chosen beforehand",
}

# Encoders: causal only where their config says so.
_ENCODERS = frozenset(
    {
        "bert",
        "bert-generation",
        "big_bird",
        "camembert",
        "data2vec-text",
        "electra",
        "ernie",
        "megatron-bert",
        "rembert",
        "roberta",
        "roberta-prelayernorm",
        "roc_bert",
        "roformer",
        "xlm-roberta",
        "xlm-roberta-xl",
    }
)


def refuse_unfit(name: str, config: Any) -> None:
    """Raises BadModel if a model of the whole `config` cannot run a tree."""
    kind = getattr(config, "model_type", "?")
    if type(config) not in AutoModelForCausalLM._model_mapping and not _is_encoder_decoder(config):
        raise BadModel(
            f"{name} is of type {kind}, for which transformers has no causal language model"
        )
    if kind in _KINDS:
        raise BadModel(f"{name} ({kind}) {_KINDS[kind]}")
    text = config.get_text_config()
    layers = layer_configs(text)
    if reason := next(filter(None, (rule(layer) for rule in _RULES for layer in layers)), None):
        raise BadModel(f"{name} ({getattr(text, 'model_type', kind)}) {reason}")
    stateful = getattr(AutoModelForCausalLM._model_mapping[type(config)], "_is_stateful", False)
    # where the config lists all layer types, the rules above have refused any recurrent one
    if stateful and not _layer_types(text):
        raise BadModel(
            f"{name} ({kind}) keeps a recurrent state, which cannot hold the branches of a tree"
        )


def _is_encoder_decoder(config: Any) -> bool:
    return bool(getattr(config, "is_encoder_decoder", False))


def _encoder_decoder(config: Any) -> str:
    if _is_encoder_decoder(config):
        return "is an encoder-decoder; a causal language model is needed"
    return ""


def _encoder(config: Any) -> str:
    if config.model_type in _ENCODERS and not getattr(config, "is_decoder", False):
        return (
            "is an encoder: its tokens also see those that follow them, unless the config says "
            "is_decoder"
        )
    return ""


def _other_layers(config: Any) -> str:
    others = sorted(set(_layer_types(config)) - {"full_attention"})
    if not others:
        return ""
    return f"has {', '.join(others)} layers; {_FULL}"


def _local_layers(config: Any) -> str:
    if "local" in (getattr(config, "attention_layers", None) or ()):
        return f"has layers of local attention; {_FULL}"
    if config.model_type == "gpt_neo":
        return "has its own causal mask, which ends at its context; a tree needs room beyond it"
    if getattr(config, "attention_type", None) == "block_sparse":
        return f"attends to blocks of a text; {_FULL}"
    return ""


def _alibi(config: Any) -> str:
    inner = getattr(config, "attn_config", None)
    if config.model_type == "bloom" or any(getattr(one, "alibi", False) for one in (config, inner)):
        return (
            "takes positions from the order of tokens (ALiBi), but the tokens of a tree do not all "
            "follow each other"
        )
    return ""


def _window(config: Any) -> str:
    """For a window shorter than the context. A config that lists its layer types uses none, as all
    of them are full attention."""
    window = getattr(config, "sliding_window", None)
    used = getattr(config, "use_sliding_window", True) and not _layer_types(config)
    if window and used and window < getattr(config, "max_position_embeddings", 0):
        return f"attends to a sliding window of {window} tokens; {_FULL}"
    return ""


def _headless(config: Any) -> str:
    if not getattr(config, "num_attention_heads", None):
        return "has no attention heads: a recurrent state cannot hold the branches of a tree"
    return ""


def _indexed(config: Any) -> str:
    if count := getattr(config, "index_topk", None):
        return (
            f"keeps an index beside its KV cache, which chooses the {count} tokens that a token "
            f"attends to; {_FULL}"
        )
    return ""


def _mixed_experts(config: Any) -> str:
    if config.model_type == "doge" and getattr(config, "is_moe", False):
        return (
            "chooses the experts of a token by the other tokens of the same pass, so its output "
            "depends on how a text is divided into passes"
        )
    return ""


def _layer_types(config: Any) -> tuple[str, ...]:
    return tuple(getattr(config, "layer_types", None) or ())


_RULES = (
    _encoder_decoder,
    _encoder,
    _other_layers,
    _local_layers,
    _alibi,
    _window,
    _headless,
    _indexed,
    _mixed_experts,
)
