"""The flags of the training command."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable
from pathlib import Path

from .feed import BLOCK
from .loops import WEIGHT
from .recipe import DRAFT, TARGET
from .tokenizer import VOCAB

DESCRIPTION = "Train a target and a draft distilled from it, step by step or all at once."
EPILOG = """steps, all of which write to the folder --out:
  text           collect, clean and encode the text
  target         train the target at a constant learning rate, up to --tokens tokens in total
  target-decay   start from the target's checkpoint and reduce the learning rate to zero over
                 --tokens more tokens; saves OUT/target
  samples        optional: sample from the target until there are --tokens tokens for the draft to
                 learn from
  draft          distil the draft at a constant learning rate, up to --tokens tokens in total
  draft-decay    start from the draft's checkpoint and reduce the learning rate to zero over
                 --tokens more tokens; saves OUT/draft
  excerpts       write prompts and their continuations, from texts that are never trained on, for
                 evaluating pairs
  all            every step except samples and excerpts, with --tokens tokens for the target and a
                 third as many for the draft

In training, Ctrl-C or a TERM signal writes a checkpoint and stops; the same command with --resume
continues from that checkpoint. A checkpoint is also written every ten minutes, and the one before
it is kept. The process can be paused and continued (signals STOP and CONT) without losing
anything."""


def parser(steps: Iterable[str]) -> ArgumentParser:
    """The parser of the command's arguments. steps: the names of the steps."""
    flags = ArgumentParser(
        "python -m sequoia.pretrain",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = flags.add_argument
    add("step", choices=[*steps, "all"])
    add(
        "--out",
        type=Path,
        default=Path("runs/pretrain"),
        help="folder of the run (default: runs/pretrain)",
    )
    add("--resume", action="store_true", help="continue from the checkpoints in --out")
    add("--tokens", type=int, help="length of the step in tokens (see below)")
    _text_flags(flags)
    _model_flags(flags)
    add("--device", default="auto", help="auto, cpu or cuda")
    add("--threads", type=int, help="CPU threads (default: chosen by torch)")
    add(
        "--compile",
        action="store_true",
        help="use torch.compile, which on a CPU needs a C++ compiler",
    )
    add("--quiet", action="store_true", help="show no progress bar")
    return flags


def _text_flags(flags: ArgumentParser) -> None:
    add = flags.add_argument
    add(
        "--packages",
        nargs="+",
        type=Path,
        default=[],
        metavar="DIR",
        help="further folders of Python packages (made with pip install --no-deps --target DIR)",
    )
    add(
        "--docs",
        nargs="+",
        type=Path,
        default=[],
        metavar="DIR",
        help="folders with unpacked documentation packages, as DIR/PACKAGE/...",
    )
    add("--text", nargs="+", type=Path, metavar="FILE", help="train on these text files only")
    add(
        "--tokenizer",
        type=Path,
        metavar="DIR",
        help="use the tokenizer in this folder instead of training one",
    )
    add(
        "--vocab",
        type=int,
        default=VOCAB,
        help=f"number of tokens of a new tokenizer (default: {VOCAB})",
    )


def _model_flags(flags: ArgumentParser) -> None:
    add = flags.add_argument
    add(
        "--target",
        type=Path,
        metavar="DIR",
        help="the target for the steps samples, draft and draft-decay (default: OUT/target)",
    )
    add(
        "--warm",
        type=Path,
        metavar="DIR",
        help="folder with the initial weights for the step target or draft (default: random "
        "weights; with `all`, only the target starts from this folder)",
    )
    for name, recipe in (("target", TARGET), ("draft", DRAFT)):
        size = recipe.size
        shape = f"{size.hidden},{size.layers},{size.heads},{size.mlp}"
        add(
            f"--{name}-size",
            default=shape,
            help=f"size of the {name} as hidden,layers,heads,mlp (default: {shape})",
        )
        add(
            f"--{name}-peak",
            type=float,
            default=recipe.peak,
            help=f"highest learning rate of the {name} (default: {recipe.peak})",
        )
    add(
        "--loops-weight",
        type=float,
        default=WEIGHT,
        help="weight of the loss against endless repetition in a target's decay "
        f"(default: {WEIGHT:g})",
    )
    add(
        "--batch",
        type=int,
        default=TARGET.batch,
        help=f"sequences per step (default: {TARGET.batch}); half as many in a decay, if its "
        "sequences are twice as long (see --context)",
    )
    add(
        "--context",
        type=int,
        default=TARGET.context,
        help=f"tokens per sequence (default: {TARGET.context}); twice as many in a decay, "
        f"if that is at most {BLOCK} and --batch is at least 2",
    )
    add(
        "--seed",
        type=int,
        default=TARGET.seed,
        help="seed for the weights, the order of the text and the sampling "
        f"(default: {TARGET.seed})",
    )
