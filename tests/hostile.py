"""Makes broken and hostile model folders from a good one. `load_pair` has to refuse each of them
with one sentence.

`FOLDERS` maps the name of each case to a function that spoils a good folder in place. `GROUPS` has
the same cases in groups. The good folder holds a tiny Llama in one file of weights. Cases about an
index first split this file in two.
"""

from __future__ import annotations

import json
import os
import pickle
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

Spoil = Callable[[Path], None]
Folders = dict[str, Spoil]
DEEP = 100_000  # levels of brackets
EMBEDDING = "model.embed_tokens.weight"
PROJECTION = "model.layers.0.self_attn.q_proj.weight"


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


def both(*spoils: Spoil) -> Spoil:
    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


def without(*files: str) -> Spoil:
    def spoil(folder: Path) -> None:
        for file in files:
            (folder / file).unlink()

    return spoil


# -- the text of a config --------------------------------------------------------------------------


def config_texts() -> Folders:
    texts: dict[str, str | bytes] = {
        "empty": "",
        "a list": "[]",
        "cut short": '{"model_type": "llama", "hidden_si',
        "not UTF-8": b'{"model_type": "ll\xff\xfema"}',
        "deep list": deep(),
        "40 MB of spaces": "{" + " " * 40_000_000 + "}",
        "many keys": json.dumps({f"key{i}": i for i in range(400_000)}),
        "a field twice": '{"model_type": "llama", "hidden_size": 32, "hidden_size": 1000000}',
        "digits without end": '{"model_type": "llama", "hidden_size": ' + "9" * 10_000 + "}",
        "no type": '{"hidden_size": 32}',
        "type unknown": '{"model_type": "no such"}',
        "type with markup": '{"model_type": "<script>alert(1)</script>"}',
    }
    return {f"config is {name}": text("config.json", content) for name, content in texts.items()}


# -- fields of a config ----------------------------------------------------------------------------

OTHERS: dict[str, Any] = {
    **{
        f"{name} is null": {name: None}
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
    },
    "hidden_size is a word": {"hidden_size": "many"},
    "num_key_value_heads is a word": {"num_key_value_heads": "many"},
    "num_hidden_layers is negative": {"num_hidden_layers": -1},
    "vocab_size is vast": {"vocab_size": 10**30},
    "hidden_size is 0": {"hidden_size": 0},
    "heads do not divide": {"num_attention_heads": 5, "head_dim": None},
    "a million layers": {"num_hidden_layers": 1_000_000},
    "all huge but within bounds": {
        "hidden_size": 65_536,
        "num_hidden_layers": 400,
        "intermediate_size": 262_144,
        "vocab_size": 1_000_000,
    },
    "more tokens than embedding rows": {"vocab_size": 300_000},
    "a billion labels": {"num_labels": 10**9},
    "a million layer types": {"layer_types": ["full_attention"] * 1_000_000},
    "an unknown activation": {"hidden_act": "boom"},
    "dtype unknown": {"dtype": "float7"},
    "rope of unknown kind": {"rope_parameters": {"rope_type": "spiral"}},
    "end of text is a word": {"eos_token_id": "stop"},
    "weights named elsewhere": {"transformers_weights": "../model.safetensors"},
    "another config named": {"configuration_files": ["config.4.0.0.json"]},
    "8 bits by bitsandbytes": {
        "quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}
    },
    "code of its own": {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config"}},
    "a vision model": {"model_type": "vit"},
}


def config_fields() -> Folders:
    return {f"config: {name}": config(**changes) for name, changes in OTHERS.items()}


# -- one file of weights ---------------------------------------------------------------------------

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


def cut(at: Callable[[int], int]) -> Spoil:
    """Truncates the weights to at(length) bytes."""

    def spoil(folder: Path) -> None:
        data = (folder / WEIGHTS).read_bytes()
        (folder / WEIGHTS).write_bytes(data[: at(len(data))])

    return spoil


def header(edit: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Edits the header of the weights. `edit` returns a new header, or changes the header in place
    and returns None."""

    def spoil(folder: Path) -> None:
        data = (folder / WEIGHTS).read_bytes()
        length = struct.unpack("<Q", data[:8])[0]
        found = json.loads(data[8 : 8 + length])
        made = edit(found)
        (folder / WEIGHTS).write_bytes(packed(found if made is None else made, data[8 + length :]))

    return spoil


def packed(header: Any, body: bytes = b"") -> bytes:
    """A safetensors file; a header that is not bytes is written as JSON."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def tensors(edit: Callable[[dict[str, torch.Tensor]], Any]) -> Spoil:
    """Edits the tensors of the weights."""

    def spoil(folder: Path) -> None:
        found = load_file(folder / WEIGHTS)
        edit(found)
        save_file(found, folder / WEIGHTS, {"format": "pt"})

    return spoil


def entry(**changes: Any) -> Spoil:
    """Edits the header's entry of one tensor."""
    return header(lambda found: found[PROJECTION].update(changes))


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
        "weights are a header of 90 MB": sparse(
            WEIGHTS, struct.pack("<Q", 90_000_000) + b"{", 91_000_000
        ),
    }


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 1000\n"


def _overlapping(found: dict[str, Any]) -> None:
    found[PROJECTION]["data_offsets"] = found["model.layers.1.self_attn.q_proj.weight"][
        "data_offsets"
    ]


def _many(found: dict[str, Any]) -> None:
    found.update(
        {
            f"extra.{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
            for i in range(300_000)
        }
    )


def headers() -> Folders:
    """One of each kind. tests/loading/test_weight_headers.py changes single bytes of a header."""
    one = {
        "a shape without end": entry(shape=[2**40, 2**40]),
        "tensors that overlap": header(_overlapping),
        "300,000 tensors": header(_many),
    }
    return {
        **{f"weights with {name}": spoil for name, spoil in one.items()},
        "weights cut to half": cut(lambda n: n // 2),
        "weights with bytes behind them": _longer,
    }


def _longer(folder: Path) -> None:
    with (folder / WEIGHTS).open("ab") as file:
        file.write(b"more")


def _fill(name: str, value: float, row: int | None = None) -> Spoil:
    def edit(found: dict[str, torch.Tensor]) -> None:
        found[name][row if row is not None else ...] = value

    return tensors(edit)


def contents() -> Folders:
    """tests/loading/test_read_weights.py has tensors that are missing or added."""
    one = {
        "an embedding missing": tensors(lambda found: found.pop(EMBEDDING)),
        "NaN in a layer": _fill(PROJECTION, float("nan")),
        "NaN for one token": _fill(EMBEDDING, float("nan"), 200),
        "numbers that overflow": _fill(PROJECTION, 3e38),
    }
    return {f"weights with {name}": spoil for name, spoil in one.items()}


# -- an index of several files ---------------------------------------------------------------------

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def shard(folder: Path) -> None:
    """Splits the weights into two files with an index, as is usual for large models."""
    found = load_file(folder / WEIGHTS)
    names = sorted(found)
    parts = {SHARDS[0]: names[:5], SHARDS[1]: names[5:]}
    for file, some in parts.items():
        save_file({name: found[name] for name in some}, folder / file, {"format": "pt"})
    where = {name: file for file, some in parts.items() for name in some}
    (folder / INDEX).write_text(
        json.dumps({"metadata": {"total_size": 1}, "weight_map": where}), encoding="utf-8"
    )
    (folder / WEIGHTS).unlink()


def index(edit: Callable[[dict[str, Any]], Any]) -> Spoil:
    return both(shard, edited(INDEX, edit))


def mapped(file: Any, beside: Spoil = lambda _: None) -> Spoil:
    """Maps one tensor to `file` in the index. `beside` then spoils the folder further."""
    return both(index(lambda found: found["weight_map"].update({PROJECTION: file})), beside)


def _pickled(folder: Path) -> None:
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(folder.parent / "ran")))


class Bomb:
    """An object whose pickle creates the file `mark` when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self._mark = str(mark)

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self._mark),)


def _outside(folder: Path) -> None:
    """Moves the second weight file out of the folder."""
    (folder / SHARDS[1]).rename(folder.parent / SHARDS[1])


def indexes() -> Folders:
    whole = {
        "no JSON": "{",
        "large": '{"metadata": {}, "weight_map": {' + " " * 60_000_000 + "}}",
        "a name twice": f'{{"metadata": {{}}, "weight_map": {{"a": "{SHARDS[0]}", "a": 1}}}}',
    }
    files: dict[str, Any] = {
        "a path from the root": "/etc/passwd",
        "a number": 5,
        "a zero byte": "model\0.safetensors",
    }
    return {
        **{
            f"index is {name}": both(shard, text(INDEX, content)) for name, content in whole.items()
        },
        **{f"index names {name}": mapped(file) for name, file in files.items()},
        "index names a pickle": mapped("pytorch_model.bin", _pickled),
        "index names weights beside the folder": both(
            index(
                lambda found: found.update(
                    weight_map={
                        name: file if file == SHARDS[0] else f"../{file}"
                        for name, file in found["weight_map"].items()
                    }
                )
            ),
            _outside,
        ),
        "a part cut short": both(
            shard,
            lambda folder: (folder / SHARDS[1]).write_bytes(
                (folder / SHARDS[1]).read_bytes()[:900]
            ),
        ),
        "a pickle alone": both(_pickled, without(WEIGHTS)),
        "weights of a training run": lambda folder: (folder / WEIGHTS).rename(
            folder / "shard-00000-model-00001-of-00001.safetensors"
        ),
    }


# -- entries that are not files --------------------------------------------------------------------


def _replace(file: str, make: Callable[[Path], Any]) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        make(folder / file)

    return spoil


def _socket(path: Path) -> None:
    os.mknod(path, stat.S_IFSOCK | 0o600)


def _link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def not_files() -> Folders:
    used = (
        "config.json",
        WEIGHTS,
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
    )
    kinds: dict[str, Callable[[Path], Any]] = {
        "a named pipe": os.mkfifo,
        "a link to /dev/zero": _link("/dev/zero"),
        "a link to itself": lambda path: path.symlink_to(path.name),
    }
    found = {
        f"{file} is {kind}": _replace(file, make)
        for file in used[:3]
        for kind, make in kinds.items()
    }
    found |= {f"{file} is a folder": _replace(file, Path.mkdir) for file in used[:3]}
    return {
        **found,
        "config.json is a socket": _replace("config.json", _socket),
        "weights are a link to /etc/passwd": _replace(WEIGHTS, _link("/etc/passwd")),
        "chat template is a named pipe": lambda folder: os.mkfifo(folder / "chat_template.jinja"),
        "chat template among others is a named pipe": _other_template,
        "no file at all": without(*used),
        "adapter beside the weights": text(
            "adapter_config.json", '{"peft_type": "LORA", "base_model_name_or_path": "evil/base"}'
        ),
    }


def _other_template(folder: Path) -> None:
    (folder / "additional_chat_templates").mkdir()
    os.mkfifo(folder / "additional_chat_templates" / "tool.jinja")


# -- tokenizers ------------------------------------------------------------------------------------

TOKENIZER = "tokenizer.json"


def part(**changes: Any) -> Spoil:
    return fields(TOKENIZER, **changes)


def model_of_tokenizer(**changes: Any) -> Spoil:
    return edited(TOKENIZER, lambda found: found["model"].update(changes))


def splitting(regex: str) -> Spoil:
    """A tokenizer that first splits text at matches of `regex`."""

    def edit(found: dict[str, Any]) -> None:
        cutting = {
            "type": "Split",
            "pattern": {"Regex": regex},
            "behavior": "Isolated",
            "invert": False,
        }
        found["pre_tokenizer"] = {
            "type": "Sequence",
            "pretokenizers": [cutting, found["pre_tokenizer"]],
        }

    return edited(TOKENIZER, edit)


def replacing(regex: str, content: str = "x") -> Spoil:
    return part(normalizer={"type": "Replace", "pattern": {"Regex": regex}, "content": content})


def decoding(regex: str) -> Spoil:
    def edit(found: dict[str, Any]) -> None:
        replace = {"type": "Replace", "pattern": {"Regex": regex}, "content": ""}
        found["decoder"] = {"type": "Sequence", "decoders": [found["decoder"], replace]}

    return edited(TOKENIZER, edit)


def _gap(found: dict[str, Any]) -> None:
    found["model"]["vocab"]["far"] = 2**31


def tokenizers() -> Folders:
    patterns = {
        "backtracks on a": splitting("(a+)+$"),
        "backtracks on Chinese": splitting(r"([\p{Han}]+)*z"),
        "grows as it is compiled": splitting("((((a{1,900}){1,900}){1,900}){1,900}){1,900}b"),
        "backtracks as text is cleaned": replacing("(a+)+$"),
        "makes text grow": replacing("[a-z]", "x" * 100_000),
        "backtracks as text is decoded": decoding("(a+)+[^a]$"),
    }
    parts = {
        "without a model": part(model=...),
        "of unknown kind": model_of_tokenizer(type="Magic"),
        "with an empty vocabulary": model_of_tokenizer(vocab={}, merges=[]),
        "with a far too large token id": edited(TOKENIZER, _gap),
        "without special tokens": part(added_tokens=...),
        "with an unknown normalizer": part(normalizer={"type": "Magic"}),
    }
    return {
        "tokenizer is 300 MB": sparse(TOKENIZER, b"{", 300_000_000),
        "tokenizer is empty": text(TOKENIZER, ""),
        "tokenizer is deep": text(TOKENIZER, deep("model")),
        **{f"tokenizer {name}": spoil for name, spoil in patterns.items()},
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
        "tokenizer config is 40 MB": text(file, "{" + " " * 40_000_000 + "}"),
        **{f"tokenizer config {name}": fields(file, **change) for name, change in changes.items()},
    }


def other_files() -> Folders:
    generation = "generation_config.json"
    return {
        "generation config is not UTF-8": text(generation, b'{"\xff": 1}'),
        "generation config ends with a word": fields(generation, eos_token_id="stop"),
        "generation config ends with a vast number": fields(generation, eos_token_id=10**30),
        "special tokens are no JSON": text("special_tokens_map.json", "{"),
        "added tokens are no JSON": text("added_tokens.json", "{"),
        "chat template of 40 MB": text("chat_template.jinja", "x" * 40_000_000),
        "chat template is not UTF-8": text("chat_template.jinja", b"\xff\xfe"),
    }


GROUPS: dict[str, Folders] = {
    "texts of configs": config_texts(),
    "fields of configs": config_fields(),
    "files of weights": files_of_weights(),
    "headers": headers(),
    "tensors": contents(),
    "indexes": indexes(),
    "entries that are not files": not_files(),
    "tokenizers": tokenizers(),
    "configs of tokenizers": tokenizer_configs(),
    "other files": other_files(),
}
FOLDERS: Folders = {name: spoil for group in GROUPS.values() for name, spoil in group.items()}
