"""Checks a model's folder before any library opens a file in it, and then reads its config with
`transformers`. Weights are not read here.

References to other files are refused. `auto_map`, which refers to code, is allowed, because that
code is never run. Fields that only say how the model was last run are left out: some of these would
change its outputs, or name an attention kernel that is not installed here or is downloaded as code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import AutoConfig

from sequoia.errors import BadModel
from sequoia.loading.model_files import (
    CONFIG,
    files_in,
    read_object,
    refuse_other_formats,
    refuse_quantised_config,
)

TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
# fields that name other files, of a config and of a tokenizer's config
_OTHER_CONFIGS = ("transformers_weights", "configuration_files")
_OTHER_FILES = ("fast_tokenizer_files", "init_inputs", "gguf_file")
# names of fields that may contain the config of a language model, such as text_config
_TEXT = re.compile(r"text|llm|language|decoder")


def check_folder(folder: Path, title: str) -> dict[str, Any]:
    """Check the files in `folder`, and return the parsed config.json. Raises BadModel if there is
    none, if it or the tokenizer's config is damaged or names other files, or if the weights are
    quantised. title: the model's name in messages."""
    listed = files_in(folder, title)
    refuse_other_formats(listed)
    config = read_object(folder / CONFIG, f"{title}: {CONFIG}")
    _refuse_fields(config, _OTHER_CONFIGS, title, CONFIG)
    for part in _parts(config):
        refuse_quantised_config(part, title)
    if TOKENIZER_CONFIG in listed.names:
        of_tokenizer = read_object(folder / TOKENIZER_CONFIG, f"{title}: {TOKENIZER_CONFIG}")
        _refuse_fields(of_tokenizer, _OTHER_FILES, title, TOKENIZER_CONFIG)
    return config


def _refuse_fields(config: dict[str, Any], names: Iterable[str], title: str, file: str) -> None:
    """Raises BadModel if one of these fields is set. They would make libraries open other files, or
    pass further arguments to the tokenizer. file: the name of the file that `config` is from."""
    if found := next((name for name in names if config.get(name)), ""):
        raise BadModel(
            f"{title}: {found} in its {file} refers to other files or arguments, which is not "
            "allowed; remove this field"
        )


def _parts(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The config itself, and those of its fields that contain the config of a language model."""
    yield config
    for name, value in config.items():
        if isinstance(value, dict) and _TEXT.search(name):
            yield value


_HOW_IT_RAN = re.compile(
    r"output_(attentions|hidden_states|router_logits)|(use_)?return_dict|use_cache|torchscript"
    r"|gradient_checkpointing|_?(attn|experts)_implementation(_internal)?"
)


def read_config(fields: Mapping[str, Any], folder: Path) -> Any:
    """The `transformers` config with `fields`, those of the checked config.json in `folder`. Errors
    of `transformers` pass through."""
    with TemporaryDirectory() as place:  # only from a file are numbers like infinity decoded
        text = json.dumps(_of_the_model(fields))
        (Path(place) / CONFIG).write_text(text, encoding="utf-8")
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
