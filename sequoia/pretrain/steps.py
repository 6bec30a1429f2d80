"""The steps of the training command. Each gets the flags and its number of tokens, and returns
whether it has finished."""

from __future__ import annotations

import json
import shutil
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BadTraining
from ..validate_input import number
from . import encoded, excerpts, sample
from .corpus import text_corpus
from .feed import BLOCK, Blocks, Feed, Mixture, Samples
from .model import quick
from .prepare import Prepared, parts, prepare
from .recipe import DECAY_SHARE, DRAFT, DRAFT_TOKENS, TARGET, TARGET_TOKENS, Recipe, Size
from .stage import Stage, load_teacher, run, stop_on_signals
from .tokenizer import load_tokenizer, train_tokenizer

KINDS = ("code", "prose")
SAMPLES = "samples.u16"
EXCERPTS = {"code": 50, "prose": 20}  # maximum number of each kind


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
            path.write_text(text.text, encoding="utf-8")


def _new_tokenizer(args: Namespace, train: Sequence[str]) -> PreTrainedTokenizerBase:
    tokenizer = (
        load_tokenizer(args.tokenizer) if args.tokenizer else train_tokenizer(train, args.vocab)
    )
    tokenizer.save_pretrained(args.out / "tokenizer")
    return load_tokenizer(args.out / "tokenizer")


def decay_tokens(tokens: int) -> int:
    """Length of the decay that follows `tokens` tokens at a constant rate."""
    return max(1, int(DECAY_SHARE * tokens))


def training_step(
    args: Namespace, tokens: int | None, name: str, usual: int, is_decay: bool = False
) -> bool:
    """Train the model `name`, "target" or "draft", at a constant learning rate or, if `is_decay`,
    while reducing the rate to zero.

    tokens: length of the step, None for the default. usual: default length with a constant rate.
    The default length of a decay is a fixed share of `usual`.
    """
    stage = _stage(args, name, tokens or (decay_tokens(usual) if is_decay else usual), is_decay)
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
    """Sample texts from the target until there are `tokens` tokens, earlier samples included."""
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
        path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
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
