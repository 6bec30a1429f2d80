"""Makes broken and hostile model folders from a good one. `load_pair` has to refuse each of them
with one sentence.

`FOLDERS` maps the name of each case to a function that spoils a good folder in place. `GROUPS` has
the same cases in groups. The good folder holds a tiny Llama in one file of weights. For indexes
see tests/loading/test_model_files.py, for headers and tensors test_weight_headers.py and
test_read_weights.py.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

Spoil = Callable[[Path], None]
Folders = dict[str, Spoil]
DEEP = 100_000  # levels of brackets


# -- tools -----------------------------------------------------------------------------------------


def text(file: str, content: str | bytes) -> Spoil:
    """Replaces `file` by `content`."""
    data = content if isinstance(content, bytes) else content.encode()

    def spoil(folder: Path) -> None:
        (folder / file).write_bytes(data)

    return spoil


def sparse(file: str, start: bytes, size: int) -> Spoil:
    """Replaces `file` by `size` bytes, of which only `start` takes room on the disk."""

    def spoil(folder: Path) -> None:
        (folder / file).write_bytes(start)
        os.truncate(folder / file, size)

    return spoil


def fields(file: str, **changes: Any) -> Spoil:
    """Sets fields of the JSON object in `file`; those set to `...` are removed."""

    def spoil(folder: Path) -> None:
        path = folder / file
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        data = {name: value for name, value in (data | changes).items() if value is not ...}
        path.write_text(json.dumps(data), encoding="utf-8")

    return spoil


def edited(file: str, edit: Callable[[Any], Any]) -> Spoil:
    """Edits the JSON value in `file`. `edit` returns a new value, or changes the value in place and
    returns None."""

    def spoil(folder: Path) -> None:
        path = folder / file
        data = json.loads(path.read_text(encoding="utf-8"))
        made = edit(data)
        path.write_text(json.dumps(data if made is None else made), encoding="utf-8")

    return spoil


def config(**changes: Any) -> Spoil:
    return fields("config.json", **changes)


def deep(key: str = "") -> str:
    """JSON nested far too deep, under `key` if it is given."""
    nest = "[" * DEEP + "]" * DEEP
    return f'{{"model_type": "llama", "{key}": {nest}}}' if key else nest


def without(*files: str) -> Spoil:
    def spoil(folder: Path) -> None:
        for file in files:
            (folder / file).unlink()

    return spoil


# -- the text of a config --------------------------------------------------------------------------


def config_texts() -> Folders:
    texts: dict[str, str | bytes] = {
        "a list": "[]",
        "cut short": '{"model_type": "llama", "hidden_si',
        "deep list": deep(),
        "no type": '{"hidden_size": 32}',
        "type unknown": '{"model_type": "no such"}',
    }
    return {f"config is {name}": text("config.json", content) for name, content in texts.items()}


# -- fields of a config ----------------------------------------------------------------------------

OTHERS: dict[str, Any] = {
    "hidden_size is null": {"hidden_size": None},
    "hidden_size is a word": {"hidden_size": "many"},
    "vocab_size is vast": {"vocab_size": 10**30},
    "heads do not divide": {"num_attention_heads": 5, "head_dim": None},
    "all huge but within bounds": {
        "hidden_size": 65_536,
        "num_hidden_layers": 400,
        "intermediate_size": 262_144,
        "vocab_size": 1_000_000,
    },
    "more tokens than embedding rows": {"vocab_size": 300_000},
    "an unknown activation": {"hidden_act": "boom"},
    "dtype unknown": {"dtype": "float7"},
    "rope of unknown kind": {"rope_parameters": {"rope_type": "spiral"}},
    "weights named elsewhere": {"transformers_weights": "../model.safetensors"},
    "a vision model": {"model_type": "vit"},
}


def config_fields() -> Folders:
    return {f"config: {name}": config(**changes) for name, changes in OTHERS.items()}


# -- one file of weights ---------------------------------------------------------------------------

WEIGHTS = "model.safetensors"


def packed(header: Any, body: bytes = b"") -> bytes:
    """A safetensors file; a header that is not bytes is written as JSON."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def files_of_weights() -> Folders:
    contents = {
        "empty": b"",
        "a header longer than the file": struct.pack("<Q", 10_000) + b"{}",
        "a header that is deep": packed(b'{"a":' * DEEP + b"1" + b"}" * DEEP),
        "no tensor": packed({"__metadata__": {"format": "pt"}}),
        "a pointer to a large file": LFS,
        "a pickle": pickle.dumps({"weight": list(range(1000))}),
    }
    return {
        **{f"weights are {name}": text(WEIGHTS, data) for name, data in contents.items()},
    }


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 1000\n"


# -- entries that are not files --------------------------------------------------------------------


def _replace(file: str, make: Callable[[Path], Any]) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        make(folder / file)

    return spoil


def not_files() -> Folders:
    used = (
        "config.json",
        WEIGHTS,
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
    )
    return {
        **{f"{file} is a folder": _replace(file, Path.mkdir) for file in used[:3]},
        "no file at all": without(*used),
        "adapter beside the weights": text(
            "adapter_config.json", '{"peft_type": "LORA", "base_model_name_or_path": "evil/base"}'
        ),
    }


# -- tokenizers ------------------------------------------------------------------------------------

TOKENIZER = "tokenizer.json"


def part(**changes: Any) -> Spoil:
    return fields(TOKENIZER, **changes)


def model_of_tokenizer(**changes: Any) -> Spoil:
    return edited(TOKENIZER, lambda found: found["model"].update(changes))


def _gap(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["far"] = 2**31


def tokenizers() -> Folders:
    parts = {
        "without a model": part(model=...),
        "of unknown kind": model_of_tokenizer(type="Magic"),
        "with an empty vocabulary": model_of_tokenizer(vocab={}, merges=[]),
        "with a far too large token id": edited(TOKENIZER, _gap),
        "without special tokens": part(added_tokens=...),
        "with an unknown normalizer": part(normalizer={"type": "Magic"}),
    }
    return {
        "tokenizer is empty": text(TOKENIZER, ""),
        "tokenizer is deep": text(TOKENIZER, deep("model")),
        **{f"tokenizer {name}": spoil for name, spoil in parts.items()},
        "tokenizer missing": without(TOKENIZER),
    }


def tokenizer_configs() -> Folders:
    file = "tokenizer_config.json"
    changes: dict[str, Any] = {
        "names other files": {"fast_tokenizer_files": ["tokenizer.4.0.0.json"]},
        "adds numbers": {"added_tokens_decoder": {"5": 5}},
        "has a number as class": {"tokenizer_class": 5},
        "has numbers as special tokens": {"additional_special_tokens": [1, 2]},
    }
    return {
        **{f"tokenizer config {name}": fields(file, **change) for name, change in changes.items()},
    }


def other_files() -> Folders:
    return {
        "special tokens are no JSON": text("special_tokens_map.json", "{"),
        "added tokens are no JSON": text("added_tokens.json", "{"),
        "chat template is not UTF-8": text("chat_template.jinja", b"\xff\xfe"),
    }


GROUPS: dict[str, Folders] = {
    "texts of configs": config_texts(),
    "fields of configs": config_fields(),
    "files of weights": files_of_weights(),
    "entries that are not files": not_files(),
    "tokenizers": tokenizers(),
    "configs of tokenizers": tokenizer_configs(),
    "other files": other_files(),
}
FOLDERS: Folders = {name: spoil for group in GROUPS.values() for name, spoil in group.items()}
