"""Loads both tokenizers of a pair and compares them. Tokenizers that do not come with this program
are tested in separate processes.

Only the target's tokenizer is used, so an id must mean the same token to both models. If a draft
was trained with a tokenizer that splits text differently, decoding is still lossless, but the draft
may predict worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, PreTrainedTokenizerFast

from sequoia.errors import BadModel, BadPair, reason
from sequoia.loading.folder_check import TOKENIZER, TOKENIZER_CONFIG, read_tokenizer
from sequoia.loading.model_checks import Source, refused
from sequoia.models.chat_template import MOST_CHARS
from sequoia.this_machine.worker_process import WorkerEnded, WorkerProcess

_TRIAL_SECONDS = 30.0  # usual tokenizers take 3
# Bytes of memory that a test may use in addition to what the process uses when it has started. A
# tokenizer with 260,000 tokens needs a tenth of this.
_MORE_BYTES = 3 * 1024**3
_SCRIPT = Path(__file__).with_name("trial_worker.py")
_ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false"}
_passed = set[int]()  # hashes of tokenizers that passed the test


def refuse_slow(tokenizer: str, title: str) -> None:
    """Raises BadModel if the `tokenizers` library cannot open a tokenizer, or if that or encoding
    and decoding hard texts takes too much time or memory. tokenizer: the text of a
    tokenizer.json."""
    key = hash(tokenizer)
    if key in _passed:
        return
    if problem := _problem(tokenizer):
        raise BadModel(f"{title}: its tokenizer cannot be used: {problem}")
    _passed.add(key)


def _problem(tokenizer: str) -> str:
    """What a test of `tokenizer` in a separate process (trial_worker.py) shows, "" if nothing."""
    try:
        worker = WorkerProcess.limited(_SCRIPT, _ENVIRONMENT, _MORE_BYTES)
        worker.send({"tokenizer": tokenizer, "length": MOST_CHARS})
        answer = worker.receive(_TRIAL_SECONDS)
        worker.end()
    except WorkerEnded:
        return "it takes too much memory, or crashes the library"
    if answer is None:
        return (
            f"it takes more than {_TRIAL_SECONDS:g} s on texts of up to {MOST_CHARS:,} characters"
        )
    return _in_words(answer["error"]) if "error" in answer else ""


def _in_words(error: str) -> str:
    if "retry-limit" in error:
        return "one of its patterns backtracks endlessly"
    return reason(ValueError(error))


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


def matching_tokenizer(target: Source, draft: Source, trusted: bool = False) -> Any:
    """The target's tokenizer, which both models then use. trusted: do not test the tokenizers in
    separate processes. Raises BadModel if either cannot be used, and BadPair if they have different
    tokens or split a short test text differently."""
    ours, other = (checked_tokenizer(source, trusted) for source in (target, draft))
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


def checked_tokenizer(source: Source, trusted: bool = False) -> Any:
    """The tokenizer of `source`. Raises BadModel if it cannot be used. If it is not `trusted`, its
    tokenizer.json is tested before it is loaded here. Without such a file, what `transformers`
    makes of the other files is tested."""
    text = read_tokenizer(source.folder, source.title)
    if text is not None and not trusted:
        refuse_slow(text, source.title)
    lacking = f" (there is no {TOKENIZER})" if text is None else ""
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
    if text is None and not trusted:
        refuse_slow(core.to_str(), source.title)
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
