"""Refuses models whose config shows that they cannot run a token tree.

Other unfit models are found only after their weights are loaded: a forward pass raises an error, or
the self-test (models/self_test.py) fails.

The list in assets/model_types.json says which types of `transformers` can run a token tree. The
command `PYTHONPATH=.:tests python tests/model_types.py` makes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import AutoModelForCausalLM

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadModel
from sequoia.models.layers import layer_configs
from sequoia.text_files import load_json

# The reasons in this file complete a message that begins with the model's name and type.
_FULL = "a tree works only with full attention"

_SOUND = "generates audio; a model that predicts the next token of a text is needed"
_ASSISTANT = "drafts from the hidden states of its large model and cannot run without it"

# Types that transformers loads as causal language models, but that cannot run a tree, and why.
_KINDS = {
    "blt": "groups bytes into patches that depend on the text; a tree needs single tokens",
    "cpmant": "prepends a prompt of its own to every pass and derives distances from the order of "
    "tokens, but neighbouring tokens of a tree can be on different branches",
    "gemma4_assistant": _ASSISTANT,
    "gemma4_unified_assistant": _ASSISTANT,
    "gpt_neo": f"has layers of local attention; {_FULL}",
    "musicgen": _SOUND,
    "musicgen_melody": _SOUND,
    "openai-gpt": "has no KV cache, so every pass would have to recompute the whole text",
    "reformer": f"attends within chunks and hash buckets of a text; {_FULL}",
    "xlm": "builds its own attention mask and accepts no other; a tree needs a mask of its own",
    "xlnet": "has a memory instead of a KV cache; rejected branches could not be removed from it",
    "xmod": "has separate weights for each human language and needs one chosen beforehand",
}

# Decoders whose configs have a field is_decoder without using it.
_DECODERS = ("gpt_neox", "gpt_neox_japanese", "trocr")


def refuse_unfit(name: str, config: Any) -> None:
    """Raises BadModel if the config shows that the model cannot run a tree. name: the model's name
    in messages. config: as read by `transformers`."""
    kind = getattr(config, "model_type", "?")
    if type(config) not in AutoModelForCausalLM._model_mapping and not _is_encoder_decoder(config):
        raise BadModel(
            f"{name} is of type {kind}, for which transformers has no causal language model"
        )
    if kind in _KINDS:
        raise BadModel(f"{name} ({kind}) {_KINDS[kind]}")
    text = config.get_text_config()
    if _is_encoder_decoder(config) or _is_encoder_decoder(text):
        raise BadModel(f"{name} ({kind}) is an encoder-decoder; a decoder-only model is needed")
    layers = layer_configs(text)
    if reason := next(filter(None, (rule(layer) for rule in _RULES for layer in layers)), None):
        raise BadModel(f"{name} ({getattr(text, 'model_type', kind)}) {reason}")


def _is_encoder_decoder(config: Any) -> bool:
    return bool(getattr(config, "is_encoder_decoder", False))


def _encoder(config: Any) -> str:
    if getattr(config, "is_decoder", None) is False and config.model_type not in _DECODERS:
        return (
            "is an encoder (its config does not set is_decoder), so its tokens attend to later "
            "tokens too"
        )
    return ""


def _other_layers(config: Any) -> str:
    others = sorted(set(_layer_types(config)) - {"full_attention"})
    if not others:
        return ""
    return f"has layers of type {', '.join(f'“{one}”' for one in others)}; {_FULL}"


def _sparse(config: Any) -> str:
    if getattr(config, "attention_type", None) == "block_sparse":
        return f"attends to only some blocks of a text; {_FULL}"
    return ""


def _alibi(config: Any) -> str:
    inner = getattr(config, "attn_config", None)
    if config.model_type == "bloom" or any(getattr(one, "alibi", False) for one in (config, inner)):
        return (
            "derives positions from the order of tokens (ALiBi), but neighbouring tokens of a tree "
            "can be on different branches"
        )
    return ""


def _window(config: Any) -> str:
    """The reason if the model has a sliding window that is shorter than its context. If the config
    lists the types of its layers, the window is ignored: layers with full attention do not use it,
    and `_other_layers` refuses all others."""
    window = getattr(config, "sliding_window", None)
    used = getattr(config, "use_sliding_window", True) and not _layer_types(config)
    if window and used and window < getattr(config, "max_position_embeddings", 0):
        return f"attends to a sliding window of {window} tokens; {_FULL}"
    return ""


def _headless(config: Any) -> str:
    if not getattr(config, "num_attention_heads", None):
        return "has no attention heads; a recurrent state cannot represent the branches of a tree"
    return ""


def _indexed(config: Any) -> str:
    if count := getattr(config, "index_topk", None):
        return f"attends to only {count} tokens, chosen by an index outside its KV cache; {_FULL}"
    return ""


def _mixed_experts(config: Any) -> str:
    if config.model_type == "doge" and getattr(config, "is_moe", False):
        return (
            "chooses a token's experts depending on the other tokens of the same pass, so its "
            "output depends on how a text is divided into passes"
        )
    return ""


def _layer_types(config: Any) -> tuple[str, ...]:
    return tuple(getattr(config, "layer_types", None) or ())


# Each rule gets the config of a layer. It returns the reason why the layer cannot run a tree, or
# "".
_RULES = (
    _encoder,
    _other_layers,
    _sparse,
    _alibi,
    _window,
    _headless,
    _indexed,
    _mixed_experts,
)


FILE = ASSETS / "model_types.json"


@dataclass(frozen=True)
class ModelType:
    """A model type and the outcome of its tests. result: "runs"; "partly" (runs only if its default
    config is changed); "refused"; or "not built" (no toy model of it runs in `transformers`).
    reason: why the default config does not run, "" if it does. condition: the change that makes a
    "partly" type run, "" for other types. without: changes of the config that are refused, each
    with the reason. A refused type has at most one entry: the change that was tried to make it
    run. The entry is left out if its reason is that of the default config."""

    name: str
    result: str
    reason: str = ""
    condition: str = ""
    without: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class KnownTypes:
    """All causal model types of one version of `transformers`, sorted by name."""

    transformers: str
    types: tuple[ModelType, ...]

    def count(self, result: str) -> int:
        """Number of types with this result."""
        return sum(one.result == result for one in self.types)


def known_types() -> KnownTypes:
    """The list in `FILE`."""
    data = load_json(FILE)
    rows = ({**row, "without": tuple(map(tuple, row["without"]))} for row in data["types"])
    return KnownTypes(data["transformers"], tuple(ModelType(**row) for row in rows))
