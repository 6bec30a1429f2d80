"""Distills a draft for a Llama-like target: `python -m sequoia.distill`."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from statistics import fmean, stdev

import torch

from sequoia.bench.command import option_parser, reports_errors
from sequoia.distill.shards import Taught, batches, most_frequent, read_shard, shard_kind
from sequoia.distill.teach import HELD_OUT, Teacher
from sequoia.distill.train import RATE, Training
from sequoia.errors import BadModel
from sequoia.loading.layer_drafts import (
    FREQUENT,
    Identity,
    cut_config,
    cut_layers,
    is_layer_draft,
    layer_draft,
    stored_layers,
    write_layers,
)
from sequoia.loading.load import load_pair
from sequoia.measuring.acceptance_teacher_forced import overlaps
from sequoia.models.pair import Pair

_SAVE = 600  # seconds between two checkpoints
_SHARDS = "training/shards"
_STATE = "training/state.pt"


@reports_errors
def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    options = _parser().parse_args(argv)
    if not options.measure:
        Run(options).distill()
    pair = load_pair(target=options.target, draft=str(options.out), device=options.device)
    for line in measured(pair, options.out / _SHARDS / HELD_OUT):
        print(f"held out: sum of min(p, q) of {line}", flush=True)


def _parser() -> ArgumentParser:
    parser = option_parser("python -m sequoia.distill", __doc__)
    add = parser.add_argument
    add("--target", required=True, help="folder or Hugging Face id of the target")
    add("--out", type=Path, required=True, help="folder of the draft and of its training")
    add("--layers", type=int, nargs="+", help="layers to begin with (default: first three, last)")
    add("--texts", type=Path, nargs="+", default=[], help="text files, or JSONL with text and kind")
    add("--minutes", type=float, default=60.0, help="time to teach and train, with earlier runs")
    add("--rate", type=float, default=RATE, help="learning rate")
    add("--batch", type=int, default=8, help="texts of a step")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    add("--frequent", type=int, help="the draft may draw only so many tokens, the most frequent")
    add("--whole", action="store_true", help="write an ordinary model that needs no target")
    add("--measure", action="store_true", help="only measure the draft on held-out texts")
    return parser


class Run:
    """One run of the command. It goes on with what earlier runs left in the folder."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._shards: Path = options.out / _SHARDS
        self._pair = load_pair(target=options.target, draft="ngram", device=options.device)
        self._target = self._pair.target.hf
        count = self._target.config.num_hidden_layers
        layers = options.layers or sorted({*range(min(3, count)), count - 1})
        if not 0 <= min(layers) <= max(layers) < count:
            raise BadModel(f"--layers: the target has the layers 0 to {count - 1}")
        self._identity = Identity.of(options.target, self._target, self._pair.tokenizer, layers)
        earlier = is_layer_draft(options.out)
        tensors = stored_layers(options.out) if earlier else cut_layers(self._target, layers)
        tensors.pop(FREQUENT, None)  # the head is reduced when the draft is written
        self._draft = layer_draft(self._target, cut_config(self._target.config, layers), tensors)
        self._training = Training(self._draft, options.out / _STATE, options.rate)

    def distill(self) -> None:
        """Teach and train in turn until the time is over, and write the draft. It is also written
        every _SAVE seconds, and if the training is interrupted."""
        teacher = Teacher(self._pair, self._shards, self._options.texts)
        teacher.hold_out()
        saved = time.monotonic()
        try:
            while (done := self._training.seconds / (60 * self._options.minutes)) < 1:
                self._teach_and_train(teacher, done)
                if time.monotonic() - saved > _SAVE:
                    self._save()
                    saved = time.monotonic()
        finally:
            self._save()

    def _teach_and_train(self, teacher: Teacher, done: float) -> None:
        """Write a shard, train for as long as that took, and print the progress. done: the fraction
        of the time that is over."""
        training = self._training
        start = time.monotonic()
        teacher.teach()
        taught = time.monotonic()
        texts = batches(self._shards, self._options.batch, training.steps)
        found = list[tuple[float, float]]()
        while time.monotonic() < 2 * taught - start:
            found.append(training.step(next(texts), done))
        training.seconds += time.monotonic() - start
        divergence, overlap = map(fmean, zip(*found, strict=True))
        so_far = f"{training.seconds / 60:.1f} minutes, {training.tokens:,} tokens"
        now = f"divergence {divergence:.3f}, sum of min(p, q) {overlap:.3f}"
        print(f"{so_far}: {now}", flush=True)

    def _save(self) -> None:
        """Write the training's state and the draft."""
        options = self._options
        self._training.save()
        if options.whole:
            deepcopy(self._draft).to(self._target.dtype).save_pretrained(options.out)
            self._pair.tokenizer.save_pretrained(options.out)
            return
        vocab = self._target.config.vocab_size
        frequent = options.frequent and most_frequent(self._shards, options.frequent, vocab)
        write_layers(options.out, self._draft, self._identity, frequent)


TEMPERATURES = (0.0, 0.6, 1.0)
_SURE = 1.96  # standard errors on each side of a 95% interval


def measured(pair: Pair, folder: Path) -> Iterator[str]:
    """A line for each shard in `folder` and each of TEMPERATURES: the mean over the texts of the
    sum of min(p, q), with a 95% interval."""
    for path in sorted(folder.glob("*.pt")):
        texts = read_shard(path)
        for temperature in TEMPERATURES:
            values = [_mean(pair, text, temperature) for text in texts]
            error = _SURE * stdev(values) / len(values) ** 0.5
            words = f"{fmean(values):.3f} +- {error:.3f} ({len(values)} texts)"
            yield f"{shard_kind(path.name)}, T={temperature:g}: {words}"


def _mean(pair: Pair, text: Taught, temperature: float) -> float:
    tokens = text.tokens.tolist()[: -1 if text.begin else None]
    return float(torch.cat([*overlaps(pair, tokens, text.begin + 1, temperature)]).mean())


if __name__ == "__main__":
    sys.exit(main())
