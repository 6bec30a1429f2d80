"""The tokenizer of a pair: tried out of the way, loaded, and that of the draft compared with that
of the target.

Text is encoded and decoded by the target's alone. So ids have to mean the same pieces for both
models; where only the way from text to pieces differs, the pair is right all the same, and the
draft may guess worse.
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
from sequoia.loading.pair_checks import Source, refused
from sequoia.loading.tokenizers.try_tokenizer import refuse_slow, refuse_unopenable

_PROBES = (
    "def f(x):\n    return x + 1\n",
    "Hello, wörld! 你好 🙂",
    "  \t\n\n x=1e-3;  # ok",
    "The year 2024, isn't it?",
)
# Parts of a tokenizer as its library writes them down, and what they are called.
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
    """The tokenizer in use, the target's, and in words what was compared with the draft's."""

    tokenizer: Any
    words: str


def matching_tokenizer(target: Source, draft: Source, trusted: bool = False) -> Shared:
    """The pair's tokenizer. Raises BadModel where one cannot be used, and BadPair where they
    differ, naming the first piece.

    trusted: the pair comes with this program, and its tokenizer is not tried.
    """
    ours, other = (_tokenizer(source, trusted) for source in (target, draft))
    _refuse_other_pieces(ours.get_vocab(), other.get_vocab())
    for probe in _PROBES:
        if _ids(ours, probe) != _ids(other, probe):
            raise BadPair(
                "the tokenizers have the same pieces but split text differently, for instance "
                f"{probe!r}"
            )
    return Shared(ours, _compared(len(ours), differences(written(ours), written(other))))


def _refuse_other_pieces(mine: Mapping[str, int], its: Mapping[str, int]) -> None:
    different = sorted(
        (piece for piece in mine.keys() | its.keys() if mine.get(piece) != its.get(piece)),
        key=lambda piece: min(mine.get(piece, 2**31), its.get(piece, 2**31)),
    )
    if different:
        piece = different[0]
        raise BadPair(
            f"the tokenizers differ in {len(different)} pieces; the first is {piece[:40]!r}, "
            f"number {mine.get(piece)} for the target and {its.get(piece)} for the draft"
        )


def differences(ours: str, other: str) -> list[str]:
    """What differs between two tokenizers as their library writes them down, in words; nothing of
    how they pad or cut off."""
    if ours == other:
        return []
    mine = _parts(ours)
    its = _parts(other)
    return [words for name, words in _PARTS.items() if mine.get(name) != its.get(name)]


def _parts(tokenizer: str) -> dict[str, Any]:
    """The parts by name. Merges stand apart from the model, and so do the scores that a Unigram
    model has in their place; its pieces are compared elsewhere."""
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
        "the draft was trained on, and it may guess worse; the target's tokenizer is used, and the "
        "output has the target's own distribution"
    )


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def written(tokenizer: Any) -> str:
    """The tokenizer as its library writes it down, without how it pads or cuts off, which no call
    asks for."""
    core = tokenizer.backend_tokenizer
    core.no_padding()
    core.no_truncation()
    return core.to_str()


def _ids(tokenizer: Any, text: str) -> list[int]:
    return refused(
        BadModel, f"the tokenizer fails on {text!r}", lambda: tokenizer(text)["input_ids"]
    )


def _tokenizer(source: Source, trusted: bool) -> Any:
    """The tokenizer of `source`, tried in a process of its own before and after this one opens
    it."""
    text = read_tokenizer(source.folder, source.title)
    if text is not None and not trusted:
        refuse_unopenable(text, source.title)
    loaded = refused(
        BadModel,
        f"cannot load the tokenizer of {source.title!r}{_lacking(text)}",
        lambda: _loaded(source.folder),
    )
    if not getattr(loaded, "is_fast", False):
        raise BadModel(
            f"{source.title} has a tokenizer that runs in Python; only those of the tokenizers "
            f"library, with a {TOKENIZER}, are used"
        )
    if not trusted:
        refuse_slow(written(loaded), source.title)
    return loaded


def _lacking(text: str | None) -> str:
    return f", which has no {TOKENIZER}" if text is None else ""


def _loaded(folder: Path) -> Any:
    """The tokenizer in `folder`. Where nothing says of what class it is, tokenizer.json is taken as
    it stands: a class guessed from the model's type would build another one of its pieces."""
    alone = (folder / TOKENIZER).is_file() and not (folder / TOKENIZER_CONFIG).is_file()
    if alone:
        return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
    return AutoTokenizer.from_pretrained(
        folder, trust_remote_code=False, local_files_only=True, mistral_format=False
    )
