"""Trains and saves one model: the training loop with its progress bar, log, held-out checks and
checkpoints.

A model is first trained at a constant learning rate. A separate run, the decay, starts from the
last checkpoint of that training and reduces the rate to zero.

Files in the run's folder:
NAME.ckpt: checkpoint of the run at a constant rate; the decay does not change it
NAME-decay.ckpt: checkpoint of the decay
NAME.ckpt.previous, NAME-decay.ckpt.previous: the checkpoints before these
NAME-training.log: the log
NAME-constant/: the model without a decay
NAME/: the finished model
"""

from __future__ import annotations

import copy
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from safetensors import SafetensorError
from tqdm import tqdm
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BadTraining
from .feed import Feed
from .loops import WEIGHT, ending_loops
from .model import Forward, Objective, distillation, next_token, overlap, quick
from .recipe import Recipe, Schedule
from .tokenizer import fingerprint
from .train import State, fit, fresh, held_mean, held_windows, restore, save

LOG_EVERY = 20  # steps between lines of the log
CHECK_EVERY = 120  # steps between held-out checks
SAVE_SECONDS = 600.0  # between checkpoints


class Stop:
    """A request to stop after the current step. requested: whether it was made."""

    requested = False


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """A context that turns the first Ctrl-C or TERM signal into a request to stop. A second signal
    of the same kind is handled as it would be without this context. Outside the main thread,
    signals are left alone."""
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
    """One model to train, with its data and objective.

    tokens: how many to train on, in total; for a decay, only those of the decay itself. text:
    fingerprint of the training text in `feed`, not counting text that was sampled from a target.
    held: held-out tokens of each kind of text. teacher: the target that a draft learns from, None
    if the model is itself a target. warm: a folder with weights that a new run at a constant rate
    starts from, None for random weights.
    is_decay: whether this stage reduces the learning rate to zero, starting from the checkpoint of
    the run at a constant rate. loops_weight: weight of the loss against endless repetition in the
    decay of a target.
    """

    name: str
    recipe: Recipe
    tokens: int
    feed: Feed
    text: str
    held: Mapping[str, np.ndarray]
    tokenizer: PreTrainedTokenizerBase
    out: Path
    device: torch.device
    teacher: PreTrainedModel | None = None
    warm: Path | None = None
    is_decay: bool = False
    loops_weight: float = WEIGHT

    @property
    def constant(self) -> Path:
        """Checkpoint of the run at a constant rate."""
        return self.out / f"{self.name}.ckpt"

    @property
    def checkpoint(self) -> Path:
        """Checkpoint that this stage writes."""
        return self.out / f"{self.name}-decay.ckpt" if self.is_decay else self.constant

    @property
    def folder(self) -> Path:
        """The folder for the trained model. Without a decay its name ends with "-constant"."""
        return self.out / self.name if self.is_decay else self.out / f"{self.name}-constant"

    @property
    def log(self) -> Path:
        """The file of the log."""
        return self.out / f"{self.name}-training.log"

    def objective(self, compile_: bool) -> Objective:
        """For a draft, distillation. For a target, next-token prediction; its decay adds a loss
        against endless repetition."""
        if self.teacher is not None:
            return distillation(quick(self.teacher, compile_))
        return ending_loops(self.loops_weight) if self.is_decay else next_token

    def identity(self) -> dict[str, Any]:
        """The settings that must be the same in a checkpoint and in the run that resumes from it.
        The batch and the context may differ. So may a draft's target, which may have been trained
        further."""
        recipe = self.recipe
        return {
            "size": asdict(recipe.size),
            "peak": recipe.peak,
            "seed": recipe.seed,
            "text": self.text,
            "tokenizer": fingerprint(self.tokenizer),
        }

    def held_line(self, network: Forward, windows: Mapping[str, torch.Tensor]) -> str:
        """The start of the log line of a held-out check. For each kind of text it has a target's
        loss, or the two values of `overlap` for a draft."""
        return " ".join(
            ["VAL", *(f"{kind} {self._held(network, rows)}" for kind, rows in windows.items())]
        )

    def _held(self, network: Forward, rows: torch.Tensor) -> str:
        if self.teacher is None:
            (loss,) = held_mean(lambda part: (next_token(network, part),), rows, self.device)
            return f"{loss:.4f}"
        teacher = self.teacher
        accept, same = held_mean(lambda part: overlap(teacher, network, part), rows, self.device)
        return f"min(p,q) {accept:.4f} top-1 {same:.4f}"


def run(stage: Stage, resume: bool, compile_: bool = False, quiet: bool = False) -> bool:
    """Train and save the model. Returns False if a signal stopped the run; a checkpoint to resume
    from was then written, but the model was not saved."""
    windows = {kind: held_windows(held, stage.recipe.context) for kind, held in stage.held.items()}
    stage.out.mkdir(parents=True, exist_ok=True)
    state = _start(stage, resume)
    schedule = _schedule(stage, state)
    is_new = state.step == 0
    with stage.log.open("w" if is_new else "a") as log, _bar(stage, state, schedule, quiet) as bar:
        if not is_new:
            phase = ", decay" if stage.is_decay else ""
            _write(log, f"# resumed at step {state.step}, {_millions(state)}{phase}")
        if not _train(stage, state, schedule, windows, Watch(log, bar), compile_):
            return False
    export(state.model, stage.tokenizer, stage.folder)
    return True


@dataclass(frozen=True)
class Watch:
    """The log and the progress bar of a run."""

    log: TextIO
    bar: tqdm


def _train(
    stage: Stage,
    state: State,
    schedule: Schedule,
    windows: Mapping[str, torch.Tensor],
    watch: Watch,
    compile_: bool,
) -> bool:
    """Run the training loop with log lines, held-out checks and checkpoints. Returns False if it
    was stopped."""
    identity = stage.identity()
    network = quick(state.model, compile_)
    objective = stage.objective(compile_)
    checked = state.step
    saved = time.monotonic()
    with stop_on_signals() as stop:
        for loss in fit(state, objective, stage.feed, stage.recipe, schedule, network):
            _show(watch.bar, state, loss)
            if state.step % LOG_EVERY == 0:
                _write(watch.log, _line(state, loss))
            if stop.requested:
                break
            if state.step % CHECK_EVERY == 0:
                _check(stage, state, windows, watch)
                checked = state.step
            if time.monotonic() - saved > SAVE_SECONDS:
                save(state, stage.checkpoint, identity)
                saved = time.monotonic()
        save(state, stage.checkpoint, identity)
        if stop.requested:
            return False
        if checked != state.step:
            _check(stage, state, windows, watch)
    return True


def _schedule(stage: Stage, state: State) -> Schedule:
    """The schedule for `stage.tokens` tokens. The start of a decay is noted in `state`."""
    if not stage.is_decay:
        return Schedule(stage.tokens)
    if state.decay_from is None:
        state.decay_from = state.tokens
    return Schedule(state.decay_from + stage.tokens, state.decay_from)


def _end_of_text(tokenizer: PreTrainedTokenizerBase) -> int:
    if not isinstance(tokenizer.eos_token_id, int):
        raise BadTraining(
            f"the tokenizer must have one end-of-text token, not {tokenizer.eos_token_id}"
        )
    return tokenizer.eos_token_id


def _start(stage: Stage, resume: bool) -> State:
    """The state to start from: that of this stage's checkpoint, if there is one. Otherwise a decay
    starts from the checkpoint of the run at a constant rate. Any other stage starts from the
    weights in `stage.warm`, or from random weights if that is None.

    Raises BadTraining if this stage has a checkpoint and `resume` is false. Also raises it if the
    tokenizer does not have exactly one end-of-text token, if the checkpoint to start from is
    missing, damaged or of other settings, or if the weights are missing, too damaged to be
    read, or of other shapes."""
    state = fresh(stage.recipe, len(stage.tokenizer), _end_of_text(stage.tokenizer), stage.device)
    if stage.checkpoint.exists() and not resume:
        raise BadTraining(
            f"{str(stage.checkpoint)[:200]!r} is the checkpoint of an earlier run; continue that "
            "run with --resume, or delete the checkpoint to start again"
        )
    if stage.checkpoint.exists():
        restore(state, stage.checkpoint, stage.identity())
    elif stage.is_decay:
        restore(state, stage.constant, stage.identity())
    elif stage.warm is not None:
        warm(state.model, stage.warm)
    return state


def warm(model: PreTrainedModel, folder: Path) -> None:
    """Load the weights in `folder` into `model`. Raises BadTraining if there are none, if they
    are too damaged to be read, or if their shapes differ from the model's."""
    other = load_teacher(folder, model.device).state_dict()
    shapes = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    if shapes != {name: tuple(weight.shape) for name, weight in other.items()}:
        raise BadTraining(
            f"the weights in {str(folder)[:200]!r} have other shapes than the model to train; set "
            "--target-size or --draft-size to the size of the model in that folder, and use its "
            "tokenizer"
        )
    model.load_state_dict(other)


def _bar(stage: Stage, state: State, schedule: Schedule, quiet: bool) -> tqdm:
    return tqdm(
        total=schedule.end,
        initial=state.tokens,
        unit="tok",
        unit_scale=True,
        desc=stage.name,
        disable=quiet,
    )


def _show(bar: tqdm, state: State, loss: float) -> None:
    bar.set_postfix_str(f"loss {loss:.3f}, step {state.step}", refresh=False)
    bar.update(min(state.tokens, bar.total) - bar.n)


def _line(state: State, loss: float) -> str:
    return f"{state.step} {state.seconds:.0f}s {_millions(state)} {loss:.4f} lr {state.rate:.5f}"


def _check(stage: Stage, state: State, windows: Mapping[str, torch.Tensor], watch: Watch) -> None:
    state.model.eval()
    line = f"{stage.held_line(state.model, windows)} {_millions(state)}"
    state.model.train()
    _write(watch.log, line)
    if not watch.bar.disable:
        watch.bar.write(line)


def _write(log: TextIO, line: str) -> None:
    log.write(line + "\n")
    log.flush()


def _millions(state: State) -> str:
    return f"{state.tokens / 1e6:.2f}M"


def export(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write the weights (bfloat16, safetensors), the config and the tokenizer to `folder`.
    AutoModelForCausalLM and AutoTokenizer can load them from there."""
    copied = copy.deepcopy(model).bfloat16().cpu()  # pyright: ignore[reportCallIssue]
    copied.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def load_teacher(folder: Path | str, device: torch.device) -> PreTrainedModel:
    """The trained model in a local folder, in float32, with frozen weights. Raises BadTraining if
    there is none, or if its weights are too damaged to be read."""
    try:
        model = AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    except (OSError, ValueError, SafetensorError) as error:
        raise BadTraining(
            f"no trained model in {str(folder)[:200]!r}: {str(error)[:200]}"
        ) from None
    return model.to(device).eval().requires_grad_(False)  # pyright: ignore[reportArgumentType]
