"""Command line of the training: `python -m sequoia.pretrain --help`. Reads flags and puts the
parts together.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BadTraining, SequoiaError
from . import encoded, excerpts, sample
from .corpus import text_corpus
from .feed import BLOCK, Blocks, Feed, Mixture, Samples
from .model import quick
from .prepare import Prepared, parts, prepare
from .recipe import DECAY_SHARE, DRAFT, DRAFT_TOKENS, TARGET, TARGET_TOKENS, Recipe, Size, whole
from .stage import Stage, load_teacher, run, stop_on_signals
from .tokenizer import VOCAB, load_tokenizer, train_tokenizer

STOPPED = 130  # exit status after Ctrl-C, as shells expect it
KINDS = ("code", "prose")
SAMPLES = "samples.u16"
EXCERPTS = {"code": 50, "prose": 20}
DESCRIPTION = "Train a target and a draft distilled from it, step by step or all at once."
EPILOG = """steps, each in the folder --out:
  text           collect, clean and encode the text
  target         train the target at a constant rate, up to --tokens in all
  target-decay   from the target's checkpoint take the rate down to zero over --tokens more;
                 saves OUT/target
  samples        let OUT/target write --tokens tokens for the draft to learn from (may be left out)
  draft          distil the draft at a constant rate
  draft-decay    take its rate down to zero; saves OUT/draft
  excerpts       write prompts and their texts from the sources kept out, to judge pairs by
  all            all of these but samples and excerpts, with --tokens for the target and a third
                 of it for the draft

Ctrl-C or a TERM signal writes a checkpoint and ends; the same command with --resume goes on from
it. A checkpoint is also written every ten minutes, and the one before it is kept. A paused process
(STOP, CONT) loses nothing."""


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
    flags = ArgumentParser(
        "python -m sequoia.pretrain",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = flags.add_argument
    add("step", choices=[*STEPS, "all"])
    add("--out", type=Path, default=Path("runs/pretrain"), help="folder of the run (runs/pretrain)")
    add("--resume", action="store_true", help="go on from the checkpoints in --out")
    add("--tokens", type=int, help="tokens of the step")
    _text_flags(flags)
    _model_flags(flags)
    add("--device", default="auto", help="auto, cpu or cuda")
    add("--threads", type=int, help="processor threads; torch decides without it")
    add(
        "--compile",
        action="store_true",
        help="torch.compile the network; needs a C++ compiler on a CPU",
    )
    add("--quiet", action="store_true", help="no progress bar")
    return flags


def _text_flags(flags: ArgumentParser) -> None:
    add = flags.add_argument
    add(
        "--packages",
        nargs="+",
        type=Path,
        default=[],
        metavar="DIR",
        help="folders of more Python packages (pip install --no-deps --target DIR)",
    )
    add(
        "--docs",
        nargs="+",
        type=Path,
        default=[],
        metavar="DIR",
        help="folders of unpacked documentation packages, DIR/PACKAGE/...",
    )
    add("--text", nargs="+", type=Path, metavar="FILE", help="train on these text files instead")
    add("--tokenizer", type=Path, metavar="DIR", help="use this tokenizer instead of training one")
    add("--vocab", type=int, default=VOCAB, help=f"pieces of a new tokenizer ({VOCAB})")


def _model_flags(flags: ArgumentParser) -> None:
    add = flags.add_argument
    add(
        "--target",
        type=Path,
        metavar="DIR",
        help="the target a draft learns from; without it, OUT/target",
    )
    add(
        "--warm",
        type=Path,
        metavar="DIR",
        help="start from the weights in this folder instead of fresh ones",
    )
    for name, recipe in (("target", TARGET), ("draft", DRAFT)):
        size = recipe.size
        shape = f"{size.hidden},{size.layers},{size.heads},{size.mlp}"
        add(f"--{name}-size", default=shape, help=f"hidden,layers,heads,mlp ({shape})")
        add(
            f"--{name}-peak",
            type=float,
            default=recipe.peak,
            help=f"highest learning rate ({recipe.peak})",
        )
    add("--batch", type=int, default=TARGET.batch, help=f"sequences a step ({TARGET.batch})")
    add(
        "--context",
        type=int,
        default=TARGET.context,
        help=f"tokens of a sequence ({TARGET.context}); twice as many in a decay",
    )
    add(
        "--seed",
        type=int,
        default=TARGET.seed,
        help=f"of the weights and the order of the text ({TARGET.seed})",
    )


def _main(args: Namespace) -> int:
    if args.threads is not None:
        torch.set_num_threads(whole("threads", args.threads, 1, 1024))
    args.device = device_of(args.device)
    if args.tokens is not None:
        whole("tokens", args.tokens, 1, 10**12)
    steps = {args.step: args.tokens} if args.step != "all" else _all(args.tokens or TARGET_TOKENS)
    for step, tokens in steps.items():
        is_done = STEPS[step](args, tokens)
        if not is_done:
            print(f"{step} stopped; go on with the same command and --resume")
            return STOPPED
    return 0


def _all(tokens: int) -> dict[str, int]:
    """The tokens of every step of `all`."""
    third = max(1, tokens // 3)
    return {
        "text": 0,
        "target": tokens,
        "target-decay": _decay(tokens),
        "draft": third,
        "draft-decay": _decay(third),
    }


def _decay(tokens: int) -> int:
    return max(1, int(DECAY_SHARE * tokens))


# -- steps: each takes the flags and its tokens, and says whether it was finished -----------------


def text_step(args: Namespace, _tokens: int | None) -> bool:
    """Keep the text that is there on --resume, else collect and encode it."""
    if args.resume and (args.out / encoded.MANIFEST).exists():
        return True
    train, held, notes = _own_text(args) if args.text else _collected(args)
    tokenizer = _new_tokenizer(args, train)
    text = encoded.write(args.out, tokenizer, train, held, notes)
    counts = ", ".join(f"{len(ids):,} of {kind} held out" for kind, ids in text.held.items())
    print(f"text: {len(text.train):,} tokens to train on, {counts}, vocabulary {len(tokenizer)}")
    return True


def _own_text(
    args: Namespace,
) -> tuple[Sequence[str], dict[str, Sequence[str]], dict[str, object]]:
    corpus = text_corpus(args.text)
    return corpus.train, {"text": corpus.held}, {}


def _collected(
    args: Namespace,
) -> tuple[Sequence[str], dict[str, Sequence[str]], dict[str, object]]:
    prepared = prepare(args.packages, args.docs)
    train = [part for kind in KINDS for text in prepared.of(kind, "train") for part in parts(text)]
    held = {kind: [text.text for text in prepared.of(kind, "held")] for kind in KINDS}
    _write_kept_out(args.out / "kept-out", prepared)
    notes = {
        "prose_share": prepared.prose_share,
        "sources": [count.to_dict() for count in prepared.counts],
    }
    return train, {kind: texts for kind, texts in held.items() if texts}, notes


def _write_kept_out(folder: Path, prepared: Prepared) -> None:
    """The texts of the sources that are kept out, one file each, to judge a pair by."""
    for kind in KINDS:
        for number, text in enumerate(prepared.of(kind, "kept")):
            path = folder / kind / text.source / f"{number:04d}-{text.name.replace('/', '-')}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.text)


def _new_tokenizer(args: Namespace, train: Sequence[str]) -> PreTrainedTokenizerBase:
    tokenizer = (
        load_tokenizer(args.tokenizer) if args.tokenizer else train_tokenizer(train, args.vocab)
    )
    tokenizer.save_pretrained(args.out / "tokenizer")
    return load_tokenizer(args.out / "tokenizer")


def target_step(args: Namespace, tokens: int | None) -> bool:
    return _trained(_stage(args, "target", tokens or TARGET_TOKENS), args)


def target_decay_step(args: Namespace, tokens: int | None) -> bool:
    return _trained(_decaying(_stage(args, "target", tokens or _decay(TARGET_TOKENS))), args)


def draft_step(args: Namespace, tokens: int | None) -> bool:
    return _trained(_draft(args, tokens or DRAFT_TOKENS), args)


def draft_decay_step(args: Namespace, tokens: int | None) -> bool:
    return _trained(_decaying(_draft(args, tokens or _decay(DRAFT_TOKENS))), args)


def samples_step(args: Namespace, tokens: int | None) -> bool:
    """Let the target write; a file that is there grows."""
    text = _text(args)
    recipe = recipe_of(args, "target")
    prompts = Blocks(text.train, recipe.seed + 1)
    writer = _teacher(args).bfloat16()
    quick(writer, compile_=False)
    path = args.out / SAMPLES
    wanted = tokens or DRAFT_TOKENS // 4
    with stop_on_signals() as stop:
        for done in sample.extend(path, writer, prompts, BLOCK + 1, wanted, recipe.seed):
            print(f"samples: {done:,} tokens", flush=True)
            if stop.requested:
                return False
    return True


def excerpts_step(args: Namespace, _tokens: int | None) -> bool:
    known = {entry["name"]: entry for entry in _text(args).manifest.get("sources", ())}
    for kind, count in EXCERPTS.items():
        found = excerpts.pick(args.out / "kept-out", kind, count)
        for item in found:
            item["version"] = known[item["source"]]["version"]
            item["licence"] = known[item["source"]]["licence"]
        path = args.out / f"judge-{kind}.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{path}: {len(found)} excerpts")
    return True


def _trained(stage: Stage, args: Namespace) -> bool:
    if not run(stage, args.resume, args.compile, args.quiet):
        return False
    print(f"{stage.name} saved in {stage.folder}")
    return True


def _stage(args: Namespace, name: str, tokens: int) -> Stage:
    text = _text(args)
    recipe = recipe_of(args, name)
    feed = Blocks(text.train, recipe.seed)
    return Stage(
        name,
        recipe,
        tokens,
        feed,
        text.fingerprint,
        text.held,
        _tokenizer(args),
        args.out,
        args.device,
        warm=args.warm,
    )


def _decaying(stage: Stage) -> Stage:
    return replace(stage, is_decay=True, recipe=stage.recipe.longer())


def _draft(args: Namespace, tokens: int) -> Stage:
    stage = _stage(args, "draft", tokens)
    return replace(stage, teacher=_teacher(args), feed=_with_samples(args, stage))


def _with_samples(args: Namespace, stage: Stage) -> Feed:
    rows = sample.read(args.out / SAMPLES, BLOCK + 1)
    return stage.feed if rows is None else Mixture(stage.feed, Samples(rows, stage.recipe.seed))


def _teacher(args: Namespace) -> PreTrainedModel:
    return load_teacher(args.target or args.out / "target", args.device)


def _tokenizer(args: Namespace) -> PreTrainedTokenizerBase:
    return load_tokenizer(args.out / "tokenizer")


def _text(args: Namespace) -> encoded.Encoded:
    return encoded.read(args.out, _tokenizer(args))


STEPS: dict[str, Callable[[Namespace, int | None], bool]] = {
    "text": text_step,
    "target": target_step,
    "target-decay": target_decay_step,
    "samples": samples_step,
    "draft": draft_step,
    "draft-decay": draft_decay_step,
    "excerpts": excerpts_step,
}


def recipe_of(args: Namespace, name: str) -> Recipe:
    base = TARGET if name == "target" else DRAFT
    return replace(
        base,
        size=Size.parse(getattr(args, f"{name}_size")),
        peak=getattr(args, f"{name}_peak"),
        batch=args.batch,
        context=args.context,
        seed=args.seed,
    )


def device_of(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda"):
        raise BadTraining(f"device {name[:40]!r} is not one of auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadTraining(
            "device 'cuda': this installation of torch sees no CUDA device; use --device cpu"
        )
    return torch.device(name)


if __name__ == "__main__":
    sys.exit(main())
