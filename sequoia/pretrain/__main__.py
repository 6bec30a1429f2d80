"""The command that trains a pair: `python -m sequoia.pretrain --help`."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BadTraining, SequoiaError
from ..validate_input import number
from . import encoded, excerpts, sample
from .corpus import text_corpus
from .feed import BLOCK, Blocks, Feed, Mixture, Samples
from .loops import WEIGHT
from .model import quick
from .prepare import Prepared, parts, prepare
from .recipe import DECAY_SHARE, DRAFT, DRAFT_TOKENS, TARGET, TARGET_TOKENS, Recipe, Size, whole
from .stage import Stage, load_teacher, run, stop_on_signals
from .tokenizer import VOCAB, load_tokenizer, train_tokenizer

STOPPED = 130  # the usual exit status after Ctrl-C
KINDS = ("code", "prose")
SAMPLES = "samples.u16"
EXCERPTS = {"code": 50, "prose": 20}  # maximum number of each kind
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status. An expected error, such as a file that cannot be
    read, is printed in one line without a traceback. Raises SystemExit after --help, and for
    arguments that cannot be parsed."""
    try:
        return _main(parser().parse_args(argv))
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # Ctrl-C outside training and sampling, or a second one during them. No checkpoint is written.
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return STOPPED


def parser() -> ArgumentParser:
    """The parser of the command's arguments."""
    flags = ArgumentParser(
        "python -m sequoia.pretrain",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = flags.add_argument
    add("step", choices=[*STEPS, "all"])
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
            print(f"{step} stopped; continue with the same command and --resume")
            return STOPPED
    return 0


def _all(tokens: int) -> dict[str, int]:
    """The number of tokens for each step of `all`. tokens: how many the target trains on before
    the decay of its learning rate."""
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


# -- steps: each gets the flags and its number of tokens, and returns whether it has finished ------


def text_step(args: Namespace, _tokens: int | None) -> bool:
    """Collect and encode the text. With --resume, a text that exists is used unchanged."""
    if args.resume and (args.out / encoded.MANIFEST).exists():
        return True
    _make_folder(args.out)
    if args.text:
        corpus = text_corpus(args.text)
        train, held, notes = corpus.train, {"text": corpus.held}, {}
        _write_kept_out(args.out, Prepared())
    else:
        train, held, notes = _collected(args)
    tokenizer = _new_tokenizer(args, train)
    text = encoded.write(args.out, tokenizer, train, held, notes)
    counts = ", ".join(f"{len(ids):,} of {kind} held out" for kind, ids in text.held.items())
    print(f"text: {len(text.train):,} tokens to train on, {counts}, vocabulary {len(tokenizer)}")
    return True


def _make_folder(out: Path) -> None:
    try:
        (out / "kept-out").mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadTraining(f"--out: {out} cannot be written ({problem.strerror})") from None


def _collected(
    args: Namespace,
) -> tuple[Sequence[str], dict[str, Sequence[str]], dict[str, object]]:
    prepared = prepare(args.packages, args.docs)
    train = [part for kind in KINDS for text in prepared.of(kind, "train") for part in parts(text)]
    held = {kind: [text.text for text in prepared.of(kind, "held")] for kind in KINDS}
    _write_kept_out(args.out, prepared)
    notes = {
        "prose_share": prepared.prose_share,
        "sources": [vars(count) for count in prepared.counts],
    }
    return train, {kind: texts for kind, texts in held.items() if texts}, notes


def _write_kept_out(out: Path, prepared: Prepared) -> None:
    """Write each text of the sources that are kept out of the training to a file of its own. The
    files of an earlier run are removed first. The earlier text.json is removed too, because it
    lists the sources of that run."""
    (out / encoded.MANIFEST).unlink(missing_ok=True)
    folder = out / "kept-out"
    for kind in KINDS:
        shutil.rmtree(folder / kind, ignore_errors=True)
        for i, text in enumerate(prepared.of(kind, "kept")):
            path = folder / kind / text.source / f"{i:04d}-{text.name.replace('/', '-')}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.text)


def _new_tokenizer(args: Namespace, train: Sequence[str]) -> PreTrainedTokenizerBase:
    tokenizer = (
        load_tokenizer(args.tokenizer) if args.tokenizer else train_tokenizer(train, args.vocab)
    )
    tokenizer.save_pretrained(args.out / "tokenizer")
    return load_tokenizer(args.out / "tokenizer")


def training_step(
    args: Namespace, tokens: int | None, name: str, usual: int, is_decay: bool = False
) -> bool:
    """Train the model `name`, "target" or "draft", at a constant learning rate or, if `is_decay`,
    while reducing the rate to zero.

    tokens: length of the step, None for the default. usual: default length with a constant rate.
    The default length of a decay is a fixed share of `usual`.
    """
    stage = _stage(args, name, tokens or (_decay(usual) if is_decay else usual), is_decay)
    if not run(stage, args.resume, args.compile, args.quiet):
        return False
    print(f"{stage.name} saved in {stage.folder}")
    return True


def _stage(args: Namespace, name: str, tokens: int, is_decay: bool) -> Stage:
    text = _text(args)
    recipe = recipe_of(args, name)
    feed: Feed = Blocks(text.train, recipe.seed)
    teacher = None
    if name == "draft":
        teacher = _teacher(args)
        samples = sample.read(args.out / SAMPLES, BLOCK + 1)
        if samples is not None:
            feed = Mixture(feed, Samples(samples, recipe.seed))
    return Stage(
        name,
        recipe.longer() if is_decay else recipe,
        tokens,
        feed,
        text.fingerprint,
        text.held,
        _tokenizer(args),
        args.out,
        args.device,
        teacher,
        None if args.step == "all" and name == "draft" else args.warm,
        is_decay,
        number(args.loops_weight, "--loops-weight", 0, 1000, BadTraining),
    )


def samples_step(args: Namespace, tokens: int | None) -> bool:
    """Sample texts from the target, appending them to the samples that exist."""
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
            if stop.requested and done < wanted:
                return False
    return True


def excerpts_step(args: Namespace, _tokens: int | None) -> bool:
    """Write the excerpts of each kind to judge-KIND.json."""
    known = {entry["name"]: entry for entry in _text(args).manifest.get("sources", ())}
    for kind, count in EXCERPTS.items():
        found = excerpts.pick(args.out / "kept-out", kind, count)
        for item in found:
            source = known[item["source"]]
            item |= {key: source[key] for key in ("version", "licence")}
        path = args.out / f"judge-{kind}.json"
        path.write_text(json.dumps(found, indent=1) + "\n")
        print(f"{path}: {len(found)} excerpts")
    return True


def _teacher(args: Namespace) -> PreTrainedModel:
    return load_teacher(args.target or args.out / "target", args.device)


def _tokenizer(args: Namespace) -> PreTrainedTokenizerBase:
    return load_tokenizer(args.out / "tokenizer")


def _text(args: Namespace) -> encoded.Encoded:
    return encoded.read(args.out, _tokenizer(args))


STEPS: dict[str, Callable[[Namespace, int | None], bool]] = {
    "text": text_step,
    "target": partial(training_step, name="target", usual=TARGET_TOKENS),
    "target-decay": partial(training_step, name="target", usual=TARGET_TOKENS, is_decay=True),
    "samples": samples_step,
    "draft": partial(training_step, name="draft", usual=DRAFT_TOKENS),
    "draft-decay": partial(training_step, name="draft", usual=DRAFT_TOKENS, is_decay=True),
    "excerpts": excerpts_step,
}


def recipe_of(args: Namespace, name: str) -> Recipe:
    """The recipe for the model `name`, "target" or "draft", with the given flags."""
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
    """The device called auto, cpu or cuda. Raises BadTraining if it is unknown or missing."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda"):
        raise BadTraining(f"device {name[:40]!r} is not one of auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadTraining("device 'cuda' does not exist on this machine; use --device cpu")
    return torch.device(name)


if __name__ == "__main__":
    sys.exit(main())
