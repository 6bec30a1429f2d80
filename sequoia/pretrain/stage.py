"""One model from start to saved folder: the loop with its bar, log, held-out checks and checkpoints. Knows files and people.

In the run's folder: NAME/ (the finished model), NAME.ckpt, NAME-training.log, tokens.npz and tokenizer/.
"""

from __future__ import annotations

import copy
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from tqdm import tqdm
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BadTraining
from .model import Forward, Objective, distillation, next_token, overlap
from .recipe import Bound, Recipe
from .tokenizer import encode, fingerprint
from .train import State, Tokens, check_length, fit, fresh, held_mean, held_windows, restore, save

LOG_EVERY = 20  # steps between two lines of the log
CHECK_EVERY = 60  # steps between two held-out checks, each with a checkpoint


class Stop:
    """Whether someone asked the run to end after the step it is at."""

    requested = False


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """Turn the first Ctrl-C (or a TERM signal) into a request; a second Ctrl-C interrupts at once, as usual."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def request(number: int, _frame: object) -> None:
        stop.requested = True
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, request)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class Stage:
    """What is trained and towards what. `teacher` is the target a draft learns from, None for a target."""

    name: str
    recipe: Recipe
    bound: Bound
    tokens: Tokens
    tokenizer: PreTrainedTokenizerBase
    out: Path
    device: torch.device
    teacher: PreTrainedModel | None = None

    @property
    def checkpoint(self) -> Path:
        return self.out / f"{self.name}.ckpt"

    @property
    def folder(self) -> Path:
        return self.out / self.name

    @property
    def objective(self) -> Objective:
        return next_token if self.teacher is None else distillation(self.teacher)

    def identity(self) -> dict[str, Any]:
        """What a checkpoint and the run that takes it up must share. A draft may go on with a target trained further."""
        return {"recipe": self.recipe.as_dict(), "text": self.tokens.fingerprint, "tokenizer": fingerprint(self.tokenizer)}

    def held_line(self, network: Forward, windows: torch.Tensor) -> str:
        """The held-out check in words: loss of a target; acceptance and agreement of a draft."""
        if self.teacher is None:
            (loss,) = held_mean(lambda part: next_token(network, part), windows, self.device)
            return f"VAL {loss:.4f}"
        teacher = self.teacher
        accept, same = held_mean(lambda part: overlap(teacher, network, part), windows, self.device)
        return f"VAL accept T=1, top-1 agree ({accept:.4f}, {same:.4f})"


def run(stage: Stage, resume: bool, compile_: bool = False, quiet: bool = False) -> bool:
    """Train, save, and say whether the bound was reached; False after a request to stop, with a checkpoint to go on from."""
    check_length(stage.tokens.train, stage.recipe)
    windows = held_windows(stage.tokens.held, stage.recipe.context)
    stage.out.mkdir(parents=True, exist_ok=True)
    state, identity = _start(stage, resume), stage.identity()
    network = torch.compile(state.model) if compile_ else state.model
    checked = state.step
    log_path = stage.out / f"{stage.name}-training.log"
    with log_path.open("a" if state.step else "w") as log, _bar(stage, state, quiet) as bar, stop_on_signals() as stop:
        for loss in fit(state, stage.objective, stage.tokens.train, stage.recipe, stage.bound, network):
            _show(bar, stage.bound, state, loss)
            if state.step % LOG_EVERY == 0:
                _write(log, f"{state.step} {state.seconds:.0f}s {_millions(state)} {loss:.3f} lr {state.rate:.5f}")
            if stop.requested:
                break
            if state.step % CHECK_EVERY == 0:
                _check(stage, state, windows, log, bar)
                save(state, stage.checkpoint, identity)
                checked = state.step
        save(state, stage.checkpoint, identity)
        if stop.requested:
            return False
        if checked != state.step:
            _check(stage, state, windows, log, bar)
    export(state.model, stage.tokenizer, stage.folder)
    return True


def _end_of_text(tokenizer: PreTrainedTokenizerBase) -> int:
    if not isinstance(tokenizer.eos_token_id, int):
        raise BadTraining(f"the tokenizer needs one end-of-text token, not {tokenizer.eos_token_id}")
    return tokenizer.eos_token_id


def _start(stage: Stage, resume: bool) -> State:
    state = fresh(stage.recipe, len(stage.tokenizer), _end_of_text(stage.tokenizer), stage.device)
    if resume and stage.checkpoint.exists():
        restore(state, stage.checkpoint, stage.identity())
    return state


def _bar(stage: Stage, state: State, quiet: bool) -> tqdm:
    bound = stage.bound
    total, done, unit = (bound.tokens, state.tokens, "tok") if bound.tokens else (bound.seconds, state.seconds, "s")
    shape = None if bound.tokens else "{desc}: {percentage:3.0f}%|{bar}| {n:.0f}/{total:.0f} s{postfix}"
    return tqdm(total=total, initial=done, unit=unit, unit_scale=True, desc=stage.name, disable=quiet, bar_format=shape)


def _show(bar: tqdm, bound: Bound, state: State, loss: float) -> None:
    now = state.tokens if bound.tokens else state.seconds
    bar.set_postfix_str(f"loss {loss:.3f}, step {state.step}, {_millions(state)}", refresh=False)
    bar.update(min(now, bar.total) - bar.n)


def _check(stage: Stage, state: State, windows: torch.Tensor, log: TextIO, bar: tqdm) -> None:
    state.model.eval()
    line = f"{stage.held_line(state.model, windows)} {_millions(state)}"
    state.model.train()
    _write(log, line)
    if not bar.disable:
        bar.write(line)


def _write(log: TextIO, line: str) -> None:
    log.write(line + "\n")
    log.flush()


def _millions(state: State) -> str:
    return f"{state.tokens / 1e6:.2f}M"


def export(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Weights in bfloat16 safetensors, configuration and tokenizer: a folder for AutoModelForCausalLM and AutoTokenizer."""
    copy.deepcopy(model).bfloat16().cpu().eval().save_pretrained(folder)  # pyright: ignore[reportCallIssue]
    tokenizer.save_pretrained(folder)


def load_teacher(folder: Path | str, device: torch.device) -> PreTrainedModel:
    """A trained target from a local folder, float32, frozen."""
    try:
        model = AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, dtype=torch.float32)
    except (OSError, ValueError) as error:
        raise BadTraining(f"no target to distil from in {str(folder)[:200]!r}: {str(error)[:200]}") from None
    return model.to(device).eval().requires_grad_(False)  # pyright: ignore[reportArgumentType]


def tokens_for(out: Path, tokenizer: PreTrainedTokenizerBase, texts: Callable[[], tuple[Sequence[str], Sequence[str]]],
               reuse: bool) -> Tokens:
    """The corpus in tokens: those kept in `out` when `reuse` is set and the tokenizer is the same, else made anew and kept."""
    path, mark = out / "tokens.npz", fingerprint(tokenizer)
    if reuse and (kept := _kept_tokens(path, mark)) is not None:
        return kept
    train, held = texts()
    tokens = Tokens(encode(tokenizer, train), encode(tokenizer, held))
    out.mkdir(parents=True, exist_ok=True)
    partial = path.with_name("partial.npz")
    np.savez(partial, train=tokens.train, held=tokens.held, tokenizer=mark)
    partial.replace(path)
    return tokens


def _kept_tokens(path: Path, mark: str) -> Tokens | None:
    try:
        with np.load(path, allow_pickle=False) as data:
            return Tokens(data["train"], data["held"]) if str(data["tokenizer"]) == mark else None
    except (OSError, ValueError, KeyError):
        return None
