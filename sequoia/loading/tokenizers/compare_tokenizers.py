"""The tokenizers of a pair: tested in a separate process, loaded, and compared.

Text is encoded and decoded with the target's only. So ids have to mean the same pieces for both
models; where only the splitting of text into pieces differs, the pair is still lossless, but the
draft may predict worse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerFast

from sequoia.errors import BadModel, BadPair
from sequoia.loading.folder_check import TOKENIZER, TOKENIZER_CONFIG, read_tokenizer
from sequoia.loading.model_checks import Source, refused
from sequoia.loading.tokenizers.try_tokenizer import refuse_slow, refuse_unopenable

_PROBES = (
    "def f(x):\n    return x + 1\n",
    "Hello, wörld! 你好 🙂",
    "  \t\n\n x=1e-3;  # ok",
    "The year 2024, isn't it?",
)
# Parts of a tokenizer by their key in its JSON, and their names in messages.
_PARTS = {
    "normalizer": "normalizer",
    "pre_tokenizer": "pre-tokenizer",
    "model": "model",
    "merges": "merges or scores",
    "post_processor": "post-processor",
    "decoder": "decoder",
    "added_tokens": "added tokens",
}


@dataclass(frozen=True)
class Shared:
    """The tokenizer in use, which is the target's, and the comparison with the draft's in words."""

    tokenizer: Any
    words: str


def matching_tokenizer(target: Source, draft: Source, trusted: bool = False) -> Shared:
    """The pair's tokenizer. Raises BadModel if one cannot be used, and BadPair where they
    differ, naming the first different piece.

    trusted: the pair comes with this program, and its tokenizers are not tested.
    """
    ours, other = (_tokenizer(source, trusted) for source in (target, draft))
    _refuse_other_pieces(ours.get_vocab(), other.get_vocab())
    for probe in _PROBES:
        if _ids(ours, probe) != _ids(other, probe):
            raise BadPair(
                "the tokenizers have the same tokens but split text differently, for instance "
                f"{probe!r}"
            )
    return Shared(ours, _compared(len(ours), differences(as_json(ours), as_json(other))))


def _refuse_other_pieces(ours: Mapping[str, int], its: Mapping[str, int]) -> None:
    different = {piece for piece, _ in ours.items() ^ its.items()}
    if different:
        first = min(different, key=lambda piece: min(ours.get(piece, 2**31), its.get(piece, 2**31)))
        raise BadPair(
            f"the tokenizers differ in {len(different)} tokens; the first is {first[:40]!r}, "
            f"id {ours.get(first)} for the target and {its.get(first)} for the draft"
        )


def differences(ours: str, other: str) -> list[str]:
    """The names of the parts in which two tokenizers, given as JSON, differ."""
    if ours == other:
        return []
    mine = _parts(ours)
    its = _parts(other)
    return [words for name, words in _PARTS.items() if mine.get(name) != its.get(name)]


def _parts(tokenizer: str) -> dict[str, Any]:
    """The parts by name, with merges separate from the model, or the scores that a Unigram model
    has in their place. The pieces are left out: they are compared by `_refuse_other_pieces`."""
    found = json.loads(tokenizer)
    model = dict(found["model"])
    vocabulary = model.pop("vocab", None)
    scores = vocabulary if isinstance(vocabulary, list) else None
    return {**found, "merges": model.pop("merges", scores), "model": model}


def _compared(pieces: int, different: list[str]) -> str:
    same = [words for words in _PARTS.values() if words not in different]
    what = (
        f"{pieces:,} pieces compared one by one, and {len(_PROBES)} texts split: the same for both"
    )
    if not different:
        return f"{what}, and so are {_listed(same)}"
    verb = "differs" if len(different) == 1 and not different[0].endswith("s") else "differ"
    return (
        f"{what}; {_listed(different)} {verb}, so some texts may be split differently from those "
        "the draft was trained on, and it may predict worse; the target's tokenizer is used, and "
        "the output has the target's distribution"
    )


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def as_json(tokenizer: Any) -> str:
    """The tokenizer as JSON, as its library saves it, without padding and truncation, which no call
    uses."""
    core = tokenizer.backend_tokenizer
    core.no_padding()
    core.no_truncation()
    return core.to_str()


def _ids(tokenizer: Any, text: str) -> list[int]:
    return refused(
        BadModel, f"the tokenizer fails on {text!r}", lambda: tokenizer(text)["input_ids"]
    )


def _tokenizer(source: Source, trusted: bool) -> Any:
    """The tokenizer of `source`, tested in a separate process before and after it is opened
    here."""
    text = read_tokenizer(source.folder, source.title)
    if text is not None and not trusted:
        refuse_unopenable(text, source.title)
    lacking = f", which has no {TOKENIZER}" if text is None else ""
    loaded = refused(
        BadModel,
        f"cannot load the tokenizer of {source.title!r}{lacking}",
        lambda: _loaded(source.folder),
    )
    if not getattr(loaded, "is_fast", False):
        raise BadModel(
            f"{source.title} has a tokenizer that runs in Python; only those of the tokenizers "
            f"library, with a {TOKENIZER}, are used"
        )
    if not trusted:
        refuse_slow(as_json(loaded), source.title)
    return loaded


def _loaded(folder: Path) -> Any:
    """The tokenizer in `folder`. Where no file names its class, tokenizer.json is used as it is: a
    class guessed from the model's type would build a different one from its pieces."""
    if (folder / TOKENIZER).is_file() and not (folder / TOKENIZER_CONFIG).is_file():
        return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    return AutoTokenizer.from_pretrained(
        folder, trust_remote_code=False, local_files_only=True, mistral_format=False
    )
