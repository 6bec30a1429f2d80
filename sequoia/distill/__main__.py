"""Distills a draft for a Llama-like target: `python -m sequoia.distill`."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from threading import Thread

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

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
from sequoia.loading.model_checks import checked_device, refused
from sequoia.loading.prompt_setup import with_prompts
from sequoia.measuring.acceptance_teacher_forced import overlaps
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.dtypes import narrowest_dtype

_STEPS = 20  # between two lines of progress
_SAVE = 600  # seconds between two checkpoints
_SHARDS = "training/shards"
_STATE = "training/state.pt"


@reports_errors
def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    options = _parser().parse_args(argv)
    if not options.measure:
        torch.set_num_threads(max(1, torch.get_num_threads() // 2))  # teaching needs the others
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
    add("--minutes", type=float, default=60.0, help="time for the training, with earlier runs")
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
        device = checked_device(options.device)
        read = partial(AutoModelForCausalLM.from_pretrained, options.target, use_safetensors=True)
        why = f"cannot load {options.target!r}"
        self._target = refused(why, lambda: read(dtype=narrowest_dtype(device)))
        self._target.to(device).eval().requires_grad_(False)
        self._tokenizer = AutoTokenizer.from_pretrained(options.target)
        count = self._target.config.num_hidden_layers
        layers = options.layers or sorted({*range(min(3, count)), count - 1})
        if not 0 <= min(layers) <= max(layers) < count:
            raise BadModel(f"--layers: the target has the layers 0 to {count - 1}")
        self._identity = Identity.of(options.target, self._target, self._tokenizer, layers)
        config = cut_config(self._target.config, layers)
        earlier = is_layer_draft(options.out)
        tensors = stored_layers(options.out) if earlier else cut_layers(self._target, layers)
        tensors.pop(FREQUENT, None)  # the head is reduced when the draft is written
        self._draft = layer_draft(self._target, config, tensors)
        self._training = Training(self._draft, options.out / _STATE, options.rate)

    def distill(self) -> None:
        """Teach and train at the same time until the time is over, and write the draft. It is also
        written every _SAVE seconds, and if the training is interrupted."""
        model = TreeModel(self._target, self._options.target)
        pair = with_prompts(Pair("", model, model, self._tokenizer), lambda _: None)
        teacher = Teacher(pair, self._shards, self._options.texts)
        teacher.hold_out()
        teaching = Thread(target=teacher.teach)
        teaching.start()
        while teaching.is_alive() and not any(self._shards.glob("*.pt")):
            time.sleep(0.1)
        try:
            self._train()
        finally:
            teacher.stopped = True
            self._save()
            teaching.join()

    def _train(self) -> None:
        """Train until the time is over, and print the progress."""
        training = self._training
        texts = batches(self._shards, self._options.batch, training.steps)
        saved = time.monotonic()
        while (done := training.seconds / (60 * self._options.minutes)) < 1:
            start = time.monotonic()
            found = [training.step(next(texts), done) for _ in range(_STEPS)]
            training.seconds += time.monotonic() - start
            divergences, overlaps = zip(*found, strict=True)
            so_far = f"{training.seconds / 60:.1f} minutes, {training.tokens:,} tokens"
            now = f"divergence {fmean(divergences):.3f}, sum of min(p, q) {fmean(overlaps):.3f}"
            print(f"{so_far}: {now}", flush=True)
            if time.monotonic() - saved > _SAVE:
                self._save()
                saved = time.monotonic()

    def _save(self) -> None:
        """Write the training's state and the draft."""
        options = self._options
        self._training.save()
        if options.whole:
            deepcopy(self._draft).to(self._target.dtype).save_pretrained(options.out)
            self._tokenizer.save_pretrained(options.out)
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
