"""Command line of the training: `python -m sequoia.pretrain {target,draft,all}`. Reads flags and puts the parts together."""

from __future__ import annotations

import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerBase

from ..errors import BadTraining, SequoiaError
from .corpus import Corpus, python_corpus, text_corpus
from .recipe import DRAFT, DRAFT_SECONDS, TARGET, TARGET_SECONDS, Bound, Recipe, Size, positive, whole
from .stage import Stage, load_teacher, run, tokens_for
from .tokenizer import VOCAB, load_tokenizer, train_tokenizer

STOPPED = 130  # exit status after Ctrl-C, as shells expect it
EPILOG = """Without --minutes or --tokens a target gets 72 minutes and a draft 18, as the bundled pair did on two cores.
Ctrl-C writes a checkpoint; the same command with --resume goes on from it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status. A person's mistake is one line, not a traceback."""
    try:
        return _main(parser().parse_args(argv))
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # before the loop or a second time inside it: nothing to save
        print("interrupted", file=sys.stderr)
        return STOPPED


def parser() -> ArgumentParser:
    flags = ArgumentParser("python -m sequoia.pretrain", description="Train a target, a draft distilled from it, or both.",
                           epilog=EPILOG, formatter_class=ArgumentDefaultsHelpFormatter)
    add = flags.add_argument
    add("stage", choices=("target", "draft", "all"))
    add("--out", type=Path, default=Path("runs/pretrain"), help="folder of the run")
    add("--resume", action="store_true", help="go on from the checkpoints in --out")
    bound = flags.add_mutually_exclusive_group()
    bound.add_argument("--minutes", type=float, help="training time of each stage")
    bound.add_argument("--tokens", type=int, help="tokens each stage trains on")
    add("--text", nargs="+", type=Path, metavar="FILE", help="train on these text files instead of installed Python sources")
    add("--tokenizer", type=Path, metavar="DIR", help="use this tokenizer instead of training one")
    add("--vocab", type=int, default=VOCAB, help="pieces of a new tokenizer")
    add("--target", type=Path, metavar="DIR", help="the target a draft learns from; without it, the one in --out")
    for name, recipe in (("target", TARGET), ("draft", DRAFT)):
        size = recipe.size
        add(f"--{name}-size", default=f"{size.hidden},{size.layers},{size.heads},{size.mlp}", help="hidden,layers,heads,mlp")
        add(f"--{name}-peak", type=float, default=recipe.peak, help="highest learning rate")
    add("--batch", type=int, default=TARGET.batch, help="sequences a step")
    add("--context", type=int, default=TARGET.context, help="tokens of a sequence; the target's last quarter takes twice as many")
    add("--seed", type=int, default=TARGET.seed)
    add("--device", default="auto", help="auto, cpu or cuda")
    add("--threads", type=int, help="processor threads; torch decides without it")
    add("--compile", action="store_true", help="torch.compile the network; needs a C++ compiler on a CPU")
    add("--quiet", action="store_true", help="no progress bar")
    return flags


def _main(args: Namespace) -> int:
    if args.threads is not None:
        torch.set_num_threads(whole("threads", args.threads, 1, 1024))
    device = device_of(args.device)
    recipes = {"target": recipe_of(args, "target"), "draft": recipe_of(args, "draft")}
    bounds = {"target": bound_of(args, TARGET_SECONDS), "draft": bound_of(args, DRAFT_SECONDS)}
    source = Source(args)
    for name in ("target", "draft") if args.stage == "all" else (args.stage,):
        tokenizer = source.tokenizer(name)
        teacher = load_teacher(source.target, device) if name == "draft" else None
        tokens = tokens_for(args.out, tokenizer, source.texts, reuse=args.resume or source.is_encoded)
        source.is_encoded = True
        print(f"{name}: {len(tokens.train):,} tokens to train on, {len(tokens.held):,} held out, vocabulary {len(tokenizer)}")
        stage = Stage(name, recipes[name], bounds[name], tokens, tokenizer, args.out, device, teacher)
        if not run(stage, args.resume, args.compile, args.quiet):
            print(f"stopped; checkpoint in {stage.checkpoint}. Go on with the same command and --resume")
            return STOPPED
        print(f"{name} saved in {stage.folder}")
    return 0


class Source:
    """Texts and tokenizers of one command, read only when they are needed and only once."""

    def __init__(self, args: Namespace) -> None:
        self._args = args
        self._corpus: Corpus | None = None
        self.target: Path = args.target or args.out / "target"
        self.is_encoded = False

    def texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self._corpus is None:
            self._corpus = text_corpus(self._args.text) if self._args.text else python_corpus()
        return self._corpus.train, self._corpus.held

    def tokenizer(self, name: str) -> PreTrainedTokenizerBase:
        """A draft takes its target's. A target takes the given one, on resuming the run's own, else a new one."""
        if name == "draft":
            return load_tokenizer(self.target)
        own = self._args.out / "tokenizer"
        if self._args.resume and own.exists() and not self._args.tokenizer:
            return load_tokenizer(own)
        if self._args.tokenizer:
            tokenizer = load_tokenizer(self._args.tokenizer)
        else:
            tokenizer = train_tokenizer(self.texts()[0], self._args.vocab)
        tokenizer.save_pretrained(own)
        return load_tokenizer(own)


def recipe_of(args: Namespace, name: str) -> Recipe:
    base = TARGET if name == "target" else DRAFT
    return replace(base, size=Size.parse(getattr(args, f"{name}_size")), peak=getattr(args, f"{name}_peak"),
                   batch=args.batch, context=args.context, seed=args.seed)


def bound_of(args: Namespace, seconds: float) -> Bound:
    if args.tokens is not None:
        return Bound(tokens=args.tokens)
    return Bound(seconds=seconds if args.minutes is None else 60 * positive("minutes", args.minutes, 1e6))


def device_of(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda"):
        raise BadTraining(f"device {name[:40]!r} is not one of auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadTraining("device 'cuda': this installation of torch sees no CUDA device; use --device cpu")
    return torch.device(name)


if __name__ == "__main__":
    sys.exit(main())
