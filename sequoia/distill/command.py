"""Distills a draft for a Llama-like target: `python -m sequoia.distill`."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from sequoia.bench.command import option_parser, reports_errors
from sequoia.distill.draft_files import most_frequent, write_layers, write_whole
from sequoia.distill.feed import Feed
from sequoia.distill.lessons import HELD_OUT, Lessons
from sequoia.distill.measure import measured
from sequoia.distill.train import Training
from sequoia.errors import BadModel
from sequoia.loading.model_checks import checked_device, refused
from sequoia.loading.prompt_setup import stop_tokens
from sequoia.models.layer_draft import (
    Identity,
    cut_config,
    cut_layers,
    layer_draft,
    require_llama_like,
)
from sequoia.this_machine.dtypes import narrowest_dtype

_STEPS = 20  # between two lines of progress
_SAVE = 600  # seconds between two checkpoints
_STATE = "state.pt"
_SHARDS = "shards"


@reports_errors
def main(argv: Sequence[str] | None = None) -> None:
    """The command."""
    options = _parser().parse_args(argv)
    run = Run(options)
    if options.measure:
        run.measure()
    else:
        run.distill()


def _parser() -> ArgumentParser:
    parser = option_parser("python -m sequoia.distill", __doc__)
    add = parser.add_argument
    add("--target", required=True, help="folder or Hugging Face id of the target")
    add("--out", type=Path, required=True, help="folder of the draft, and of its training")
    add("--layers", type=_numbers, help="layers to begin with (default: the first three, the last)")
    add("--texts", type=Path, nargs="+", default=[], help="text files, or JSONL with text and kind")
    add("--minutes", type=float, default=60.0, help="time in all, with earlier runs")
    add("--batch", type=int, default=8, help="texts of a step")
    add("--device", default="auto", help="auto, cpu, cuda or cuda:NUMBER")
    add("--only", choices=("teach", "train"), help="in this process (default: both in turn)")
    add("--frequent", type=int, help="the draft may draw only so many tokens, the most frequent")
    add("--whole", action="store_true", help="write an ordinary model that needs no target")
    add("--measure", action="store_true", help="only measure the draft on held-out texts")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


class Run:
    """One run of the command. It goes on with what earlier runs left in the folder."""

    def __init__(self, options: Namespace) -> None:
        self._options = options
        self._folder: Path = options.out
        self._shards = self._folder / _SHARDS
        device = checked_device(options.device)
        self._target = read_target(options.target, device)
        self._tokenizer = AutoTokenizer.from_pretrained(options.target)
        count = self._target.config.num_hidden_layers
        self._layers = options.layers or sorted({*range(min(3, count)), count - 1})
        if not all(0 <= layer < count for layer in self._layers):
            raise BadModel(f"--layers: the target has the layers 0 to {count - 1}")
        config = cut_config(self._target.config, self._layers)
        self._draft = layer_draft(self._target, config, cut_layers(self._target, self._layers))
        self._training = Training(self._draft, self._folder / _STATE)

    def distill(self) -> None:
        """Teach and train until the time is over, then write and measure the draft."""
        self._folder.mkdir(parents=True, exist_ok=True)
        only = self._options.only
        if only != "train":
            stop = stop_tokens(self._target.generation_config, self._tokenizer)
            lessons = Lessons(
                self._target, self._tokenizer, stop, self._shards, self._options.texts
            )
            lessons.hold_out()
            if only == "teach":
                self._teach(lessons)
                return
        else:
            lessons = None
        self._train(lessons)

    def _teach(self, lessons: Lessons) -> None:
        end = time.monotonic() + 60 * self._options.minutes
        while time.monotonic() < end:
            say(lessons.next())

    def _train(self, lessons: Lessons | None) -> None:
        training = self._training
        feed = Feed(self._shards, 1, self._options.batch)
        taught = 0.0  # seconds
        trained = 0.0
        saved = time.monotonic()
        while self._done < 1:
            start = time.monotonic()
            if lessons and taught <= trained:
                say(lessons.next())
                taught += time.monotonic() - start
            elif feed.empty:
                time.sleep(1)
            else:
                say(self._steps(feed))
                trained += time.monotonic() - start
            training.seconds += time.monotonic() - start
            if time.monotonic() - saved > _SAVE or self._done >= 1:
                self._save()
                saved = time.monotonic()
        self.measure()

    @property
    def _done(self) -> float:
        """The fraction of the time that is over."""
        return self._training.seconds / (60 * self._options.minutes)

    def _steps(self, feed: Feed) -> str:
        """Train for some steps. Returns the progress, in words."""
        training = self._training
        found = [training.step(feed(training.steps), self._done) for _ in range(_STEPS)]
        divergence, overlap = (fmean(values) for values in zip(*found, strict=True))
        minutes = training.seconds / 60
        return (
            f"step {training.steps:,}, {training.tokens:,} tokens, {minutes:.1f} minutes: "
            f"divergence {divergence:.3f}, sum of min(p, q) {overlap:.3f}"
        )

    def _save(self) -> None:
        """Write the training's state and the draft."""
        self._training.save()
        options = self._options
        if options.whole:
            write_whole(self._folder, self._draft, self._tokenizer, self._target.dtype)
            return
        frequent = options.frequent and most_frequent(
            self._shards, options.frequent, self._target.lm_head.out_features
        )
        identity = Identity.of(options.target, self._target, self._tokenizer, self._layers)
        write_layers(self._folder, self._draft, identity, frequent)

    def measure(self) -> None:
        """Print the sum of min(p, q) on held-out texts."""
        say(f"{self._training.tokens:,} tokens seen; sum of min(p, q) on held-out texts:")
        for line in measured(self._target, self._draft, self._shards / HELD_OUT):
            say(line)


def read_target(name: str, device: torch.device) -> Any:
    """The target, in the fastest dtype of `device`. Raises BadModel if it cannot be read or its
    layers cannot make a draft."""
    target = refused(
        BadModel,
        f"cannot load {name!r}",
        lambda: AutoModelForCausalLM.from_pretrained(
            name, dtype=narrowest_dtype(device), use_safetensors=True, trust_remote_code=False
        ),
    )
    require_llama_like(target)
    return target.to(device).eval().requires_grad_(False)


def say(words: str) -> None:
    """Print a line of progress at once."""
    print(time.strftime("%H:%M:%S"), words, flush=True)
