"""Recorder: adds the texts of the tokens to the step traces of a run. Turns them into JSON values
for the page, and into a Run to save. Runs no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sequoia.algorithm.step_trace import StepTrace
from sequoia.models.pair import Pair
from sequoia.models.streamed_text import TextStream
from sequoia.saved_files.run_file import Packer, Run


class Recorder:
    """Collects one run. meta: see `Run`.

    The end of the text may be held back, because the next token can still change it. For example,
    the last token may contain only a part of a character. `pending` is the text held back, as it
    would read if no token followed. The step that ends the run adds it to the text of the last
    token.
    """

    def __init__(self, pair: Pair, prompt: tuple[int, ...], meta: Mapping[str, Any]) -> None:
        self._piece = pair.pieces.of
        self._meta = dict(meta)
        self._stream = TextStream(pair.tokenizer, prompt)
        self._packer = Packer()
        self._steps: list[StepTrace] = []
        self._texts: list[tuple[str, ...]] = []
        self._pieces: dict[int, str] = {}
        self.pending = ""

    def add(self, trace: StepTrace) -> dict[str, Any]:
        """Add a step. Returns JSON values: `step`, in the format of `Packer`; `new_trees` and
        `new_pieces`, the trees and token texts that no earlier step used."""
        text = tuple(self._stream.add(token) for token in trace.emitted)
        self.pending = self._stream.pending
        if trace.finish:
            text = _ended(text, self.pending)
            self.pending = ""
        self._steps.append(trace)
        self._texts.append(text)
        trees = len(self._packer.trees)
        step = self._packer.pack(trace, text)
        return {
            "step": step,
            "new_trees": self._packer.trees[trees:],
            "new_pieces": self._new_pieces(trace),
        }

    def _new_pieces(self, trace: StepTrace) -> dict[str, str]:
        unseen = {*trace.shown_tokens, trace.verdict.bonus} - self._pieces.keys()
        new = {token: self._piece(token) for token in sorted(unseen)}
        self._pieces.update(new)
        return {str(token): piece for token, piece in new.items()}

    def run(self) -> Run:
        """The run of all steps added so far, as if it ended here."""
        texts = [*self._texts[:-1], *(_ended(text, self.pending) for text in self._texts[-1:])]
        return Run(self._meta, dict(self._pieces), tuple(self._steps), tuple(texts))


def _ended(text: tuple[str, ...], pending: str) -> tuple[str, ...]:
    """The texts of a last step, with the `pending` text after its last token."""
    return (*text[:-1], text[-1] + pending)


def prompt_pieces(pair: Pair, prompt: str, most: int = 1024) -> list[tuple[str, bool]]:
    """The tokens of the prompt, as the models get it, each as (text, whether it is a special
    token). If there are more than `most`, only the first and last ones are returned, `most` in all,
    with "…" in place of the ones in the middle."""
    ids = pair.encode(prompt)
    special = set(pair.tokenizer.all_special_ids)
    stream = TextStream(pair.tokenizer)
    found = [(stream.add(token), token in special) for token in ids]
    found[-1] = (found[-1][0] + stream.pending, found[-1][1])
    if len(found) <= most:
        return found
    first = -(-most // 2)
    return [*found[:first], ("…", False), *found[len(found) - (most - first) :]]
