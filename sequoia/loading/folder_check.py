"""Checks a model's folder before any library opens a file in it, and then reads its config with
`transformers`. Weights are not read here.

Libraries look for files under many names, so every entry of the folder must be a plain file or a
folder, or a link to one. Whole numbers in the config must be within bounds, because libraries
allocate memory of these sizes. The bounds are well above the values in published models. References
to other files are refused. `auto_map`, which refers to code, is allowed, because that code is never
run. Fields that only say how the model was last run are left out: some of these would change its
outputs, or name an attention kernel that is not installed here or is downloaded as code.
"""

from __future__ import annotations

import json
import math
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
    read_bytes,
    read_object,
    refuse_other_formats,
    refuse_quantised_config,
)
from sequoia.this_machine.dtypes import STORED
from sequoia.validate_input import shown

GENERATION = "generation_config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
# Size limits in bytes of the files that are parsed here.
_JSON = {
    CONFIG: 4_000_000,
    GENERATION: 1_000_000,
    TOKENIZER_CONFIG: 16_000_000,
    "special_tokens_map.json": 4_000_000,
    "added_tokens.json": 16_000_000,
}
_MOST_TEMPLATE = 1_000_000
# Size limit in bytes of other files that match _SMALL. The largest published vocabulary has a third
# of this.
_MOST_OTHER = 128_000_000
_SMALL = re.compile(r".*\.(json|txt|model|bpe|jinja|tiktoken)")
_TEMPLATES = "additional_chat_templates"
# fields that name other files, of a config and of a tokenizer's config
_OTHER_CONFIGS = ("transformers_weights", "configuration_files")
_OTHER_FILES = ("fast_tokenizer_files", "init_inputs", "gguf_file")


def check_folder(folder: Path, title: str) -> dict[str, Any]:
    """Check the names and sizes in `folder`, and parse the files in _JSON. Returns the parsed
    config.json. Raises BadModel if there is no config.json, if a parsed file is damaged, or if one
    of the checks fails. title: the model's name in messages."""
    _check_entries(folder, title)
    listed = files_in(folder, title)
    refuse_other_formats(listed)
    found = {
        name: read_object(folder / name, f"{title}: {name}", most)
        for name, most in _JSON.items()
        if name in listed.names
    }
    check_config(found[CONFIG], title)
    for name in (CONFIG, GENERATION):
        check_token_ids(found.get(name, {}), title, name)
    _refuse_fields(found.get(TOKENIZER_CONFIG, {}), _OTHER_FILES, title, TOKENIZER_CONFIG)
    return found[CONFIG]


def _check_entries(folder: Path, title: str) -> None:
    """Raises BadModel if `folder` cannot be read, or if an entry in it or in its folder of chat
    templates is refused."""
    try:
        for path in (*sorted(folder.iterdir()), *sorted(folder.glob(f"{_TEMPLATES}/*"))):
            if path.is_file():
                _check_size(path, title)
            elif not path.is_dir():
                raise BadModel(f"{title}: {path.name[:80]} is neither a file nor a folder")
    except OSError as problem:
        raise BadModel(f"{title} cannot be read ({problem.strerror})") from None


def _check_size(path: Path, title: str) -> None:
    """Raises BadModel if the file at `path` is too large for a file without weights."""
    name = path.name
    is_template = name.endswith(".jinja") or name == "chat_template.json"
    most = _MOST_TEMPLATE if is_template else _MOST_OTHER
    if _SMALL.fullmatch(name) and path.stat().st_size > most:
        raise BadModel(
            f"{title}: {name[:80]} has {path.stat().st_size:,} bytes; the limit is {most:,}"
        )


def _refuse_fields(config: dict[str, Any], names: Iterable[str], title: str, file: str) -> None:
    """Raises BadModel if one of these fields is set. They would make libraries open other files, or
    pass further arguments to the tokenizer. file: the name of the file that `config` is from."""
    if found := next((name for name in names if config.get(name)), ""):
        raise BadModel(
            f"{title}: {found} in its {file} refers to other files or arguments, which is not "
            "allowed; remove this field"
        )


def read_tokenizer(folder: Path, title: str) -> str | None:
    """The text of the folder's tokenizer.json, None if there is none. Raises BadModel if the file
    cannot be read or is too large."""
    path = folder / TOKENIZER
    if not path.is_file():
        return None
    return read_bytes(path, f"{title}: {TOKENIZER}", _MOST_OTHER).decode("utf-8", "replace")


# -- the config ------------------------------------------------------------------------------------

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
    _refuse_fields(config, _OTHER_CONFIGS, title, CONFIG)
    for part in _parts(config):
        refuse_quantised_config(part, title)
        _check_dtype(part, title)
    for name, value in _values(config):
        _check_value(name, value, title)


def check_token_ids(config: dict[str, Any], title: str, file: str) -> None:
    """Checks the fields whose names end in _token_id. Raises BadModel if one of them is not a token
    id, null, or a list of these. file: the name of the file that `config` was read from."""
    for name, value in config.items():
        if name.endswith("_token_id"):
            for one in value if isinstance(value, list) else [value]:
                if one is not None and not (type(one) is int and -1 <= one <= 2**31):
                    raise BadModel(
                        f"{title}: {name} in its {file} is {shown(one)}, which is not a token id "
                        f"(a whole number from -1 to {2**31:,})"
                    )


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
