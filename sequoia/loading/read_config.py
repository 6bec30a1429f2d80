"""Reads a model's config with `transformers`, without the fields that only say how the model was
last run. Some of these would change its outputs, or name an attention kernel that is not installed
here or is downloaded as code."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import AutoConfig

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
