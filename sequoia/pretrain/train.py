"""The training loop and its checkpoints."""

from __future__ import annotations

import math
import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from ..errors import BadTraining
from .feed import Feed
from .model import Forward, Objective, new_model, optimisers
from .recipe import Recipe, Schedule

VERSION = 2
# tokens per pass on a CPU; with more, the activations would not fit the processor's caches and
# would be allocated anew in every step
CPU_TOKENS = 2048
HELD_WINDOWS = 64  # maximum number of windows of held-out text
COUNTERS = ("step", "tokens", "seconds", "decay_from")  # fields of State saved in a checkpoint


@dataclass
class State:
    """The state of a run. A checkpoint contains all of it. There is no random state to save: the
    rows of a step depend only on `tokens` and the run's settings, and nothing else is random.

    step: number of steps so far. tokens: number of tokens so far. seconds: training time so far.
    decay_from: the number of tokens at which the learning rate began to decay, None before that.
    """

    model: PreTrainedModel
    optimisers: tuple[torch.optim.Optimizer, ...]
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    decay_from: int | None = None

    @property
    def rate(self) -> float:
        """Learning rate of the last step."""
        return self.optimisers[0].param_groups[0]["lr"]


def fresh(recipe: Recipe, vocab: int, end: int, device: torch.device | str = "cpu") -> State:
    """The state before the first step, with random weights. vocab: size of the vocabulary. end: id
    of the end-of-text token."""
    model = new_model(recipe.size, vocab, end, recipe.seed)
    model = model.to(device)  # pyright: ignore[reportArgumentType]
    return State(model, optimisers(model, recipe.peak))


def fit(
    state: State,
    objective: Objective,
    feed: Feed,
    recipe: Recipe,
    schedule: Schedule,
    network: Forward | None = None,
) -> Iterator[float]:
    """Train until the end of `schedule`, and yield the loss of each step. `state` is complete
    whenever this yields, so it can be saved then. The time that the caller takes between two steps
    is not added to `state.seconds`. Raises BadTraining if the loss is not finite.

    network: what computes the logits, such as the compiled form of `state.model`. None for the
    model itself.
    """
    state.model.train()
    while not schedule.is_done(state.tokens):
        started = time.perf_counter()
        rows = to_device(feed.take(state.tokens, recipe.batch, recipe.context), state.model.device)
        rate = recipe.peak * schedule.share(state.step + 1, state.tokens)
        loss = _step(state, objective, rows, state.model if network is None else network, rate)
        state.step += 1
        state.tokens += rows[:, 1:].numel()
        state.seconds += time.perf_counter() - started
        if not math.isfinite(loss):
            raise BadTraining(
                f"the loss of step {state.step} is {loss}, not a finite number; use a lower "
                "--target-peak or --draft-peak"
            )
        yield loss


def _step(
    state: State, objective: Objective, rows: torch.Tensor, network: Forward, rate: float
) -> float:
    """Update all weights once. Returns the mean loss over `rows`."""
    total = torch.zeros((), device=rows.device)
    for part in rows.split(_part(rows)):
        loss = objective(network, part) * (len(part) / len(rows))
        loss.backward()
        total += loss.detach()
    for optimiser in state.optimisers:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.step()
        optimiser.zero_grad()
    return total.item()


def _part(rows: torch.Tensor) -> int:
    """The number of `rows` to process in one pass."""
    return len(rows) if rows.is_cuda else max(1, CPU_TOKENS // (rows.shape[1] - 1))


def to_device(rows: torch.Tensor, device: torch.device) -> torch.Tensor:
    """`rows` on `device`. A copy to a GPU is asynchronous."""
    return rows.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else rows


def held_windows(held: np.ndarray, context: int) -> torch.Tensor:
    """At most HELD_WINDOWS windows (rows, context + 1), int64, spread evenly over the held-out
    text. If the text is shorter than one window, the only window is the whole text. Raises
    BadTraining for a text of fewer than 2 tokens."""
    if len(held) < 2:
        raise BadTraining(f"the held-out text has {len(held)} tokens; at least 2 are needed")
    length = min(context, len(held) - 1)
    rows = min(HELD_WINDOWS, (len(held) - 1) // length)
    starts = np.linspace(0, len(held) - length - 1, rows).astype(np.int64)[:, None]
    return torch.from_numpy(held[starts + np.arange(length + 1)].astype(np.int64))


@torch.no_grad()
def held_mean(
    measure: Callable[[torch.Tensor], tuple[torch.Tensor, ...]],
    windows: torch.Tensor,
    device: torch.device,
) -> list[float]:
    """The means over all `windows` of the values that `measure` computes. measure: gets some of the
    windows, on `device`, and returns the mean of each value over them."""
    weighted = [
        torch.stack(measure(to_device(part, device))) * len(part)
        for part in windows.split(_part(windows))
    ]
    return (torch.stack(weighted).sum(0) / len(windows)).tolist()


# -- checkpoints -----------------------------------------------------------------------------------


def previous(path: Path) -> Path:
    """Where `save` keeps the checkpoint that it replaces at `path`."""
    return path.with_name(path.name + ".previous")


def save(state: State, path: Path, identity: dict[str, Any]) -> None:
    """Write `state` to `path` atomically: if writing fails, the old checkpoint is still there. If
    it succeeds, the old checkpoint is kept beside the new one (see `previous`).

    identity: the settings that must be the same in a run that resumes from this checkpoint.
    """
    data = {
        "version": VERSION,
        "identity": identity,
        "model": state.model.state_dict(),
        "optimisers": [optimiser.state_dict() for optimiser in state.optimisers],
        **{name: getattr(state, name) for name in COUNTERS},
    }
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        torch.save(data, file)
        file.flush()
        os.fsync(file.fileno())
    if path.exists():
        previous(path).unlink(missing_ok=True)
        os.link(path, previous(path))
    partial.replace(path)


def restore(state: State, path: Path, identity: dict[str, Any]) -> None:
    """Load the checkpoint at `path` into `state`. Raises BadTraining if the file is not a
    checkpoint of this VERSION, or was saved with other settings than those in `identity`."""
    try:
        data = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise BadTraining(
            f"{str(path)[:200]!r} is not a readable checkpoint: {str(error)[:200]}"
        ) from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise BadTraining(f"{str(path)[:200]!r} is not a checkpoint of version {VERSION}")
    for name, value in identity.items():
        found = data["identity"].get(name)
        if found != value:
            raise BadTraining(
                f"the checkpoint was made with {name} {str(found)[:80]}, but this run has "
                f"{str(value)[:80]}; use the same value, or start a new run"
            )
    state.model.load_state_dict(data["model"])
    for optimiser, saved in zip(state.optimisers, data["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    for name in COUNTERS:
        setattr(state, name, data[name])
