"""Checks a model's config before any library uses it, and reads it with `transformers`. Whole
numbers in the config must be within bounds, because libraries allocate memory of these sizes.
References to other files are refused. `auto_map`, which refers to code, is allowed, because that
code is never run. Fields that only say how the model was last run are left out: some of these would
change its outputs, or name an attention kernel that is not installed here or is downloaded as code.

The bounds are well above the values in published models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import AutoConfig

from sequoia.errors import BadModel
from sequoia.loading.other_formats import refuse_quantised_config
from sequoia.this_machine.dtypes import STORED
from sequoia.validate_input import shown

MOST_IN_A_LIST = 2**16
# Bounds of whole numbers: a pattern for a part of the field's name, and the lowest and highest
# value. If several patterns match, the first one counts.
BOUNDS = tuple(
    (re.compile(words), low, high)
    for words, low, high in (
        (r"num_labels|num_classes", 0, 2**16),
        (r"max_position", 0, 2**25),
        (r"vocab", -1, 2**25),  # some of these fields count n-grams, not tokens
        (r"theta|base$|_id$|_ids$|token|seed", -(2**63), 2**63),
        (r"size|dim|width|rank|embd|d_model|d_ff|ffn|inner|hidden$|channels", -1, 2**20),
        (r"position|length|context|window|ctx|seq|chunk", -1, 2**25),
        (r"expert", -1, 2**16),
        (r"layer|block|depth|stage|repeat", -(2**10), 2**10),
        (r"head|group|codebook|branch", -1, 2**12),
    )
)
ANYTHING = (-(2**53), 2**53)  # bounds of fields that match no pattern
# names of fields that may contain the config of a language model, such as text_config
_TEXT = re.compile(r"text|llm|language|decoder")


def check_config(config: dict[str, Any], title: str) -> None:
    """Raises BadModel if the config is unsafe to use, if the weights are quantised, or if a stated
    dtype is not in STORED. config: the parsed config.json. title: the model's name in messages."""
    _refuse_references(config, title)
    for part in _parts(config):
        _check_dtype(part, title)
    for name, value in _values(config):
        _check_value(name, value, title)


def check_token_ids(config: dict[str, Any], title: str, file: str) -> None:
    """Checks the fields whose names end in _token_id. Raises BadModel if one of them is not a token
    id, null, or a list of these. file: the name of the file that `config` was read from."""
    for name, value in config.items():
        if name.endswith("_token_id"):
            for one in value if isinstance(value, list) else [value]:
                if one is not None and not _is_whole(one, -1, 2**31):
                    raise BadModel(
                        f"{title}: {name} in its {file} is {shown(one)}, which is not a token id "
                        f"(a whole number from -1 to {2**31:,})"
                    )


def _refuse_references(config: dict[str, Any], title: str) -> None:
    """Raises BadModel if a field of the config would make libraries open other files or
    read quantised weights."""
    if config.get("transformers_weights") is not None:
        raise BadModel(
            f"{title}: its config names a weight file (transformers_weights), which is not "
            "allowed; remove this field"
        )
    if "configuration_files" in config:
        raise BadModel(
            f"{title}: its config names other config files (configuration_files), which is not "
            "allowed; remove this field"
        )
    for part in _parts(config):
        refuse_quantised_config(part, title)


def _check_dtype(part: dict[str, Any], title: str) -> None:
    for name in ("dtype", "torch_dtype"):
        dtype = part.get(name)
        if dtype is not None and (
            not isinstance(dtype, str) or dtype.removeprefix("torch.") not in STORED
        ):
            raise BadModel(
                f"{title}: {name} in its config is {shown(dtype)}, which is not one of "
                f"{', '.join(STORED)}"
            )


def _check_value(name: str, value: Any, title: str) -> None:
    name = name if name.isidentifier() and len(name) <= 60 else shown(name)
    if isinstance(value, list | dict) and len(value) > MOST_IN_A_LIST:
        raise BadModel(
            f"{title}: {name} in its config has {len(value):,} entries; the limit is "
            f"{MOST_IN_A_LIST:,}"
        )
    if isinstance(value, float) and math.isnan(value):
        raise BadModel(f"{title}: {name} in its config is not a number (NaN)")
    if type(value) is int:
        bounds = ((low, high) for words, low, high in BOUNDS if words.search(name))
        low, high = next(bounds, ANYTHING)
        if not low <= value <= high:
            raise BadModel(
                f"{title}: {name} in its config is {shown(value)}; it must be from {low:,} to "
                f"{high:,}"
            )


def _is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value <= high


def _parts(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The config itself, and those of its fields that contain the config of a language model."""
    yield config
    for name, value in config.items():
        if isinstance(value, dict) and _TEXT.search(name):
            yield value


def _values(value: Any, name: str = "config") -> Iterator[tuple[str, Any]]:
    """Every value in a config, at any depth, with the name of its field. An entry of a list has the
    name of the list's field. The recursion is safe because model_files.py limits the depth."""
    yield name, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, name)


_HOW_IT_RAN = re.compile(
    r"output_(attentions|hidden_states|router_logits)|(use_)?return_dict|use_cache|torchscript"
    r"|gradient_checkpointing|_?(attn|experts)_implementation(_internal)?"
)


def read_config(fields: Mapping[str, Any], folder: Path) -> Any:
    """The `transformers` config with `fields`, those of the checked config.json in `folder`. Errors
    of `transformers` pass through."""
    with TemporaryDirectory() as place:
        text = json.dumps(_of_the_model(fields))
        (Path(place) / "config.json").write_text(text, encoding="utf-8")
        config = AutoConfig.from_pretrained(place, trust_remote_code=False, local_files_only=True)
    config.name_or_path = str(folder)  # some tokenizers are chosen by it
    return config


def _of_the_model(value: Any) -> Any:
    """`value` without the fields in _HOW_IT_RAN, at any depth."""
    if isinstance(value, Mapping):
        return {
            name: _of_the_model(inner)
            for name, inner in value.items()
            if not _HOW_IT_RAN.fullmatch(name)
        }
    return [_of_the_model(inner) for inner in value] if isinstance(value, list) else value
