"""Broken and hostile model folders: each is refused with one clear sentence, and models that were
loaded before still work.

`SPOILED` maps the name of each case to a function that spoils a good folder in place: a tiny Llama
in one file of weights. For indexes see test_model_files.py, for headers and tensors
test_weight_headers.py and test_read_weights.py.
"""

from __future__ import annotations

import json
import pickle
import re
import resource
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import decoded
import pytest

from sequoia import Pair, SamplingParams, Tree, load_pair, speculate
from sequoia.errors import SequoiaError

Spoil = Callable[[Path], object]
MEMORY = 1_000_000_000  # bytes: the peak memory may grow by less than this in each case
DEEP = "[" * 100_000 + "]" * 100_000
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 1000\n"
WEIGHTS = "model.safetensors"
# Signs of an unclear message: class names, a second line or sentence, and terms that only
# programmers know.
_UNCLEAR = re.compile(
    r"\n|Traceback|\w(Error|Exception)\b|[.!?] +[A-Z]|has no attribute|NoneType|object is not"
    r"|<class|positional|keyword argument|\bnan\b|You set"
)
_LONGEST = 400


def text(file: str, content: str | bytes) -> Spoil:
    """Replaces `file` by `content`."""
    data = content if isinstance(content, bytes) else content.encode()
    return lambda folder: (folder / file).write_bytes(data)


def edited(file: str, edit: Callable[[Any], object]) -> Spoil:
    """Lets `edit` change the JSON value in `file` in place."""

    def spoil(folder: Path) -> None:
        data = json.loads((folder / file).read_text(encoding="utf-8"))
        edit(data)
        (folder / file).write_text(json.dumps(data), encoding="utf-8")

    return spoil


def config(**changes: Any) -> Spoil:
    return edited("config.json", lambda found: found.update(changes))


def tokenizer(**changes: Any) -> Spoil:
    """Sets fields of the model in tokenizer.json."""
    return edited("tokenizer.json", lambda found: found["model"].update(changes))


def tokenizer_config(**changes: Any) -> Spoil:
    return edited("tokenizer_config.json", lambda found: found.update(changes))


def emptied(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def folder_instead(folder: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()


HUGE = {
    "hidden_size": 65_536,
    "num_hidden_layers": 400,
    "intermediate_size": 262_144,
    "vocab_size": 1_000_000,
}
SPOILED: dict[str, Spoil] = {
    "config is a list": text("config.json", "[]"),
    "config is cut short": text("config.json", '{"model_type": "llama", "hidden_si'),
    "config is deep": text("config.json", DEEP),
    "config is a folder": folder_instead,
    "config has no type": text("config.json", '{"hidden_size": 32}'),
    "config has an unknown type": text("config.json", '{"model_type": "no such"}'),
    "config of a vision model": config(model_type="vit"),
    "hidden_size is null": config(hidden_size=None),
    "vocab_size is vast": config(vocab_size=10**30),
    "heads do not divide": config(num_attention_heads=5, head_dim=None),
    "all sizes huge but within bounds": config(**HUGE),
    "more tokens than embedding rows": config(vocab_size=300_000),
    "an unknown activation": config(hidden_act="boom"),
    "an unknown dtype": config(dtype="float7"),
    "rope of unknown kind": config(rope_parameters={"rope_type": "spiral"}),
    "weights named elsewhere": config(transformers_weights="../model.safetensors"),
    "weights are empty": text(WEIGHTS, ""),
    "weights end within their header": text(WEIGHTS, struct.pack("<Q", 10_000) + b"{}"),
    "weights are a pointer to a large file": text(WEIGHTS, LFS),
    "weights are a pickle": text(WEIGHTS, pickle.dumps({"weight": list(range(1000))})),
    "no file at all": emptied,
    "adapter beside the weights": text(
        "adapter_config.json", '{"peft_type": "LORA", "base_model_name_or_path": "evil/base"}'
    ),
    "tokenizer is missing": lambda folder: (folder / "tokenizer.json").unlink(),
    "tokenizer is empty": text("tokenizer.json", ""),
    "tokenizer is deep": text("tokenizer.json", f'{{"model": {DEEP}}}'),
    "tokenizer without a model": edited("tokenizer.json", lambda found: found.pop("model")),
    "tokenizer of unknown kind": tokenizer(type="Magic"),
    "tokenizer with an empty vocabulary": tokenizer(vocab={}, merges=[]),
    "tokenizer with a far too large token id": edited(
        "tokenizer.json", lambda found: found["model"]["vocab"].update(far=2**31)
    ),
    "tokenizer config names other files": tokenizer_config(
        fast_tokenizer_files=["tokenizer.4.0.0.json"]
    ),
    "tokenizer config adds numbers": tokenizer_config(added_tokens_decoder={"5": 5}),
    "special tokens are no JSON": text("special_tokens_map.json", "{"),
    "chat template is not UTF-8": text("chat_template.jinja", b"\xff\xfe"),
}


@pytest.fixture(scope="module")
def pair(good: Path) -> Pair:
    return load_pair(target=str(good), draft=str(good), device="cpu", dtype="float32")


def refusal(folder: Path, good: Path, role: str) -> str:
    """Why the model in `folder` is refused as target or draft; "" if it is loaded."""
    names = {"target": str(good), "draft": str(good), role: str(folder)}
    try:
        load_pair(**names, device="cpu", dtype="float32", on_progress=lambda _: None)
    except SequoiaError as problem:
        return str(problem)
    return ""


def emitted(pair: Pair) -> list[int]:
    steps = speculate(pair, "def f(x):", SamplingParams(max_new_tokens=12), Tree.kary(2, 3))
    return decoded.emitted(steps)


@pytest.mark.parametrize("case", SPOILED)
def test_each_folder_is_refused_with_one_clear_sentence_and_the_loaded_pair_still_works(
    case: str, good: Path, pair: Pair, tmp_path: Path
) -> None:
    """The folders are loaded in the test's own process. A folder that made this process hang, crash
    or run out of memory would fail the whole run."""
    before = emitted(pair)
    peak = _peak()
    folder = tmp_path / "model"
    shutil.copytree(good, folder)
    SPOILED[case](folder)
    role = ("target", "draft")[[*SPOILED].index(case) % 2]
    words = refusal(folder, good, role)
    assert 10 < len(words) <= _LONGEST
    assert not _UNCLEAR.search(words)
    assert emitted(pair) == before
    assert _peak() - peak < MEMORY


def _peak() -> int:
    """The most bytes that this process ever had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
