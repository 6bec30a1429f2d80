"""Which tokenizers are refused, alone and as a pair."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fakes import EOS, pair_of, tiny_model, tiny_tokenizer
from transformers import (
    GPTNeoXConfig,
    PretrainedConfig,
    XLMConfig,
)

from sequoia import Pair
from sequoia.errors import BadPair, BadPrompt
from sequoia.loading.compare_tokenizers import matching_tokenizer
from sequoia.loading.model_checks import Source


def source(folder: Path, config: PretrainedConfig | None = None) -> Source:
    return Source(str(folder), folder, config or PretrainedConfig(), 1)


def changed(good: Path, folder: Path, **parts: Any) -> Source:
    """The tokenizer of `good` with other parts in its tokenizer.json."""
    shutil.copytree(good, folder)
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | parts))
    return source(folder)


def model(good: Path, **fields: Any) -> dict[str, Any]:
    return json.loads((good / "tokenizer.json").read_text())["model"] | fields


# -- two tokenizers


def test_padding_and_truncation_are_switched_off(good: Path, tmp_path: Path) -> None:
    core = tiny_tokenizer().backend_tokenizer
    core.enable_truncation(3)
    core.enable_padding(length=10**6, pad_id=0, pad_token=EOS)
    core.save(str(tmp_path / "tokenizer.json"))
    tokenizer = matching_tokenizer(source(tmp_path), source(good))
    assert len(tokenizer("abcdefgh")["input_ids"]) == 8


def test_tokenizers_that_split_texts_differently_are_refused(good: Path, tmp_path: Path) -> None:
    none = changed(good, tmp_path / "x", model=model(good, merges=[]))
    with pytest.raises(
        BadPair, match="same tokens but split text differently, for instance 'def f"
    ):
        matching_tokenizer(source(good), none)


# -- one tokenizer


@pytest.mark.parametrize(
    "config",
    [GPTNeoXConfig(), XLMConfig()],
    ids=lambda config: config.model_type,
)
def test_without_a_tokenizer_config_the_tokenizer_file_is_used_unchanged(
    config: PretrainedConfig, good: Path, tmp_path: Path
) -> None:
    """Guards against using the tokenizer class that `transformers` guesses from the model's type.
    This class may build a different tokenizer from tokenizer.json, or fail."""
    shutil.copy(good / "tokenizer.json", tmp_path)
    config.save_pretrained(tmp_path)
    found = matching_tokenizer(source(tmp_path, config), source(tmp_path, config))
    text = "def größe(x):\n\treturn '你好 🙂' "
    assert found(text)["input_ids"] == tiny_tokenizer()(text)["input_ids"]
    assert len(found) == 288


class PanicException(BaseException):
    """Stands for the exception of this name in the `tokenizers` library."""


def test_a_prompt_on_which_the_tokenizer_fails_is_refused() -> None:
    def broken(*_: object, **__: object) -> None:
        raise PanicException("retry-limit-in-match over")

    found = pair_of(tiny_model(), tiny_model(), tiny_tokenizer())
    other = Pair("x", found.target, found.draft, broken)
    with pytest.raises(BadPrompt, match="the tokenizer failed on this prompt"):
        other.encode("hello")
