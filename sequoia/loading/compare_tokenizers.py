"""Loads both tokenizers of a pair and compares them.

Only the target's tokenizer is used, so an id must mean the same token to both models. If a draft
was trained with a tokenizer that splits text differently, decoding is still lossless, but the draft
may predict worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerFast

from sequoia.errors import BadModel, BadPair
from sequoia.loading.folder_check import TOKENIZER, TOKENIZER_CONFIG
from sequoia.loading.model_checks import Source, refused

_PROBES = (
    "def f(x):\n    return x + 1\n",
    "Hello, wörld! 你好 🙂",
    "  \t\n\n x=1e-3;  # ok",
    "The year 2024, isn't it?",
)
_INSTEAD = (
    "choose a draft with the target's tokenizer, or int8 as the draft: a copy of the target, which "
    "needs no second model"
)


def matching_tokenizer(target: Source, draft: Source) -> Any:
    """The target's tokenizer, which both models then use. Raises BadModel if either cannot be used,
    and BadPair if they have different tokens or split a short test text differently."""
    ours, other = map(checked_tokenizer, (target, draft))
    _refuse_other_pieces(ours.get_vocab(), other.get_vocab())
    for probe in _PROBES:
        if _pieces(ours, probe) != _pieces(other, probe):
            raise BadPair(
                "the two tokenizers have the same tokens but split text differently, for instance "
                f"{probe!r}; {_INSTEAD}"
            )
    return ours


def _refuse_other_pieces(ours: Mapping[str, int], its: Mapping[str, int]) -> None:
    different = {piece for piece, _ in ours.items() ^ its.items()}
    if different:
        first = min(different, key=lambda piece: min(ours.get(piece, 2**31), its.get(piece, 2**31)))
        raise BadPair(
            f"the tokenizers differ in {len(different):,} tokens; the first is {first[:40]!r}, "
            f"with id {ours.get(first, 'none')} in the target and {its.get(first, 'none')} in the "
            f"draft; {_INSTEAD}"
        )


def _pieces(tokenizer: Any, text: str) -> list[int]:
    """The ids of `text`, without the special tokens that a tokenizer may add around a text."""
    return refused(
        f"the tokenizer fails on {text!r}",
        lambda: tokenizer(text, add_special_tokens=False)["input_ids"],
    )


def checked_tokenizer(source: Source) -> Any:
    """The tokenizer of `source`. Raises BadModel if it cannot be used."""
    lacking = "" if (source.folder / TOKENIZER).is_file() else f" (there is no {TOKENIZER})"
    loaded = refused(
        f"cannot load the tokenizer of {source.title!r}{lacking}",
        lambda: _loaded(source),
    )
    if not getattr(loaded, "is_fast", False):
        raise BadModel(
            f"{source.title} has a tokenizer that runs in Python; only tokenizers of the "
            f"`tokenizers` library, saved as {TOKENIZER}, are supported"
        )
    core = loaded.backend_tokenizer
    core.no_padding()
    core.no_truncation()
    # texts are shown as they are, with the spaces before punctuation
    loaded.clean_up_tokenization_spaces = False
    return loaded


def _loaded(source: Source) -> Any:
    """The tokenizer of `source`. A tokenizer_config.json would name the tokenizer's class. Without
    one, tokenizer.json is used unchanged: the class that `transformers` guesses from the model's
    type could build a different tokenizer from the same tokens."""
    folder = source.folder
    if (folder / TOKENIZER).is_file() and not (folder / TOKENIZER_CONFIG).is_file():
        return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    return AutoTokenizer.from_pretrained(
        folder,
        config=source.config,
        trust_remote_code=False,
        local_files_only=True,
        mistral_format=False,
    )
